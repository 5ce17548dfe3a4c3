// An answer as people read it: the number, its interval, a picture, and what it cost.

import { make } from "./api.mjs";
import { short } from "./epsilon.mjs";

/** A number with its thousands parted and six digits that count. */
export function figure(value) {
  if (typeof value !== "number") return value ?? "–";
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

const TOLD = {
  stored: ["good", "You asked this before: the same answer again, free."],
  "dry run": ["care", "From made-up rows of the schema: it says nothing about the table, and was free."],
};

/** The rows that a plan asks about, in words. */
function rowsOf(plan) {
  const words = plan.map((step) => (step.op === "where" ? `where ${step.predicate}` : `for each ${step.by}`));
  return words.join(", ") || "of all rows";
}

/** The article that shows an answer; its picture follows when the service has drawn it. */
export function articleOf(answer, plan) {
  const article = make("article", { class: "card answer" }, make("h3", {}, answer.question));
  article.append(make("p", { class: "dim small" }, rowsOf(plan)));
  const told = TOLD[answer.kind];
  if (told) article.append(make("div", { class: `note ${told[0]}` }, make("p", {}, told[1])));
  if (answer.keys.length === 1) article.append(single(answer));
  const picture = make("div", { class: "picture" });
  article.append(picture);
  if (answer.keys.length > 1) article.append(listed(answer));
  article.append(make("p", { class: "dim small" }, footnote(answer)));
  draw(answer, picture);
  return article;
}

function single(answer) {
  const line = make("p", {}, make("span", { class: "big" }, String(figure(answer.values[0]))));
  const interval = intervalOf(answer, 0);
  if (interval) line.append(` between ${interval[0]} and ${interval[1]} with 95 %`);
  return line;
}

function intervalOf(answer, at) {
  const [low, high] = [answer.lows?.[at], answer.highs?.[at]];
  return typeof low === "number" && typeof high === "number" ? [figure(low), figure(high)] : null;
}

function listed(answer) {
  const rows = answer.keys.map((key, at) => {
    const interval = intervalOf(answer, at);
    return make("tr", {},
      make("th", { scope: "row" }, key),
      make("td", { class: "number" }, String(figure(answer.values[at]))),
      make("td", { class: "number" }, interval ? `${interval[0]} to ${interval[1]}` : ""));
  });
  const head = make("tr", {}, make("th", {}, "Part"), make("th", { class: "number" }, "Value"), make("th", { class: "number" }, "95 %"));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  const summary = make("summary", { class: "small" }, `All ${rows.length} numbers`);
  const region = make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Numbers of: ${answer.question}` }, table);
  return make("details", {}, summary, region);
}

function footnote(answer) {
  const facts = [answer.mechanism, `scale ${answer.scale}`, `epsilon ${short(answer.cost)}`];
  if (answer.entry !== null) facts.push(`ledger entry ${answer.entry}`);
  if (answer.note) facts.push(answer.note);
  return facts.join(" · ");
}

async function draw(answer, place) {
  try {
    const headers = { "Content-Type": "application/json" };
    const drawn = await fetch("/analyst/picture", { method: "POST", headers, credentials: "same-origin", body: JSON.stringify(answer) });
    if (drawn.status !== 200 || drawn.redirected) return;
    // The drawing has no namespace of its own, as it also stands in pages: HTML reads it.
    const parsed = new DOMParser().parseFromString(await drawn.text(), "text/html");
    place.replaceChildren(document.importNode(parsed.querySelector("svg"), true));
  } catch {
    place.textContent = ""; // the numbers stand beside it
  }
}
