import { html } from "hono/html";
import type { Context, Sandbox } from "../context.ts";
import type { Html } from "../page/page.ts";
import { form } from "../page/parts.ts";
import { bursts } from "./pages.ts";

/** Whether the providers answer. */
export const providerState = ({ provider }: Sandbox): Html =>
  provider.stopped
    ? html`<strong class="bad">The providers are stopped.</strong>`
    : html`The providers work.`;

/** What can be tried on the local stack; nothing elsewhere. */
export function trySection(context: Context): Html {
  const { sandbox } = context;
  if (!sandbox || !context.writer) return html``;
  const press = (path: string, button: string) => form(context, path, { button });
  return html`<section id="try" class="try" aria-labelledby="try-it">
    <h2 id="try-it">Try it</h2>
    <p>This stack is yours to break: pause the sweeps, let events happen, resume, and watch it drain. What is sent
      arrives in the <a href="${sandbox.mailboxUrl}">mailbox</a>.</p>
    <div class="levers" role="group" aria-label="The schedule">
      ${press("/try/pause", "Pause the sweeps")} ${press("/try/resume", "Resume and sweep")}
    </div>
    <div class="levers" role="group" aria-label="Events">
      ${bursts.map((events) =>
        form(context, "/try/happen", {
          button: events === 1 ? "Let an event happen" : `Let ${events} events happen`,
          fields: html`<input type="hidden" name="events" value="${events}">`,
        }),
      )}
    </div>
    <div class="levers" role="group" aria-label="The providers">
      ${press("/try/provider/stop", "Stop the providers")} ${press("/try/provider/start", "Start the providers")}
      <p id="provider" data-live>${providerState(sandbox)}</p>
    </div>
    <div class="levers" role="group" aria-label="The notification queue">
      ${press("/try/purge", "Purge the notification queue")}
      <p>What it held is missing in no more than some minutes, and published again.</p>
    </div>
  </section>`;
}
