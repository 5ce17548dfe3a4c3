// Choose a learner, see what it would ask level by level and what that costs, and let it run.

import { call, freshKey, Lost, make, tell } from "./api.mjs";
import { amount, joinSlider, nano, short } from "./epsilon.mjs";
import { following, showPrice, showRefusal } from "./price.mjs";

const form = document.getElementById("train");
const byId = (id) => document.getElementById(id);
const pending = new Map();

/** The parameters of the chosen learner; an empty field is left to its default. */
function parameters(fieldset) {
  const given = {};
  for (const field of fieldset.querySelectorAll("[data-kind]")) {
    const { kind } = field.dataset;
    if (kind === "columns") {
      const chosen = [...field.querySelectorAll("input:checked")].map((box) => box.value);
      if (chosen.length < Number(field.dataset.all)) given[field.dataset.name] = chosen;
    } else if (kind === "yes or no") given[field.name] = field.checked;
    else if (field.value.trim() !== "") given[field.name] = kind === "choice" || kind === "text" ? field.value : numberOf(field);
  }
  return given;
}

/** A number if it is one; else the text, so that the service says what is wrong with it. */
function numberOf(field) {
  const value = Number(field.value);
  return Number.isNaN(value) ? field.value : value;
}

function request(mode) {
  const { learner, epsilon, where, rows } = form.elements;
  const fieldset = form.querySelector(`[data-learner="${learner.value}"]`);
  const body = { learner: learner.value, parameters: parameters(fieldset), epsilon: epsilon.value.trim(), mode };
  if (where.value.trim()) body.plan = [{ op: "where", predicate: where.value }];
  if (mode === "dry_run" && Number(rows.value) >= 1) body.rows = Math.floor(Number(rows.value));
  return body;
}

const address = form && `/v1/tables/${encodeURIComponent(form.dataset.table)}/learn`;

function line(one, total) {
  const share = Number(one.epsilon) / Number(total);
  const percent = `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
  const shared = one.queries > 1 ? ` (shared by ${one.queries})` : "";
  return make("tr", {},
    make("td", { class: "number" }, String(one.level)),
    make("td", {}, one.question + shared),
    make("td", {}, one.mechanism),
    make("td", { class: "number" }, short(one.epsilon)),
    make("td", {}, make("meter", { min: "0", max: "1", value: String(share), "aria-label": `Share ${percent}` }), ` ${percent}`));
}

function showPlan(preview) {
  const [cost, left] = [nano(preview.total), nano(preview.remaining)];
  const price = { cost: preview.total, after: amount(left - cost), refused: cost > left };
  byId("run").disabled = !showPrice(byId("price"), price);
  byId("plan").tBodies[0].replaceChildren(...preview.lines.map((one) => line(one, preview.total)));
  byId("plan").hidden = false;
}

async function run(mode) {
  byId("problem").hidden = true;
  const body = request(mode);
  const text = JSON.stringify(body);
  const key = pending.get(text) ?? freshKey();
  pending.set(text, key);
  const buttons = [byId("run"), byId("dry")];
  for (const button of buttons) button.disabled = true;
  try {
    const { job } = await call("POST", address, body, { key });
    location.assign(`/analyst/jobs/${job}`);
  } catch (error) {
    if (!(error instanceof Lost)) pending.delete(text);
    tell(byId("problem"), error);
    for (const button of buttons) button.disabled = false;
  }
}

if (form) {
  const price = following(
    () => call("POST", address, request("preview"), { tries: 1 }),
    showPlan,
    (error) => {
      byId("plan").hidden = true;
      byId("run").disabled = !(error instanceof Lost);
      showRefusal(byId("price"), error);
    },
  );
  const changed = () => {
    for (const fieldset of form.querySelectorAll("[data-learner]")) {
      fieldset.hidden = fieldset.disabled = fieldset.dataset.learner !== form.elements.learner.value;
    }
    price();
  };
  joinSlider(form.elements.epsilon, byId("slider"));
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => { event.preventDefault(); run("release"); });
  byId("dry").addEventListener("click", () => run("dry_run"));
  changed();
}
