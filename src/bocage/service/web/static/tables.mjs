// Tables that sort by a click on a heading and narrow by what is typed.
//
//   <input type="search" data-filters="id of the table">
//   <table id="…" class="sortable"> with <th><button>…</button></th>; a cell may carry data-value

/** Sort the rows of a table's body by one column. */
export function sortBy(table, column, descending) {
  const rows = [...table.tBodies[0].rows];
  const keyOf = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const numeric = rows.every((row) => keyOf(row) === "" || !Number.isNaN(Number(keyOf(row))));
  const compare = (a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    if (x === "" || y === "") return (x === "") - (y === ""); // unknown ones last, in both orders
    const order = numeric ? Number(x) - Number(y) : x.localeCompare(y);
    return descending ? -order : order;
  };
  table.tBodies[0].append(...rows.sort(compare));
  for (const [at, head] of [...table.tHead.rows[0].cells].entries()) {
    if (at === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

/** Show the rows that contain every word. */
export function narrow(table, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const here = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => here.includes(word));
    shown += !row.hidden;
  }
  return shown;
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    head.querySelector("button")?.addEventListener("click", () => {
      sortBy(table, column, head.getAttribute("aria-sort") === "ascending");
    });
  }
}

for (const field of document.querySelectorAll("input[data-filters]")) {
  const table = document.getElementById(field.dataset.filters);
  const told = document.getElementById(`${field.dataset.filters}-shown`);
  field.addEventListener("input", () => {
    const shown = narrow(table, field.value);
    if (told) told.textContent = `${shown} of ${table.tBodies[0].rows.length} shown`;
  });
}
