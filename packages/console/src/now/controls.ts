import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { form } from "../page/parts.ts";
import type { Now } from "./read.ts";

/** What an operator may change here: nothing where the console was started to look alone. */
export function controls(context: Context, { channels }: Now): Html {
  if (!context.writer) return html``;
  const choice = html`<label>Channel <select name="channel" required>${channels.map(
    ({ name }) => html`<option value="${name}">${name}</option>`,
  )}</select></label>`;
  return html`<section aria-labelledby="controls">
    <h2 id="controls">Stop and start</h2>
    <p>What falls due meanwhile waits in the ledger, and nothing of it is lost. What is no longer true by then is not sent.</p>
    <h3>The sweeps</h3>
    ${form(context, "/sweeps/pause", { button: "Pause the sweeps", why: "maintenance until 14:00" })}
    ${form(context, "/sweeps/resume", { button: "Let them run again", why: "the maintenance is over" })}
    <h3>A channel</h3>
    ${form(context, "/channels/close", { button: "Close the channel", fields: choice, why: "the wrong template is live" })}
    ${form(context, "/channels/open", { button: "Open the channel", fields: choice, why: "the template is corrected" })}
  </section>`;
}
