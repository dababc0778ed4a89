// What the live pages share: elements, texts of numbers and times, and tables that are updated in place.
// All texts are set as text: no name ever becomes markup.
"use strict";

const byId = (id) => document.getElementById(id);

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}

// Texts of numbers and times.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const count = (number) => (number === null || number === undefined ? "" : whole.format(number));
const short = (number) => (number < 1000 ? whole.format(number) : compact.format(number).toLowerCase());
const rate = (number) => (number === null || number === undefined ? "" : `${number > 0 && number < 10 ? number.toFixed(1) : short(number)}/s`);

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const size = Math.abs(seconds);
  if (size < 1) return `${Math.round(seconds * 1000)} ms`;
  if (size < 120) return `${seconds.toFixed(size < 10 ? 1 : 0)} s`;
  if (size < 7200) return `${Math.round(seconds / 60)} min`;
  if (size < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${whole.format(Math.round(seconds / 86400))} d`;
}

function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  let [value, unit] = [bytes, "B"];
  for (const larger of ["kB", "MB", "GB", "TB"]) {
    if (value < 1000) break;
    [value, unit] = [value / 1000, larger];
  }
  return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
}

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

function eventTime(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString().slice(0, 19).replace("T", " ");
}

const several = (number, one) => `${count(number)} ${one}${number === 1 ? "" : "s"}`;

// A table whose rows are kept from one moment to the next: only texts that differ are written.
class LiveTable {
  constructor(parent, columns, empty, label) {
    this.columns = columns;
    this.rows = new Map();
    this.frame = element("div", "scroll");
    this.frame.tabIndex = 0;
    this.frame.setAttribute("role", "region");
    this.frame.setAttribute("aria-label", label);
    this.body = element("tbody");
    const head = element("tr");
    for (const { title, kind } of columns) {
      const cell = element("th", kind === "number" ? "number" : "", title);
      cell.scope = "col";
      head.append(cell);
    }
    const [table, top] = [element("table"), element("thead")];
    top.append(head);
    table.append(top, this.body);
    this.frame.append(table);
    this.empty = element("p", "empty", empty);
    parent.append(this.frame, this.empty);
  }

  // Rows are chosen by a click, Enter or the space bar; `choose` gets the row's key.
  choosable(choose) {
    this.choose = choose;
    const chosenRow = (event) => [...this.rows].find(([, line]) => line === event.target.closest("tr"));
    this.body.addEventListener("click", (event) => {
      const row = chosenRow(event);
      if (row) choose(row[0]);
    });
    this.body.addEventListener("keydown", (event) => {
      const row = chosenRow(event);
      if (row && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        choose(row[0]);
      }
    });
  }

  write(rows, keyOf, matches, chosen) {
    const keys = new Set();
    let next = this.body.firstElementChild;
    for (const row of rows) {
      const key = keyOf(row);
      keys.add(key);
      let line = this.rows.get(key);
      if (!line) {
        line = element("tr");
        if (this.choose) line.tabIndex = 0;
        for (const { kind } of this.columns) line.append(element("td", kind));
        this.rows.set(key, line);
      }
      if (line !== next) this.body.insertBefore(line, next);
      else next = next.nextElementSibling;
      this.columns.forEach(({ text, kind, warn }, place) => {
        const cell = line.children[place], wanted = text(row);
        if (cell.textContent !== wanted) cell.textContent = wanted;
        const tone = warn && warn(row); // the name of a class, or true for `warn`
        const className = tone ? `${kind} ${tone === true ? "warn" : tone}` : kind;
        if (cell.className !== className) cell.className = className;
      });
      line.hidden = !matches(row);
      line.className = chosen && row.name === chosen ? "chosen" : "";
    }
    for (const [key, line] of this.rows) {
      if (!keys.has(key)) { line.remove(); this.rows.delete(key); }
    }
    this.frame.hidden = !rows.length;
    this.empty.hidden = Boolean(rows.length);
  }
}

const column = (title, kind, text, warn) => ({ title, kind, text, warn });

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
