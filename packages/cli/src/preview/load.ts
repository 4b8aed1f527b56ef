import { Failure } from "../errors.ts";

/**
 * The code that reads the language files, once they are read. One that is no JSON is its author's mistake, not ours: the
 * message names the file, the line and the column, and no stack helps to mend it.
 */
export async function loaded<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure("failed", `a language file can't be read: ${error.message}`);
    throw error;
  }
}
