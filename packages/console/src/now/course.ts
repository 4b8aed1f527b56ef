import type { Course } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { type Column, table, time } from "../page/parts.ts";
import { type Span, spans } from "./spans.ts";

type Point = Course["points"][number];

const columns: readonly Column<Point>[] = [
  { name: "From", cell: ({ at }) => time(at) },
  { name: "Fell due", cell: ({ due }) => due, number: true },
  { name: "Sent", cell: ({ sent }) => sent, number: true },
  { name: "Owed at the end", cell: ({ owed }) => owed, number: true },
  { name: "Late", cell: ({ late }) => late, number: true },
];

/** What was owed, sent and late: as a plot, and as a table for whoever can't see it. */
export const courseSection = (
  course: Course | null,
  span: Span,
): Html => html`<section aria-labelledby="course-title">
  <h2 id="course-title">How it went</h2>
  <nav aria-label="Span of the plot" class="spans">${Object.entries(spans).map(
    ([key, { name }]) =>
      html`<a href="/?span=${key}" ${key === span ? html`aria-current="true"` : ""}>${name}</a> `,
  )}</nav>
  <figure>
    <figcaption>
      <ul class="legend">
        <li><span class="swatch owed" aria-hidden="true">━</span> owed: due and not ended</li>
        <li><span class="swatch late" aria-hidden="true">╍</span> late: of that, for more than a minute</li>
        <li><span class="swatch sent" aria-hidden="true">▂▅</span> sent, in each
          <span id="step" data-live>${stepOf(course, span)}</span></li>
      </ul>
    </figcaption>
    <div class="plot" id="plot" data-span="${span}" aria-hidden="true"></div>
  </figure>
  <details>
    <summary>The same as a table</summary>
    ${courseTable(course)}
  </details>
</section>`;

export const stepOf = (course: Course | null, span: Span): string => {
  const step = course?.step ?? spans[span].step;
  return step < 60 ? `${step} s` : `${step / 60} min`;
};

/** The newest first, without the points at which there was nothing. */
export const courseTable = (course: Course | null): Html =>
  table("Owed, sent and late, the newest first, where there was any", columns, happened(course), "course");

const happened = (course: Course | null): Point[] =>
  course?.points.toReversed().filter(({ due, sent, owed, late }) => due + sent + owed + late > 0) ?? [];

/** The points as the plot takes them: a list for each series, times in seconds. */
export const series = ({ points }: Course): number[][] => [
  points.map(({ at }) => at.getTime() / 1000),
  points.map(({ owed }) => owed),
  points.map(({ late }) => late),
  points.map(({ sent }) => sent),
];
