import { find, findAny, isQuestion, nobodyFound } from "@owed/cli/audit/find";
import { readHistory } from "@owed/cli/audit/history";
import { auditJson, readAudit } from "@owed/cli/audit/read";
import { ruleBehind } from "@owed/cli/audit/rule-behind";
import { readHistories } from "@owed/cli/audit/story";
import { Failure } from "@owed/cli/errors";
import { printable, toJson } from "@owed/cli/text/printable";
import { listRules } from "@owed/ledger";
import type { Context as Call, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { notificationActions } from "./actions.ts";
import { answerBody } from "./answer-view.ts";
import { auditCsv, fileName } from "./export.ts";
import { historyBody } from "./history-view.ts";
import { readId } from "./id.ts";
import { answerPath, parseAnswer, parseFull, parseSearch, type SearchQuery } from "./query.ts";
import { choiceBody, searchBody } from "./search-view.ts";

/** Was this customer notified? */
export function notifiedPages(app: Hono, context: Context): void {
  const { ledger } = context;
  const page = (call: Call, body: Html, title = "Was this customer notified?") =>
    show(call, context, { place: "notified", title, body });

  app.get("/notified", async (call) => {
    const query = call.req.query();
    try {
      if (query.shipment !== undefined) return await answer(call);
      if (query.value !== undefined) return await search(call, parseSearch(query));
      if (query.recipient !== undefined)
        return await search(call, parseSearch({ by: "recipient", value: query.recipient }));
    } catch (error) {
      // A slip of the pen: the form stays, with what was written.
      if (!(error instanceof HTTPException)) throw error;
      call.status(error.status);
      return page(call, searchBody(error.message, query.by, query.value ?? query.shipment));
    }
    return page(call, searchBody(null));
  });

  async function search(call: Call, { by, value }: SearchQuery) {
    if (by === "shipment") return call.redirect(answerPath({ shipmentId: value }));
    const found = by === "any" ? await findAny(ledger, value) : await find(ledger, by, value);
    if (isQuestion(found)) return call.redirect(answerPath(found));
    if (found.matches.length === 0) return page(call, searchBody(nobodyFound(by, value).message, by, value));
    return page(call, choiceBody(found, by, value));
  }

  async function answer(call: Call) {
    const query = parseAnswer(call.req.query());
    const audit = await asked(() => readAudit(ledger, query));
    const { merchantId } = audit.circumstances;
    const histories = await readHistories(ledger, audit, query.full);
    const rules = await listRules(ledger, { merchantId, history: true });
    const title = `Shipment ${printable(query.shipmentId)}: was this customer notified?`;
    return page(call, answerBody({ query, audit, histories, rules, stage: context.stage }), title);
  }

  app.get("/notified.json", async (call) => {
    const query = parseAnswer(call.req.query());
    const audit = await asked(() => readAudit(ledger, query));
    const text = `${toJson(auditJson(audit, query.full))}\n`;
    return call.body(text, 200, asFile("application/json", fileName(audit, "json")));
  });

  app.get("/notified.csv", async (call) => {
    const query = parseAnswer(call.req.query());
    const audit = await asked(() => readAudit(ledger, query));
    return call.body(auditCsv(audit, query.full), 200, asFile("text/csv", fileName(audit, "csv")));
  });

  app.get("/notified/:id", async (call) => {
    const full = parseFull(call.req.query());
    const told = await readHistory(ledger, readId(call), full);
    const { row, circumstances } = told;
    const merchantId = circumstances?.merchantId ?? "";
    const rules = await listRules(ledger, { merchantId, status: row.status, history: true });
    const body = historyBody(context, told, ruleBehind(row, merchantId, rules), full);
    return page(call, body, `Notification ${row.id}`);
  });
  notificationActions(app, context);
}

/** What the ledger does not have is a page that is not there. */
async function asked<Found>(read: () => Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "not_found") throw error;
    throw new HTTPException(404, { message: error.message, cause: error });
  }
}

const asFile = (type: string, name: string) => ({
  "content-type": `${type}; charset=utf-8`,
  "content-disposition": `attachment; filename="${name}"`,
});
