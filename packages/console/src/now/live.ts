import { messageOf } from "@owed/cli/errors";
import type { Course } from "@owed/ledger";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { providerState } from "../sandbox/section.ts";
import { courseTable, series, stepOf } from "./course.ts";
import type { Span } from "./spans.ts";
import { nowParts, silence } from "./view.ts";
import type { Courses, Watch } from "./watch.ts";

/** Sends what changes to one open page, as server-sent events, until it is left. */
export function sendLive(call: Call, context: Context, watch: Watch, span: Span): Response {
  // Nobody reads what is answered to HEAD, and nobody would say that it is left.
  if (call.req.raw.method === "HEAD") return call.body(null, 405);
  return streamSSE(call, async (stream) => {
    const left = Promise.withResolvers<void>();
    stream.onAbort(left.resolve);
    const send = { now: latest(stream, "now"), course: latest(stream, "course") };
    let courses: Courses = {};
    const { sandbox } = context;
    const provider = () => (sandbox ? providerState(sandbox) : html``);
    const stop = [
      watch.now.watch(null, (asked) =>
        send.now(
          "error" in asked
            ? silence(messageOf(asked.error))
            : nowParts(context, asked.answer, courses, provider()),
        ),
      ),
      watch.courses.watch(span, (asked) => {
        // When the ledger does not answer, the other question says so.
        if ("error" in asked) return;
        courses = asked.answer;
        const course = courses[span];
        if (course) send.course(courseParts(course, span));
      }),
    ];
    await left.promise;
    for (const end of stop) end();
  });
}

/** Sends events of a kind; one that comes while the page has not taken the last is left out: another comes soon. */
function latest(stream: SSEStreamingApi, event: string): (data: Html | Promise<string>) => void {
  let sending = false;
  return (data) => {
    if (sending) {
      // Whatever became of it, nobody waits for it.
      Promise.resolve(data).catch(() => {});
      return;
    }
    sending = true;
    Promise.resolve(data)
      .then((text) => stream.writeSSE({ event, data: String(text) }))
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  };
}

const courseParts = async (course: Course, span: Span): Promise<string> =>
  JSON.stringify({
    series: series(course),
    html: String(await html`${courseTable(course)}<span id="step" data-live>${stepOf(course, span)}</span>`),
  });
