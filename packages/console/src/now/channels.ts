import { closing } from "@owed/cli/text/channel";
import { printable } from "@owed/cli/text/printable";
import { duration } from "@owed/cli/text/time";
import type { Channel } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { type Column, table } from "../page/parts.ts";

const columns: readonly Column<Channel>[] = [
  { name: "Channel", cell: ({ name }) => name },
  {
    name: "Is",
    cell: ({ name, closed }) =>
      closed
        ? html`<strong class="bad">closed</strong> ${printable(closing(name, closed)).replace(/^closed /, "")}`
        : "open",
  },
  { name: "Owed", cell: ({ due }) => due, number: true },
  { name: "In the queue", cell: ({ inQueue }) => inQueue, number: true },
  { name: "Rate", cell: ({ rate }) => (rate === null ? "no limit known" : `${rate}/s`), number: true },
  {
    name: "Used of its quota",
    cell: ({ quota, used }) => (quota === null ? null : `${used ?? "?"} of ${quota}`),
    number: true,
  },
  { name: "Failed in a row", cell: ({ failures }) => failures, number: true },
  {
    name: "Time to drain",
    cell: ({ timeToDrain }) => (timeToDrain === null ? "not known" : duration(timeToDrain)),
    number: true,
  },
];

/** Each channel with its provider's limits, and why it is closed. */
export const channelTable = (
  channels: readonly Channel[],
): Html => html`<section aria-labelledby="channels-title">
  <h2 id="channels-title">Channels</h2>
  ${table("Each channel: what it has before it, and what its provider takes", columns, channels, "channels")}
</section>`;
