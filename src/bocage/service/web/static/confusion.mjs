// Predict the rows of a file and count hits and misses, all in this page: the file is never sent.
//
//   <form data-predictor="/address/of/model.mjs" data-label="column"><input type="file">…</form>

import { make } from "./api.mjs";

/** The rows of a CSV text as objects: quotes, doubled quotes and line breaks inside them included. */
export function parseCsv(text) {
  const rows = [];
  let row = [], field = "", quoted = false, wasQuoted = false;
  const endField = () => { row.push(wasQuoted ? field : field.trim()); field = ""; wasQuoted = false; };
  const endRow = () => { endField(); if (row.length > 1 || row[0] !== "") rows.push(row); row = []; };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') { field += '"'; at += 1; } else quoted = false;
    } else if (letter === '"' && field.trim() === "") { quoted = wasQuoted = true; field = ""; }
    else if (letter === ",") endField();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") field += letter;
  }
  if (field !== "" || row.length) endRow();
  const [names = [], ...records] = rows;
  return records.map((record) => Object.fromEntries(names.map((name, at) => [name, record[at] ?? ""])));
}

/** Text of a file as the model wants it: numbers for numeric columns, nothing for empty fields. */
export function typed(record, numeric) {
  const entries = Object.entries(record).map(([name, text]) => {
    if (text === "") return [name, null];
    if (!numeric.has(name)) return [name, text];
    const number = Number(text);
    return [name, Number.isNaN(number) ? null : number];
  });
  return Object.fromEntries(entries);
}

/** counts[true label][predicted label], and how many rows had a label that the model does not know. */
export function confusion(records, label, labels, predict) {
  const place = new Map(labels.map((value, at) => [value, at]));
  const counts = labels.map(() => labels.map(() => 0));
  let unknown = 0;
  for (const record of records) {
    const truth = place.get(String(record[label]));
    if (truth === undefined) unknown += 1;
    else counts[truth][place.get(predict(record))] += 1;
  }
  return { counts, unknown };
}

function table(labels, counts) {
  const head = make("tr", {}, make("th", { scope: "col" }, "true ＼ predicted"));
  head.append(...labels.map((value) => make("th", { scope: "col", class: "number" }, value)));
  const body = counts.map((line, at) => {
    const row = make("tr", {}, make("th", { scope: "row" }, labels[at]));
    row.append(...line.map((count) => make("td", { class: "number" }, String(count))));
    return row;
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
}

async function run(form, out) {
  const [file] = form.querySelector("input[type=file]").files;
  if (!file) return;
  const predictor = await import(form.dataset.predictor);
  const labels = JSON.parse(form.dataset.labels);
  const numeric = new Set(JSON.parse(form.dataset.numeric));
  const records = parseCsv(await file.text()).map((record) => typed(record, numeric));
  if (!records.length || !(form.dataset.label in records[0])) {
    throw new Error(`the file needs a first line with names, ${form.dataset.label} among them`);
  }
  const { counts, unknown } = confusion(records, form.dataset.label, labels, predictor.predict);
  const all = counts.flat().reduce((sum, count) => sum + count, 0);
  const right = counts.reduce((sum, line, at) => sum + line[at], 0);
  const share = all ? `${((100 * right) / all).toFixed(1)} %` : "–";
  const words = `${right} of ${all} rows predicted right: ${share}.`;
  const more = unknown ? ` ${unknown} rows have another label and were left out.` : "";
  out.replaceChildren(make("p", {}, words + more), make("div", { class: "scroll" }, table(labels, counts)));
}

for (const form of globalThis.document?.querySelectorAll("form[data-predictor]") ?? []) {
  const out = document.getElementById(form.dataset.out);
  form.addEventListener("change", () => {
    run(form, out).catch((error) => { out.textContent = `This did not work: ${error.message}.`; });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}
