// Put a question together, see its price and its expected error, ask it, and look at the answer.

import { articleOf, figure } from "./answer.mjs";
import { call, freshKey, Lost, tell } from "./api.mjs";
import { joinSlider, short } from "./epsilon.mjs";
import { addCondition, filterOf } from "./filters.mjs";
import { following, showPrice, showRefusal } from "./price.mjs";

const form = document.getElementById("query");
const byId = (id) => document.getElementById(id);
const columns = JSON.parse(form.dataset.columns);
const address = `/v1/tables/${encodeURIComponent(form.dataset.table)}/query`;
const isNumeric = (name) => columns.find((one) => one.name === name)?.type === "numeric";
const pending = new Map(); // questions whose fate is unknown, with their keys

/** The arguments of each kind of question, from the fields. */
const ASK = {
  noisy_count: () => ({}),
  noisy_counts: (f) => ({ by: f.and.value ? [f.by.value, f.and.value] : f.by.value }),
  noisy_sum: (f) => ({ column: f.numeric.value }),
  noisy_avg: (f) => ({ column: f.numeric.value }),
  noisy_quantile: (f) => ({ column: f.numeric.value, level: f.level.value.trim() }),
  noisy_mode: (f) => ({ column: f.column.value }),
  choose: (f) => ({ criterion: f.criterion.value, among: among() }),
};

/** The columns that a choice is among: all that are not asked about already. */
function among() {
  const label = columns.at(-1).name;
  return columns.map((one) => one.name).filter((name) => name !== label);
}

function request(mode) {
  const f = form.elements;
  const plan = [];
  const own = f.where.value.trim();
  const predicate = [filterOf(byId("conditions")), own && `(${own})`].filter(Boolean).join(" and ");
  if (predicate) plan.push({ op: "where", predicate });
  if (f.partition.value) plan.push({ op: "partition", by: f.partition.value, ...edges() });
  const kind = f.kind.value;
  const body = { plan, ask: { kind, epsilon: f.epsilon.value.trim(), ...ASK[kind](f) }, mode };
  const rows = Number(f.rows.value.replaceAll(",", ""));
  if (rows >= 1 && mode === "preview") body.rows = Math.floor(rows);
  if (f.fresh.checked) body.fresh = true;
  return body;
}

function edges() {
  const given = form.elements.edges.value.split(/[,;\s]+/).filter(Boolean);
  return isNumeric(form.elements.partition.value) && given.length ? { edges: given } : {};
}

const price = following(
  () => call("POST", address, request("preview"), { tries: 1 }),
  (answer) => {
    const error = answer.plus_minus === null ? "" : `± ${figure(answer.plus_minus)} at 95 %`;
    const refused = answer.note.startsWith("more than is left");
    showPrice(byId("price"), { cost: answer.cost, after: answer.remaining, error, refused });
  },
  (error) => showRefusal(byId("price"), error),
);

function changed() {
  const kind = form.elements.kind.value;
  for (const field of form.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(kind);
  byId("edges-field").hidden = !isNumeric(form.elements.partition.value);
  byId("all-rows").hidden = byId("conditions").children.length > 0 || Boolean(form.elements.where.value.trim());
  price();
}

/** Ask, under a key that stays the same until it is known what became of the question. */
async function ask(mode) {
  byId("problem").hidden = true;
  const body = request(mode);
  const text = JSON.stringify(body);
  const key = pending.get(text) ?? freshKey();
  if (mode === "release") pending.set(text, key);
  form.setAttribute("aria-busy", "true");
  byId("ask-button").disabled = true;
  try {
    const answer = await call("POST", address, body, mode === "release" ? { key } : {});
    pending.delete(text);
    byId("no-answers")?.remove();
    byId("answers").prepend(articleOf(answer, body.plan));
    if (mode === "release" && answer.remaining !== null) byId("left").textContent = short(answer.remaining);
  } catch (error) {
    if (!(error instanceof Lost)) pending.delete(text);
    tell(byId("problem"), error);
  } finally {
    form.removeAttribute("aria-busy");
    byId("ask-button").disabled = false;
    price();
  }
}

joinSlider(form.elements.epsilon, byId("slider"));
byId("add-condition").addEventListener("click", () => addCondition(byId("conditions"), columns, changed));
byId("rehearse").addEventListener("click", () => ask("dry_run"));
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask("release");
});
changed();
