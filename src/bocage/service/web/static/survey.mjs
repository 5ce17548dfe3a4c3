// The participant's page: distort here, show both, send only what is distorted, classify here.

import { answerOnce, distort, parseModel, parseSurvey, privacy, show } from "/static/bocage-local.mjs";
import { freshKey, make, tell } from "/static/api.mjs";

const form = document.getElementById("survey");
const at = (id) => document.getElementById(id);
const base = form.dataset.survey;
const label = form.dataset.label;

/** The true answers as they stand in the form. They are never put anywhere else. */
function answers({ but } = {}) {
  const fields = [...form.querySelectorAll("[data-column]")];
  const given = fields.filter((field) => field.dataset.column !== but).map((field) => {
    const text = field.value.trim();
    const number = field.dataset.kind === "number" && text !== "" ? Number(text.replace(",", ".")) : text;
    if (text === "" || Number.isNaN(number)) {
      field.setAttribute("aria-invalid", "true");
      field.focus();
      throw new Error(`${field.dataset.column}: ${text === "" ? "please answer" : "this is not a number"}.`);
    }
    field.removeAttribute("aria-invalid");
    return [field.dataset.column, number];
  });
  return Object.fromEntries(given);
}

/** A token that this browser keeps, so that sending twice counts once. It says nothing about anybody. */
function token(survey) {
  const place = `bocage token ${survey.fingerprint}`;
  if (!localStorage.getItem(place)) localStorage.setItem(place, freshKey());
  return localStorage.getItem(place);
}

function review(survey, truth, record) {
  const shown = show(record, survey);
  const promise = privacy(survey);
  at("rows").replaceChildren(...promise.answers.map(({ name, words }) => make("tr", {},
    make("th", { scope: "row" }, name), make("td", { "data-head": "Your answer" }, String(truth[name])),
    make("td", { class: "sent", "data-head": "Would be sent" }, String(shown[name])), make("td", { class: "small" }, words))));
  at("whole").textContent = promise.record.words;
  at("review").hidden = false;
  at("review-head").focus();
}

async function send(survey, record) {
  const body = JSON.stringify({ token: token(survey), record });
  const headers = { "Content-Type": "application/json" };
  let answer;
  try {
    answer = await fetch(`${base}/answers`, { method: "POST", headers, body, credentials: "omit" });
  } catch {
    throw new Error("the connection is lost. Try again: sending twice counts once.");
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error.message);
  at("done").textContent = told.kept
    ? "Thank you. The distorted answers were sent; your true answers never left this page."
    : "These distorted answers were sent before and count once.";
  at("done").hidden = false;
  at("done").scrollIntoView({ block: "nearest" });
}

async function offerModel() {
  const answer = await fetch(`${base}/model.json`, { credentials: "omit" });
  if (answer.status !== 200) return; // none is published
  const model = parseModel(await answer.text());
  at("classify").hidden = false;
  at("apply").addEventListener("click", () => guarded(() => {
    at("verdict").textContent = `${label}: ${model.predict(answers({ but: label }))}`;
  }));
}

function guarded(action) {
  at("problem").hidden = true;
  Promise.resolve().then(action).catch((error) => tell(at("problem"), error));
}

async function start() {
  const answer = await fetch(`${base}/survey.json`, { credentials: "omit" });
  const survey = parseSurvey(await answer.text());
  let record;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(() => {
      const truth = answers();
      distort(truth, survey); // refuses what the survey does not ask for, before anything is kept
      record = answerOnce(truth, survey);
      at("kept").textContent =
        "This browser remembers what was drawn. If you come back, or change an answer above, the same "
        + "distorted answers are sent: new draws would add up and tell more about you.";
      review(survey, truth, record);
    });
  });
  at("send").addEventListener("click", () => guarded(() => send(survey, record)));
  at("distort").disabled = form.dataset.open !== "yes";
  await offerModel();
}

guarded(start);
