import { type Course, type Ledger, readCourse } from "@owed/ledger";
import type { Context } from "../context.ts";
import { createPoll, type Poll } from "./poll.ts";
import { type Now, readNow } from "./read.ts";
import { type Span, spans } from "./spans.ts";

export type Courses = Partial<Record<Span, Course>>;

/** What all open pages are told: how it stands, and how it went. */
export type Watch = {
  now: Poll<null, Now>;
  courses: Poll<Span, Courses>;
};

/** The shortest span: what was sent in the last minute is read from it. */
const shortest: Span = "15m";

/** One question of each kind at a time, however many pages are open. Together they keep the ledger busy for a tenth of the time at most. */
export function createWatch(context: Pick<Context, "ledger" | "services">): Watch {
  return {
    now: createPoll(() => readNow(context), { least: 1, share: 0.05 }),
    courses: createPoll((watched) => readCourses(context.ledger, watched), { least: 1, share: 0.05 }),
  };
}

/** How it went in each of the spans. */
export async function readCourses(ledger: Ledger, watched: Iterable<Span>): Promise<Courses> {
  const courses: Courses = {};
  for (const span of new Set([shortest, ...watched])) courses[span] = await readCourse(ledger, spans[span]);
  return courses;
}

/** What was sent in the last minute; null: nobody asked yet. */
export const sentLastMinute = (courses: Courses): number | null => {
  const course = courses[shortest];
  if (!course) return null;
  return course.points.slice(-Math.round(60 / course.step)).reduce((sum, { sent }) => sum + sent, 0);
};
