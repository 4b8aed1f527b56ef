/** Keeps a page's progress up to date, and shows the outcome when it has ended. */
type Answer = { version: number; text: string; done: number; total: number | null; ended: boolean };

const box = document.querySelector<HTMLElement>("[data-progress]");
const text = box?.querySelector("p");
const bar = box?.querySelector("progress");

async function follow(address: string, known: number): Promise<void> {
  for (let version = known; ; ) {
    const answer = await fetch(`${address}?after=${version}`);
    if (!answer.ok) throw new Error(`${answer.status}`);
    const now: Answer = await answer.json();
    if (now.ended) return location.reload();
    if (text && text.textContent !== now.text) text.textContent = now.text;
    if (bar && now.total !== null) {
      bar.max = Math.max(1, now.total);
      bar.value = now.done;
    }
    version = now.version;
  }
}

follow(box?.dataset.progress ?? "", Number(box?.dataset.version ?? "0")).catch(() => {
  if (text) text.textContent = "The console does not answer: load this page again when it runs.";
});
