import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { assets } from "./assets.ts";
import type { Context } from "./context.ts";
import { deadPages } from "./dead/pages.ts";
import { failed, missing } from "./failed.ts";
import { framed, headers, ownHost, sameOrigin } from "./guard/guard.ts";
import { notifiedPages } from "./notified/pages.ts";
import { nowPages } from "./now/pages.ts";
import { outagePages } from "./outages/pages.ts";
import { rulePages } from "./rules/pages.ts";
import { sandboxPages } from "./sandbox/pages.ts";

/** Bytes of a form: some thousand ids. */
const largest = 1_000_000;

const tooLarge = () => {
  throw new HTTPException(413, { message: "This form is too large: choose fewer, or a whole group." });
};

/** All that the console answers. */
export function createApp(context: Context): Hono {
  // `/dead/` is `/dead`: a slash at the end comes from typing and from links that others cut.
  const app = new Hono({ strict: false });
  app.use("/rules/templates/email", framed);
  app.use(ownHost, headers, sameOrigin);
  app.use(bodyLimit({ maxSize: largest, onError: tooLarge }));
  app.onError((error, call) => failed(error, call, context));
  app.notFound((call) => missing(call, context));
  assets(app);
  for (const add of [nowPages, notifiedPages, deadPages, outagePages, rulePages, sandboxPages])
    add(app, context);
  return app;
}
