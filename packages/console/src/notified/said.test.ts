import { html } from "hono/html";
import { expect, test } from "vitest";
import { said } from "./said.ts";

const shown = async (sentence: string) => `${await html`${said(sentence)}`}`;

test("times are for people, and exact for machines", async () => {
  expect(await shown("sent at 2026-03-29T09:01:02.345Z, it arrived")).toBe(
    'sent at <time datetime="2026-03-29T09:01:02.345Z">2026-03-29 09:01:02 UTC</time>, it arrived',
  );
});

test("what somebody wrote is text, whatever it looks like", async () => {
  expect(await shown(`<script>"'&\u202e`)).toBe("&lt;script&gt;&quot;&#39;&amp;\\u{202e}");
  expect(await shown("at 9999-99-99T99:99:99.999Z")).toBe("at 9999-99-99T99:99:99.999Z");
});
