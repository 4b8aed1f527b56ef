import { afterAll, expect, test, vi } from "vitest";
import { InvalidResource, ledgerOptions, resource } from "./resources.ts";
import { InvalidSettings, readSettings } from "./settings.ts";

// SST's Resource reads the environment once, when it is first asked.
const link = (name: string, value: unknown) => vi.stubEnv(`SST_RESOURCE_${name}`, JSON.stringify(value));
link("App", { name: "owed", stage: "test" });
link("Database", {
  host: "db.internal",
  port: 5432,
  database: "owed",
  auth: "password",
  username: "u",
  password: "p",
  type: "Postgres",
});
link("EventQueue", { url: "http://127.0.0.1:4566/000000000000/event" });
link("NotificationQueue", { url: "notification.fifo" });
link("NotificationDlq", { url: "http://127.0.0.1:4566/000000000000/notification-dlq.fifo" });
link("Email", { sender: "updates@owed.example" });
link("Settings", { sweep: { slice: "many" } });
afterAll(() => vi.unstubAllEnvs());

test("a linked resource is read, what SST adds left out", () => {
  expect(resource("EventQueue")).toEqual({ url: "http://127.0.0.1:4566/000000000000/event" });
  expect(resource("Email")).toEqual({ sender: "updates@owed.example", configurationSet: null });
});

test("the database is reached with TLS unless it says otherwise, by two connections, in the stage's own role", () => {
  expect(ledgerOptions("sweep", 20)).toEqual({
    host: "db.internal",
    port: 5432,
    database: "owed",
    user: "u",
    password: "p",
    role: "owed_sweep",
    tls: "verify",
    applicationName: "owed-sweep",
    connections: 2,
    deadline: 20,
    plans: "generic",
  });
});

test("a missing resource is named, with the way out", () => {
  expect(() => resource("FeedbackQueue")).toThrow(InvalidResource);
  expect(() => resource("FeedbackQueue")).toThrow(
    /^the linked resource FeedbackQueue is not as expected \(.+\); link it, or set SST_RESOURCE_FeedbackQueue$/,
  );
});

test("a resource of another shape is named with the field that is wrong", () => {
  expect(() => resource("NotificationQueue")).toThrow(
    /resource NotificationQueue is not as expected \(url: /,
  );
  expect(() => resource("NotificationDlq")).toThrow(/resource NotificationDlq is not as expected \(arn: /);
});

test("the linked settings are checked as well", () => {
  expect(() => readSettings()).toThrow(InvalidSettings);
  expect(() => readSettings()).toThrow(/sweep\.slice/);
});
