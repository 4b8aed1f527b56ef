import { createPlot } from "/assets/plot.js";

/** Seconds until a page that was refused asks again; after a lost connection the browser does so by itself. */
const again = 3;

const connection = document.getElementById("connection");
const place = document.getElementById("plot");
const plot = place && createPlot(place);
const span = place?.dataset.span ?? "1h";

/** Puts what came into the place of what stands there, part by part: what is the same is not read out again. */
function take(html: string): void {
  const came = new DOMParser().parseFromString(html, "text/html");
  for (const part of came.querySelectorAll("[data-live]")) {
    const mine = document.getElementById(part.id);
    if (mine && mine.innerHTML !== part.innerHTML) mine.replaceChildren(...part.childNodes);
  }
  // The page was loaded while the ledger did not answer: there is nothing to put it into.
  if (came.getElementById("figures") && !document.getElementById("figures")) location.reload();
}

const say = (text: string) => {
  if (connection && connection.textContent !== text) connection.textContent = text;
};

let source: EventSource | null = null;

function open(): void {
  source = new EventSource(`/live?span=${span}`);
  source.addEventListener("open", () => say(""));
  source.addEventListener("now", ({ data }) => take(data));
  source.addEventListener("course", ({ data }) => {
    const { series, html } = JSON.parse(data);
    take(html);
    plot?.(series);
  });
  source.addEventListener("error", () => {
    say("The console does not answer: what stands here is old. It goes on trying.");
    if (source?.readyState === EventSource.CLOSED) setTimeout(look, again * 1000);
  });
}

/** Nobody asks the ledger for a page that nobody sees. */
function look(): void {
  source?.close();
  source = null;
  if (!document.hidden) open();
}

document.addEventListener("visibilitychange", look);
addEventListener("pagehide", () => source?.close());
look();
