/**
 * Reads the page again, every `data-every` seconds, and puts what has changed in place: each part with `data-fresh`, by
 * its id. What a person has opened or chosen stays as it is. Ends with the first answer that has no `data-every`.
 */
const again = async (): Promise<void> => {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(`the console answered ${answer.status}`);
    put(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch (error) {
    const trouble = document.querySelector("#trouble");
    if (trouble) trouble.textContent = `(not this time: ${error instanceof Error ? error.message : error})`;
  }
  wait();
};

const put = (fresh: Document): void => {
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-fresh]")) {
    const now = fresh.getElementById(part.id);
    if (now && now.innerHTML !== part.innerHTML) part.replaceChildren(...now.childNodes);
  }
  const heading = fresh.querySelector("h1")?.textContent ?? "";
  const shown = document.querySelector("h1");
  if (shown && shown.textContent !== heading) shown.textContent = heading;
  const every = fresh.querySelector<HTMLElement>("[data-every]")?.dataset.every;
  const place = document.querySelector<HTMLElement>("[data-every]");
  if (place && every) place.dataset.every = every;
  else place?.removeAttribute("data-every");
};

const wait = (): void => {
  const every = Number(document.querySelector<HTMLElement>("[data-every]")?.dataset.every);
  if (every > 0) setTimeout(again, every * 1000);
};

wait();

export {};
