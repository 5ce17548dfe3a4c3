// A part of the page that is fetched again every few seconds: <div data-watch="/address">.

const SECONDS = 3;

async function look(element) {
  const answer = await fetch(element.dataset.watch, { credentials: "same-origin" });
  if (!answer.ok) return;
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  element.replaceChildren(...parsed.body.childNodes);
}

for (const element of document.querySelectorAll("[data-watch]")) {
  const again = () => {
    const wait = document.hidden ? Promise.resolve() : look(element).catch(() => {}); // the next look may work
    wait.then(() => setTimeout(again, 1000 * SECONDS));
  };
  again();
}
