// The page of a running app. All texts are set as text: no name and no record ever becomes markup.
"use strict";

const HISTORY_SECONDS = 900;
const MOST_OF_BATCH = 0.5; // without what takes a smaller share, a batch would still take more than half as long

const percent = (share) => (share === null || share === undefined ? "" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);

// More than ten seconds of reading are left, by the rate of now.
const lags = (row) => row.lag > 10 * (row.inPerSecond ?? 0);

// Empty for what is never read.
const lagText = (row) => (row.inPerSecond === null && !row.lag ? "" : count(row.lag));

const streams = new LiveTable(byId("streams"), [
  column("stream", "name", (row) => row.name),
  column("role", "word", (row) => row.role),
  column("partitions", "number", (row) => count(row.partitions)),
  column("read", "number", (row) => rate(row.inPerSecond)),
  column("written", "number", (row) => rate(row.outPerSecond)),
  column("lag", "number", lagText, lags),
  column("behind", "number", (row) => duration(row.behind)),
], "There is no plan yet.", "Streams");

const outlook = element("p", "outlook"); // what a growth of the chosen stream would change
outlook.setAttribute("aria-live", "polite");
byId("streams").append(outlook);

const newestRows = element("details"); // of the chosen stream
newestRows.id = "newest-rows";
newestRows.hidden = true;
newestRows.append(element("summary"), element("pre"));
newestRows.querySelector("pre").tabIndex = 0;
byId("streams").append(newestRows);

const operators = new LiveTable(byId("operators"), [
  column("operator", "name", (row) => row.name),
  column("kind", "word", (row) => row.kind),
  column("watermark", "number", (row) => eventTime(row.watermark)),
  column("behind", "number", (row) => duration(row.behind)),
  column("late rows", "number", (row) => (row.late ? count(row.late) : ""), (row) => row.late > 0),
  column("of batch time", "number", (row) => percent(row.share), (row) => row.share >= MOST_OF_BATCH),
], "There is no plan yet.", "Operators");

const stores = new LiveTable(byId("stores"), [
  column("table", "name", (row) => row.name),
  column("kind", "word", (row) => row.kind),
  column("entries, about", "number", (row) => count(row.entries)),
  column("on disk", "number", (row) => size(row.bytes)),
  column("keys asked", "number", (row) => count(row.asked)),
  column("from cache", "number", (row) => count(row.cached)),
  column("no answer", "number", (row) => count(row.unanswered), (row) => row.unanswered > 0),
], "The app has no tables, and its operators keep no state on disk here.", "Tables and state");

const deliveries = new LiveTable(byId("deliveries"), [
  column("system", "name", (row) => row.system),
  column("delivered", "number", (row) => count(row.records)),
  column("waiting", "number", (row) => count(row.waiting)),
  column("commits", "number", (row) => count(row.commits)),
  column("failures", "number", (row) => count(row.failures), (row) => row.failures > 0),
], "", "Deliveries into other systems");

const batches = new LiveTable(byId("batches"), [
  column("batch", "number", (row) => count(row.number)),
  column("ended", "number", (row) => clock(row.at)),
  column("took", "number", (row) => duration(row.seconds)),
  column("rows in", "number", (row) => count(row.rowsIn)),
  column("rows out", "number", (row) => count(row.rowsOut)),
  column("steps, of the slowest lane", "text", (row) => row.steps.map(([name, seconds]) => `${name} ${duration(seconds)}`).join(", ")),
], "No batch has ended yet.", "Last batches");

const leftOut = new LiveTable(byId("left-out"), [
  column("stream or operator", "name", (row) => row.stream),
  column("records", "number", (row) => count(row.records)),
  column("reason", "text", (row) => row.reason),
], "None so far.", "Bad and late records");

const samples = new LiveTable(byId("left-out"), [
  column("record", "name", (row) => `${row.stream}#${row.partition}`),
  column("offset", "number", (row) => count(row.offset)),
  column("key", "text", (row) => row.key),
  column("value", "text", (row) => row.value),
  column("reason", "text", (row) => row.reason),
], "", "Samples of bad records");

const growths = new LiveTable(byId("growths"), [
  column("stream", "name", (row) => row.stream),
  column("partitions", "number", (row) => `${row.before} → ${row.after}`),
  column("seen", "number", (row) => eventTime(row.seen)),
  column("state", "text", (row) => (row.settled ? "settled" : "under way: producers may still use the old count"), (row) => !row.settled),
], "No stream has got more partitions since the app first kept state.", "Growth");

const notes = new LiveTable(byId("notes"), [
  column("at", "number", (row) => clock(row.at)),
  column("what", "word", (row) => row.kind),
  column("message", "text", (row) => [row.text, ...row.reasons.map(([reason, tasks]) => `${count(tasks)} × ${reason}`)].join("; ")),
], "Nothing but batches since the driver started.", "What happened");

let placements = []; // why tasks are on their processors: sentences, by number

// Processors, each with the tasks that it runs; the tasks are written while they are shown.
class ProcessorList {
  constructor(parent) {
    this.list = element("div", "processors");
    parent.append(this.list);
    this.entries = new Map();
  }

  write(processors, matches) {
    const open = processors.length <= 4 && processors.every((one) => one.tasks.length <= 16);
    const names = new Set(processors.map((one) => one.name));
    for (const processor of processors) {
      let entry = this.entries.get(processor.name);
      if (!entry) {
        entry = this.entry(open);
        this.entries.set(processor.name, entry);
        this.list.append(entry.box);
      }
      const tasks = processor.tasks.filter((task) => matches(task.name) || matches(processor.name)
        || task.partitions.some(matches));
      entry.box.hidden = !tasks.length && !matches(processor.location) && !matches(processor.name);
      setText(entry.name, processor.name);
      setText(entry.place, processor.location ? `on ${processor.location}` : "");
      setText(entry.states, Object.entries(processor.states).map(([state, number]) => `${number} ${state}`).join(", ") || "no tasks");
      entry.states.classList.toggle("warn", Object.keys(processor.states).some((state) => state !== "working"));
      entry.tasks = tasks;
      if (entry.box.open) this.fill(entry);
    }
    for (const [name, entry] of this.entries) {
      if (!names.has(name)) { entry.box.remove(); this.entries.delete(name); }
    }
  }

  entry(open) {
    const [box, summary] = [element("details"), element("summary")];
    const [name, place, states] = [element("span", "name"), element("span", "place"), element("span", "states")];
    summary.append(name, place, states);
    box.append(summary);
    box.open = open;
    const entry = { box, name, place, states, tasks: [], table: null };
    box.addEventListener("toggle", () => { if (box.open) this.fill(entry); });
    return entry;
  }

  fill(entry) {
    entry.table ??= new LiveTable(entry.box, [
      column("task", "name", (row) => row.name),
      column("partitions", "text", (row) => row.partitions.join(", ")),
      column("read", "number", (row) => rate(row.inPerSecond)),
      column("lag", "number", lagText, lags),
      column("state", "word", (row) => row.state, (row) => row.state !== "working"),
      column("why", "text", (row) => row.why),
      column("placement", "text", (row) => placements[row.placement] ?? "by an earlier driver"),
    ], "It has no tasks.", "Tasks");
    entry.table.write(entry.tasks, (row) => row.name, () => true);
  }
}

const processors = new ProcessorList(byId("processors"));

// Charts of the last 15 minutes: of all streams together, or of one.

const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

const OF_ALL = ["batchSeconds", "behind", "latency", "driverMemory", "workerMemory"]; // what no stream has alone
const roundSize = (bytes) => size(bytes).replace(".0 ", " ");
const LEAST_HEIGHTS = { batch: 0.01, latency: 0.01 }; // of the axes, in seconds

class HistoryCharts {
  constructor() {
    this.whole = { at: [], rowsIn: [], rowsOut: [], lag: [] };
    for (const name of OF_ALL) this.whole[name] = [];
    this.stream = ""; // whose history is drawn; empty for all of them
    this.own = null; // its history, once it has come
    this.select = byId("charted");
    this.draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new ResizeObserver(() => {
      for (const { chart, box } of this.charts) chart.setSize({ width: box.clientWidth, height: 140 });
    }).observe(byId("rows"));
  }

  draw() {
    for (const { chart } of this.charts ?? []) chart.destroy();
    this.charts = [
      this.chart("rows", ["rowsIn", "rowsOut"], [["in", "--series-1"], ["out", "--series-2"]], rate),
      this.chart("lag", ["lag"], [["lag", "--series-3"]], short),
      this.chart("batch", ["batchSeconds"], [["batch", "--series-1"]], duration),
      this.chart("behind", ["behind"], [["delay", "--series-3"]], duration),
      this.chart("latency", ["latency"], [["latency", "--series-1"]], duration),
      this.chart("memory", ["driverMemory", "workerMemory"], [["driver", "--series-1"], ["workers", "--series-2"]], roundSize),
    ];
    this.update();
  }

  chart(id, names, series, text) {
    const box = byId(id), ink = colour("--muted"), grid = colour("--border");
    const value = (_, number) => (number === null || number === undefined ? "" : text(number));
    const axis = { stroke: ink, grid: { stroke: grid, width: 0.5 }, ticks: { stroke: grid, width: 0.5 } };
    const chart = new uPlot({
      width: box.clientWidth, height: 140,
      cursor: { y: false },
      legend: { live: true },
      scales: { x: { time: true }, y: { range: (_, low, high) => [0, Math.max(high ?? 0, LEAST_HEIGHTS[id] ?? 10) * 1.1] } },
      axes: [
        { ...axis, values: (_, times) => times.map((time) => clock(time).slice(0, times[times.length - 1] - times[0] < 180 ? 8 : 5)), space: 70 },
        { ...axis, size: 66, values: (_, numbers) => numbers.map((number) => text(number)) },
      ],
      series: [
        { label: "at", value: (_, time) => (time === null || time === undefined ? "" : clock(time)) },
        ...series.map(([label, name]) => ({ label, stroke: colour(name), width: 1.5, value, spanGaps: id === "batch" || id === "latency", points: { show: false } })),
      ],
    }, [[], ...names.map(() => [])], box);
    return { chart, box, names };
  }

  replace(history) {
    this.whole = history;
    if (this.stream) this.show(this.stream);
    this.update();
  }

  // Draws the history of a node of the plan that is a stream, else that of all streams.
  choose(name) {
    const isOffered = [...this.select.options].some((option) => option.value === name);
    this.show(isOffered ? name : "");
  }

  async show(stream) {
    if (stream !== this.stream) this.own = null;
    this.stream = stream;
    this.select.value = stream;
    byId("rows").setAttribute("aria-label", stream ? `Rows per second of ${stream}` : "Rows per second");
    byId("lag").setAttribute("aria-label", stream ? `Lag of ${stream}` : "Lag");
    this.update();
    if (!stream) return;
    try {
      const answer = await fetch(`history?stream=${encodeURIComponent(stream)}`);
      const history = answer.ok ? await answer.json() : null;
      if (stream !== this.stream) return; // another was chosen meanwhile
      this.own = history;
      this.update();
    } catch {
      // The driver is away: the page loads again once it is back.
    }
  }

  // Adds the newest point, unless it is there already.
  add(moment) {
    const names = moment.streams.filter((one) => one.inPerSecond !== null || one.outPerSecond !== null).map((one) => one.name);
    this.offer(names);
    if (!moment.point) return;
    extend(this.whole, moment.point);
    const row = moment.streams.find((one) => one.name === this.stream);
    if (this.own && row) extend(this.own, { at: moment.point.at, rowsIn: row.inPerSecond, rowsOut: row.outPerSecond, lag: row.lag });
    this.update();
  }

  // Which streams can be chosen: those that are read or written.
  offer(names) {
    const known = [...this.select.options].slice(1).map((option) => option.value);
    if (names.join("\n") === known.join("\n")) return;
    this.select.replaceChildren(this.select.options[0], ...names.map((name) => {
      const option = element("option", "", name);
      option.value = name;
      return option;
    }));
    this.choose(this.stream);
  }

  update() {
    const columns = this.stream ? this.own ?? { at: [], rowsIn: [], rowsOut: [], lag: [] } : this.whole;
    const ofAll = Object.fromEntries(OF_ALL.map((name) => [name, this.whole[name]]));
    const drawn = { ...columns, ...ofAll };
    const newest = (values) => values[values.length - 1];
    for (const { chart, box, names } of this.charts) {
      const { at } = names[0] in ofAll ? this.whole : drawn;
      chart.setData([at, ...names.map((name) => drawn[name])]);
      box.classList.toggle("empty", names.every((name) => drawn[name].every((number) => number === null)));
    }
    const rates = [[newest(drawn.rowsIn), "in"], [newest(drawn.rowsOut), "out"]].filter(([number]) => (number ?? null) !== null);
    setText(byId("rows-now"), rates.map(([number, way]) => `${rate(number)} ${way}`).join(", "));
    setText(byId("lag-now"), count(newest(drawn.lag)));
    setText(byId("batch-now"), duration(newest(this.whole.batchSeconds)));
    setText(byId("behind-now"), duration(newest(this.whole.behind)));
    setText(byId("latency-now"), duration(newest(this.whole.latency)));
    setText(byId("memory-now"), this.whole.at.length ? `${size(newest(this.whole.driverMemory))} driver, ${size(newest(this.whole.workerMemory))} workers` : "");
  }
}

// Adds a point to columns, unless it is there already, and drops what is too old.
function extend(columns, point) {
  const { at } = columns;
  if (at.length && at[at.length - 1] >= point.at) return;
  for (const [name, values] of Object.entries(columns)) values.push(point[name]);
  while (at.length && point.at - at[0] > HISTORY_SECONDS) {
    for (const values of Object.values(columns)) values.shift();
  }
}

const charts = new HistoryCharts();

// What is shown of one moment.

let live = null;
let chosen = null;
let lost = false;
const filter = byId("filter");
const wanted = () => filter.value.trim().toLowerCase();

// What a growth of the chosen stream would change: asked for once for each choice and model.
async function showOutlook() {
  const isStream = live.streams.some((one) => one.name === chosen);
  const asked = isStream ? `${live.started} ${live.model} ${chosen}` : "";
  if (asked === (outlook.dataset.asked ?? "")) return;
  outlook.dataset.asked = asked;
  setText(outlook, "");
  if (!asked) return;
  try {
    const answer = await fetch(`growth?stream=${encodeURIComponent(chosen)}`);
    const text = answer.ok ? (await answer.json()).text : "";
    if (asked === outlook.dataset.asked) setText(outlook, text && `${chosen}: ${text}`);
  } catch {
    outlook.dataset.asked = ""; // asked again once the driver is back
  }
}

// A text that the driver is asked for while its box is open: once for each state of what it depends on.
class OpenedText {
  constructor(box, file, state, read = (answer) => answer.text()) {
    [this.box, this.file, this.state, this.read] = [box, file, state, read];
    this.box.addEventListener("toggle", () => {
      this.box.dataset.asked = ""; // who opens it again sees what is there by then
      this.show();
    });
  }

  async show() {
    if (!this.box.open || this.box.hidden || !live) return;
    const asked = this.state(live);
    if (asked === this.box.dataset.asked) return;
    this.box.dataset.asked = asked;
    try {
      const answer = await fetch(this.file());
      if (!answer.ok) throw new Error(answer.statusText);
      const text = await this.read(answer);
      if (asked === this.box.dataset.asked) setText(this.box.querySelector("pre"), text);
    } catch {
      this.box.dataset.asked = ""; // asked again once the driver is back
    }
  }
}

const openedTexts = [
  new OpenedText(byId("resource"), () => "resource.yaml", (moment) => `${moment.started} ${moment.model}`),
  new OpenedText(byId("lines"), () => "lines.txt", (moment) => `${moment.now}`),
  new OpenedText(newestRows, () => `rows?stream=${encodeURIComponent(chosen)}`, (moment) => `${moment.started} ${chosen}`,
    async (answer) => (await answer.json()).text),
];

// Chooses a node of the plan, or none. The charts are those of the stream that is chosen.
function choose(name) {
  chosen = name;
  charts.choose(chosen ?? "");
  write();
}

const turn = (name) => choose(chosen === name ? null : name);
const picture = new PlanPicture(byId("canvas"), (name) => {
  turn(name);
  if (chosen) document.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" });
});
streams.choosable(turn);
charts.select.addEventListener("change", () => choose(charts.select.value || null));

function figuresOf(moment) {
  const figures = new Map();
  for (const one of moment.operators) {
    const parts = [];
    if (one.behind !== null) parts.push(`${duration(one.behind)} behind`);
    if (one.late) parts.push(`${short(one.late)} late`);
    figures.set(`operator ${one.name}`, parts.join(" · "));
  }
  for (const one of moment.tables) {
    if (one.bytes !== null) figures.set(`table ${one.name}`, `~${short(one.entries ?? 0)} · ${size(one.bytes)}`);
    else if (one.asked !== null) figures.set(`table ${one.name}`, one.unanswered ? `${short(one.unanswered)} unanswered` : `${short(one.asked)} asked`);
  }
  const state = new Map(moment.tables.filter((one) => one.kind === "state" && one.bytes !== null).map((one) => [one.name, size(one.bytes)]));
  for (const [name, text] of state) {
    const key = `operator ${name}`;
    figures.set(key, [figures.get(key), text].filter(Boolean).join(" · "));
  }
  return figures;
}

function flowsOf(moment) {
  return new Map(moment.streams.map((one) => [one.name, {
    inText: rate(one.inPerSecond),
    outText: rate(one.outPerSecond),
    lagText: one.lag ? `lag ${short(one.lag)}` : "",
    lags: lags(one),
  }]));
}

function facts(moment) {
  const tasks = moment.processors.reduce((sum, one) => sum + one.tasks.length, 0);
  const entries = [
    ["up", duration(moment.now - moment.started)],
    ["model", count(moment.model)],
    ["driver", count(moment.incarnation)],
    ["tasks", `${count(tasks)} on ${count(moment.processors.length)}`],
    ["lag", count(moment.lag)],
    ["bad", count(moment.bad)],
    ["late", count(moment.late)],
  ];
  const list = byId("facts");
  while (list.children.length < entries.length) {
    const pair = element("div");
    pair.append(element("dt"), element("dd"));
    list.append(pair);
  }
  entries.forEach(([name, text], place) => {
    setText(list.children[place].children[0], name);
    setText(list.children[place].children[1], text);
  });
}

function alerts(moment) {
  const lines = moment ? [...moment.waits.map((wait) => wait.text), ...moment.refused.map((text) => `refused, and the app continues unchanged: ${text}`)] : [];
  const list = byId("alerts");
  const texts = lost ? ["The driver does not answer: what is shown is old. The page asks again.", ...lines] : lines;
  if (texts.join("\n") === list.dataset.shown) return;
  list.dataset.shown = texts.join("\n");
  list.replaceChildren(...texts.map((text, place) => element("li", lost && place === 0 ? "lost" : "", text)));
}

function write() {
  alerts(live);
  const state = byId("state");
  setText(state, lost ? "no answer" : live ? live.state : "connecting");
  state.className = `chip ${lost ? "lost" : live ? live.state : ""}`;
  if (!live) return;
  const moment = live, text = wanted();
  const matches = (name) => !text || name.toLowerCase().includes(text);
  const named = (row) => matches(row.name);
  setText(byId("name"), moment.app || "StreamApp");
  if (moment.app && document.title !== `${moment.app}: ${moment.state}`) document.title = `${moment.app}: ${moment.state}`;
  setText(byId("activity"), `The driver ${moment.activity}, for ${duration(Math.max(moment.now - moment.activeSince, 0))}`);
  facts(moment);
  streams.write(moment.streams, (row) => row.name, named, chosen);
  operators.write(moment.operators, (row) => row.name, named, chosen);
  stores.write(moment.tables, (row) => row.name, named, chosen);
  byId("deliveries").hidden = !moment.deliveries.length;
  deliveries.write(moment.deliveries, (row) => row.system, (row) => matches(row.system));
  processors.write(moment.processors, matches);
  batches.write(moment.batches, (row) => row.number, () => true);
  const late = moment.operators.filter((one) => one.late).map((one) => ({ stream: one.name, records: one.late, reason: "late: behind the watermark" }));
  leftOut.write([...moment.leftOut, ...late], (row) => `${row.stream}\n${row.reason}`, (row) => matches(row.stream));
  samples.write(moment.samples, (row) => `${row.stream}#${row.partition} ${row.offset}`, (row) => matches(row.stream));
  growths.write(moment.growths, (row) => `${row.stream} ${row.after}`, (row) => matches(row.stream));
  notes.write(moment.notes, (row) => `${row.at} ${row.kind} ${row.text}`, () => true);
  picture.write(flowsOf(moment), figuresOf(moment));
  picture.mark(chosen, matches);
  showOutlook();
  newestRows.hidden = !moment.streams.some((one) => one.name === chosen);
  setText(newestRows.querySelector("summary"), `Newest rows of ${chosen}`);
  for (const text of openedTexts) text.show();
}

async function take(moment) {
  const reached = lost;
  [live, lost] = [moment, false];
  charts.add(moment);
  write();
  if (moment.model) {
    await picture.show(`${moment.started} ${moment.model}`);
    write();
  }
  if (reached) await load();
}

// The whole of the history, at first and after the driver was away; later only what comes to it.
async function load() {
  try {
    const answer = await fetch("data");
    if (!answer.ok) throw new Error(answer.statusText);
    const moment = await answer.json();
    charts.replace(moment.history);
    placements = moment.placements;
    await take(moment);
  } catch {
    lost = true;
    write();
  }
}

filter.addEventListener("input", write);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    filter.value = "";
    choose(null);
  } else if (event.key === "/" && document.activeElement !== filter) {
    event.preventDefault();
    filter.focus();
  }
});

// A browser asks again by itself after a lost connection, but not after a refusal.
function connect() {
  const events = new EventSource("events");
  events.onmessage = (event) => take(JSON.parse(event.data));
  events.onerror = () => {
    lost = true;
    write();
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  };
}

load().then(connect);
