// Conditions as rows of fields, and the filter in words that they amount to.

import { make } from "./api.mjs";

const NUMERIC = [["=", "="], ["!=", "≠"], ["<", "<"], ["<=", "≤"], [">", ">"], [">=", "≥"], ["between", "between"]];
const CATEGORICAL = [["=", "is"], ["!=", "is not"], ["in", "is one of"]];

/** A name and a text as a filter writes them. */
export const quotedName = (name) => `"${name.replaceAll('"', '""')}"`;
export const quotedText = (text) => `'${text.replaceAll("'", "''")}'`;

/** All conditions as one filter; empty for all rows. */
export function filterOf(list) {
  return [...list.children].map(condition).filter(Boolean).map((one) => `(${one})`).join(" and ");
}

function condition(row) {
  const [column, operator] = row.querySelectorAll("select");
  const name = quotedName(column.value);
  const values = [...row.querySelectorAll("[data-value]")].flatMap((field) => (
    field.selectedOptions ? [...field.selectedOptions].map((option) => option.value) : [field.value.trim()]
  ));
  const texts = row.dataset.type === "numeric" ? values : values.map(quotedText);
  if (!texts.length || texts.some((text) => text === "")) return ""; // not filled in yet
  if (operator.value === "in") return `${name} in (${texts.join(", ")})`;
  if (operator.value === "between") return `${name} between ${texts[0]} and ${texts[1]}`;
  return `${name} ${operator.value} ${texts[0]}`;
}

/** Add a row for one condition. */
export function addCondition(list, columns, changed) {
  const column = make("select", { "aria-label": "Column" }, ...columns.map((one) => make("option", {}, one.name)));
  const operator = make("select", { "aria-label": "Operator", class: "operator" });
  const values = make("span", { class: "row values" });
  const remove = make("button", { type: "button", class: "plain small", "aria-label": "Remove the condition" }, "×");
  const row = make("div", { class: "condition", role: "group", "aria-label": "Condition" }, column, operator, values, remove);
  const known = () => columns.find((one) => one.name === column.value);
  const showValues = () => {
    values.replaceChildren(...fields(known(), operator.value));
    changed();
  };
  const showOperators = () => {
    row.dataset.type = known().type;
    const signs = known().type === "numeric" ? NUMERIC : CATEGORICAL;
    operator.replaceChildren(...signs.map(([value, words]) => make("option", { value }, words)));
    showValues();
  };
  column.addEventListener("change", showOperators);
  operator.addEventListener("change", showValues);
  remove.addEventListener("click", () => { row.remove(); changed(); });
  list.append(row);
  showOperators();
  column.focus();
}

function fields(column, operator) {
  if (column.type === "numeric") {
    const number = (label) => make("input", {
      "aria-label": label, "data-value": "", inputmode: "decimal", autocomplete: "off", placeholder: `${column.lower} to ${column.upper}`,
    });
    return operator === "between" ? [number("From"), number("To")] : [number("Value")];
  }
  const several = operator === "in" ? { multiple: "", size: String(Math.min(column.values.length, 6)) } : {};
  const options = column.values.map((value) => make("option", { value }, value));
  return [make("select", { "aria-label": "Value", "data-value": "", ...several }, ...options)];
}
