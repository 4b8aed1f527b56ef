import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configure } from "./configuration.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owed-cli-"));
  file = join(folder, "env.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const left = {
  SST_RESOURCE_App: "{}",
  SST_RESOURCE_Database: "{}",
  AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:1",
};

test("what the local stack left is taken, before what the user's own AWS profile says", () => {
  writeFileSync(file, JSON.stringify(left));
  const env: NodeJS.ProcessEnv = { AWS_PROFILE: "work", AWS_SESSION_TOKEN: "t", AWS_REGION: "eu-west-1" };
  expect(configure(env, file).hint).toContain("npm start");
  expect(env).toEqual({ ...left, AWS_REGION: "eu-west-1" });
});

test("under sst shell nothing of the local stack is mixed in", () => {
  writeFileSync(file, JSON.stringify(left));
  const env: NodeJS.ProcessEnv = { SST_RESOURCE_App: '{"name":"owed"}', AWS_PROFILE: "work" };
  configure(env, file);
  expect(env).toEqual({ SST_RESOURCE_App: '{"name":"owed"}', AWS_PROFILE: "work" });
});

test("without either, the error says what to do", () => {
  expect(() => configure({}, file)).toThrow(
    expect.objectContaining({
      kind: "not_configured",
      message:
        "nothing says where the ledger is: start the local stack with 'npm start', or run under 'sst shell'",
    }),
  );
});

test.each(['{"a": 1}', "[]", '"x"', "{", ""])("a file that holds %s is named", (content) => {
  writeFileSync(file, content);
  const env: NodeJS.ProcessEnv = { AWS_PROFILE: "work" };
  expect(() => configure(env, file)).toThrow(
    /env\.json is not a JSON object of texts: delete it, then start/,
  );
  expect(env).toEqual({ AWS_PROFILE: "work" });
});
