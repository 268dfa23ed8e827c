"use strict";
// Draws the charts, sorts and filters the tables. Nothing here loads anything.

const figures = JSON.parse(document.getElementById("figures").textContent);
const charts = [...document.querySelectorAll(".chart")];
const dark = matchMedia("(prefers-color-scheme: dark)");
const OPTIONS = {
  responsive: true,
  displaylogo: false,
  modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
};

function colours() {
  const style = getComputedStyle(document.documentElement);
  return {
    "font.color": style.getPropertyValue("--ink").trim(),
    "hoverlabel.bgcolor": style.getPropertyValue("--panel").trim(),
    "hoverlabel.font.color": style.getPropertyValue("--ink").trim(),
  };
}

function draw() {
  for (const place of charts) {
    const { data, layout } = figures[Number(place.dataset.figure)];
    layout.font = { ...layout.font, family: "system-ui, sans-serif" };
    Plotly.newPlot(place, data, layout, OPTIONS).then(() =>
      Plotly.relayout(place, colours()),
    );
  }
}

// A printed page is narrower than a screen, and charts do not shrink by themselves.
const PRINT_PIXELS = 640;
addEventListener("beforeprint", () =>
  charts.forEach((place) =>
    Plotly.relayout(place, {
      width: Math.min(place.clientWidth, PRINT_PIXELS),
      "font.color": "#1b1f24",
    }),
  ),
);
addEventListener("afterprint", () =>
  charts.forEach((place) =>
    Plotly.relayout(place, { width: null, autosize: true, ...colours() }),
  ),
);
dark.addEventListener("change", () =>
  charts.forEach((place) => Plotly.relayout(place, colours())),
);

function compare(one, two) {
  const numbers = [Number(one), Number(two)];
  return numbers.some(Number.isNaN)
    ? one.localeCompare(two, undefined, { numeric: true })
    : numbers[0] - numbers[1];
}

function sort(table, head) {
  const heads = [...head.parentElement.children];
  const column = heads.indexOf(head);
  const direction =
    head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const value = (row) => row.cells[column].dataset.value;
  const rows = [...body.rows].sort((one, two) => {
    const [first, second] = [value(one), value(two)];
    // Rows without a value stay last in both directions.
    if (first === undefined || second === undefined)
      return (first === undefined) - (second === undefined);
    return sign * compare(first, second);
  });
  body.append(...rows);
}

function filter(form) {
  const table = document.getElementById(form.dataset.table);
  const text = form.elements.text.value.trim().toLowerCase();
  const least = Number(form.elements.clicks.value);
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) {
    const name = row.cells[0].textContent.toLowerCase();
    const clicks = Number(row.cells[Number(table.dataset.clicks)].dataset.value);
    row.hidden = !name.includes(text) || clicks < least;
  }
  const shown = rows.filter((row) => !row.hidden).length;
  form.querySelector("output").value = `${shown} of ${rows.length} slices`;
}

for (const table of document.querySelectorAll("table.sortable"))
  for (const head of table.tHead.rows[0].cells)
    head.querySelector("button").addEventListener("click", () => sort(table, head));

for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("input", () => filter(form));
  form.addEventListener("submit", (event) => event.preventDefault());
  filter(form);
}

draw();
