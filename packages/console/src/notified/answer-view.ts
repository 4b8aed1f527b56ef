import { type Audit, answerText, auditJson, untoldLines } from "@owed/cli/audit/read";
import { ruleBehind } from "@owed/cli/audit/rule-behind";
import { story } from "@owed/cli/audit/story";
import { printable } from "@owed/cli/text/printable";
import type { History, Notification, RuleVersion } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";
import { type AnswerQuery, answerPath } from "./query.ts";
import { rulesTable } from "./rule-view.ts";
import { said } from "./said.ts";
import { searchForm } from "./search-view.ts";

export type Answered = {
  query: AnswerQuery;
  audit: Audit;
  histories: History[];
  rules: RuleVersion[];
  /** Of which stage, for whoever has it on paper. */
  stage: string;
};

/** The answer, and all that it rests on. */
export function answerBody({ query, audit, histories, rules, stage }: Answered): Html {
  const untold = untoldLines(audit);
  const { merchantId } = audit.circumstances;
  const { notifications } = auditJson(audit, query.full);
  return html`
  <div class="noprint">${searchForm("shipment", query.shipmentId)}</div>
  <p>Shipment ${printable(query.shipmentId)} of merchant ${printable(merchantId)}${query.recipientId === undefined ? "" : html`, recipient ${printable(query.recipientId)} alone`}.
  As the ledger of ${stage} had it at ${time(new Date())}.</p>
  ${others(query, audit)}
  <h2>Answer</h2>
  <ul class="answers">${
    audit.answers.length === 0
      ? answerText(audit).map((line) => html`<li>${said(line)}</li>`)
      : audit.answers.map(
          ({ answer, sentence, notifications: rests }) => html`<li class="${answer}">${said(sentence)}
        <span class="noprint">${rests.map((id) => html` <a href="/notified/${id}" aria-label="History of notification ${id}">history</a>`)}</span></li>`,
        )
  }</ul>
  ${untold.length === 0 ? "" : html`<h2>Who was told nothing, and why</h2><ul>${untold.map((line) => html`<li>${said(line)}</li>`)}</ul>`}
  ${links(query)}
  ${notifications.length === 0 ? "" : html`<h2>Evidence</h2>${evidence(notifications)}`}
  <h2>What happened</h2>
  ${table(
    "Events, notifications, attempts and feedback, in the order of time",
    [
      { name: "Time", cell: ({ at }) => time(at) },
      { name: "What", cell: ({ what }) => said(what) },
      { name: "Recipient", cell: ({ notification }) => notification && printable(notification.recipientId) },
      {
        name: "Notification",
        cell: ({ notification }) =>
          notification &&
          html`<a href="/notified/${notification.id}">${printable(`${notification.channel} ${notification.template}`)}</a>`,
      },
    ],
    story(audit, histories),
  )}
  ${histories.length === 0 ? "" : html`<h2>Rules</h2>${rulesTable(rulesOf(histories, merchantId, rules))}`}`;
}

/** One recipient alone, or all of them. */
function others({ shipmentId, recipientId, full }: AnswerQuery, { circumstances }: Audit): Html | "" {
  if (recipientId !== undefined)
    return html`<p class="noprint"><a href="${answerPath({ shipmentId, full })}">All recipients of the shipment</a></p>`;
  const ids = [...new Set(circumstances.subscribers.map((one) => one.recipientId))];
  if (ids.length < 2) return "";
  return html`<p class="noprint">One recipient alone: ${ids.map(
    (id, index) =>
      html`${index === 0 ? "" : ", "}<a href="${answerPath({ shipmentId, recipientId: id, full })}">${printable(id)}</a>`,
  )}</p>`;
}

const links = (query: AnswerQuery): Html => html`<ul class="links noprint">
    <li><a href="${answerPath(query, "/notified.csv")}" download>Save as CSV</a></li>
    <li><a href="${answerPath(query, "/notified.json")}" download>Save as JSON</a></li>
    <li><a href="${answerPath({ ...query, full: !query.full })}">${query.full ? "Mask addresses" : "Show addresses"}</a></li>
    <li>Print this page: the answer and its evidence go on paper, and nothing else.</li>
  </ul>`;

const evidence = (rows: readonly Notification[]): Html =>
  table(
    "The notifications that the answer rests on",
    [
      { name: "Occurred", cell: ({ occurredAt }) => time(occurredAt) },
      { name: "Status", cell: ({ status }) => printable(status) },
      { name: "Recipient", cell: ({ recipientId, role }) => `${printable(recipientId)} (${role})` },
      { name: "Channel", cell: ({ channel }) => printable(channel) },
      { name: "State", cell: ({ state }) => state },
      { name: "Delivered", cell: ({ deliveredAt }) => deliveredAt && time(deliveredAt) },
      { name: "Evidence", cell: (row) => row.evidence && printable(evidenceText(row)) },
      {
        name: "Provider's message",
        cell: (row) => row.providerMessageId && printable(row.providerMessageId),
      },
      { name: "Sent to", cell: ({ sentTo }) => sentTo && printable(sentTo) },
      { name: "Notification", cell: ({ id }) => html`<a href="/notified/${id}">${id}</a>` },
    ],
    rows,
  );

const evidenceText = ({ evidence, outcome, reason }: Notification): string =>
  `${evidence?.replace("_", " ")}, ${outcome}${reason ? ` (${reason})` : ""}`;

/** Each rule once, in the order in which its notifications came. */
function rulesOf(
  histories: readonly History[],
  merchantId: string,
  rules: readonly RuleVersion[],
): RuleVersion[] {
  const found = histories.flatMap((row) => ruleBehind(row, merchantId, rules) ?? []);
  return [...new Map(found.map((rule) => [rule.id, rule])).values()];
}
