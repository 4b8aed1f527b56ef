import { Command, InvalidArgumentError, Option } from "commander";
import { givenOf } from "../../infra/stages.ts";
import { ensurePlatform } from "./synth/platform.ts";
import { print } from "./synth/print.ts";
import { hasSender, madeUpSender, withSender } from "./synth/sender.ts";
import { startSynthesis } from "./synth/start.ts";

type Options = { stage: string; dev: boolean; json: boolean; settings: Record<string, unknown> };

const command = new Command("synth")
  .description(
    "Runs sst.config.ts with SST's real components but without AWS, and lists every resource that a deployment would\nmake, with its inputs. Needs no credentials, and once SST's platform is installed no network.",
  )
  .requiredOption("--stage <name>", "production, staging, dev, or a developer's own")
  .option("--dev", "as under `sst dev`", false)
  .option("--json", "print one JSON object", false)
  .addOption(
    new Option("--settings <json>", "merged over the stage's own settings, as a deployment does it")
      .env("OWED_SETTINGS")
      .argParser(readSettings)
      .default({}, "none"),
  )
  .addHelpText("after", "\nExit code: 0 when the stage can be synthesised, else 1.");

function readSettings(given: string): Record<string, unknown> {
  const parsed = given === "" ? {} : parseJson(given);
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"webhooks":true}'.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

command.parse();
const { stage, dev, json, settings } = command.opts<Options>();
try {
  await ensurePlatform((line) => console.error(line));
  const known = hasSender(givenOf(stage)) || hasSender(settings);
  const synthesis = await startSynthesis({ stage, dev, settings: known ? settings : withSender(settings) });
  if (!known)
    console.error(`No sender is set: ${madeUpSender} is taken here. A deployment of production wants yours.`);
  if (synthesis.said) console.error(synthesis.said.trimEnd());
  console.log(json ? JSON.stringify(synthesis) : print(synthesis));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
