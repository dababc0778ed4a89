// The page of all apps. It asks for the rows every few seconds, and only while somebody looks.
"use strict";

const REFRESH_MILLISECONDS = 3000;
const TOKEN_ITEM = "streamapp-token";
const ATTENTION = ["failed", "waiting", "running", "resting"];

let apps = [];
let notices = [];
let tag = "";
let clockAhead = 0; // of this machine's clock before the server's, in seconds
let fault = "";
let signedOut = false;
let underWay = 0; // requests for rows: a slow server is not asked again by the clock
let chosen = null;
let details = null;
let shownAttention = null;
const filter = byId("filter");

const keyOf = (app) => `${app.namespace}/${app.name}`;
const serverTime = () => Date.now() / 1000 - clockAhead;
const age = (at) => (at === null ? "" : duration(Math.max(serverTime() - at, 0)));
const generationText = (app) => (app.acceptedGeneration === null || app.acceptedGeneration === app.generation
  ? count(app.generation) : `${app.acceptedGeneration} of ${app.generation}`);

const table = new LiveTable(byId("apps"), [
  column("app", "name", (app) => app.title),
  column("namespace", "word", (app) => app.namespace),
  column("phase", "word", (app) => app.phase, (app) => ({ failed: "fail", waiting: "warn" })[app.attention]),
  column("ready", "word", (app) => app.ready ?? ""),
  column("why", "text", (app) => [app.reason, app.message].filter(Boolean).join(": ")),
  column("lag", "number", (app) => (app.lag ? `≤ ${short(app.lag)}` : count(app.lag))),
  column("report", "number", (app) => age(app.reportedAt)),
  column("tasks", "number", (app) => (app.tasks === null ? "" : `${count(app.tasks)} on ${count(app.processors)}`)),
  column("restarts", "number", (app) => count(app.restarts), (app) => app.restarts > 0),
  column("generation", "number", generationText, (app) => app.acceptedGeneration !== app.generation),
  column("last change", "text", (app) => app.changed),
  column("ago", "number", (app) => age(app.changedAt)),
], "There are no apps, or none that you may see.", "Apps");

const conditions = new LiveTable(byId("conditions"), [
  column("condition", "word", (one) => one.type),
  column("status", "word", (one) => one.status, (one) => !one.expected),
  column("reason", "word", (one) => one.reason),
  column("since", "number", (one) => age(one.at)),
  column("message", "text", (one) => one.message),
], "No operator has looked at it yet.", "Conditions");

// Each order compares two apps; those that it calls equal are in the order of their names.
const ORDERS = {
  attention: (one, other) => ATTENTION.indexOf(one.attention) - ATTENTION.indexOf(other.attention),
  name: () => 0,
  lag: (one, other) => (other.lag ?? -1) - (one.lag ?? -1),
  restarts: (one, other) => (other.restarts ?? -1) - (one.restarts ?? -1),
  change: (one, other) => (other.changedAt ?? 0) - (one.changedAt ?? 0),
};

function ordered() {
  const compare = ORDERS[byId("order").value];
  return apps
    .map((app) => ({ ...app, title: app.name, name: keyOf(app) }))
    .sort((one, other) => compare(one, other) || one.name.localeCompare(other.name));
}

function matches(app) {
  const text = filter.value.trim().toLowerCase();
  return (!shownAttention || app.attention === shownAttention)
    && (!text || [app.name, app.reason, app.phase].some((one) => one.toLowerCase().includes(text)));
}

function writeCounts() {
  const group = byId("counts");
  for (const attention of ATTENTION) {
    let button = group.querySelector(`[data-attention="${attention}"]`);
    if (!button) {
      button = element("button");
      button.type = "button";
      button.dataset.attention = attention;
      button.addEventListener("click", () => {
        shownAttention = shownAttention === attention ? null : attention;
        write();
      });
      group.append(button);
    }
    setText(button, `${count(apps.filter((app) => app.attention === attention).length)} ${attention}`);
    button.setAttribute("aria-pressed", String(shownAttention === attention));
  }
}

function writeAlerts() {
  const lines = fault ? [fault, ...notices] : notices, list = byId("alerts");
  if (lines.join("\n") === list.dataset.shown) return;
  list.dataset.shown = lines.join("\n");
  list.replaceChildren(...lines.map((text, place) => element("li", fault && place === 0 ? "lost" : "", text)));
}

function writeDetails() {
  const box = byId("details");
  box.hidden = !chosen || !details;
  if (box.hidden) return;
  setText(byId("details-title"), chosen);
  const facts = byId("details-facts");
  while (facts.children.length > details.facts.length) facts.lastElementChild.remove();
  details.facts.forEach(([name, text], place) => {
    if (place >= facts.children.length) {
      const pair = element("div");
      pair.append(element("dt"), element("dd"));
      facts.append(pair);
    }
    setText(facts.children[place].children[0], name);
    setText(facts.children[place].children[1], text);
  });
  conditions.write(details.conditions, (one) => one.type, () => true);
  setText(byId("commands"), details.commands.join("\n"));
}

function write() {
  const state = byId("state");
  setText(state, signedOut ? "signed out" : fault ? "no answer" : tag ? several(apps.length, "app") : "connecting");
  state.className = `chip ${fault ? "lost" : tag && !signedOut ? "well" : ""}`;
  byId("sign-in").hidden = !signedOut;
  for (const part of document.querySelectorAll(".of-apps")) part.hidden = signedOut || !tag;
  byId("sign-out").hidden = !sessionStorage.getItem(TOKEN_ITEM);
  writeCounts();
  writeAlerts();
  const failed = apps.filter((app) => app.attention === "failed").length;
  const title = failed ? `${failed} failed: StreamApps` : "StreamApps";
  if (document.title !== title) document.title = title;
  table.write(ordered(), (app) => app.name, matches, chosen);
  writeDetails();
}

// What can be read on the way gets no token.
const isSafe = () => location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

function headers() {
  const token = sessionStorage.getItem(TOKEN_ITEM);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function signOut(why) {
  sessionStorage.removeItem(TOKEN_ITEM);
  [apps, notices, tag, chosen, details, fault, signedOut] = [[], [], "", null, null, "", true];
  setText(byId("sign-in-fault"), why);
  write();
}

async function loadDetails() {
  if (!chosen) return;
  const asked = chosen, app = apps.find((one) => keyOf(one) === asked);
  if (!app) {
    [chosen, details] = [null, null];
    return;
  }
  const query = new URLSearchParams({ namespace: app.namespace, name: app.name });
  const answer = await fetch(`app?${query}`, { headers: headers() });
  if (chosen === asked) details = answer.ok ? await answer.json() : null;
}

async function load() {
  if (signedOut) return;
  underWay += 1;
  try {
    const answer = await fetch("data", { headers: { ...headers(), ...(tag ? { "If-None-Match": tag } : {}) } });
    const dated = Date.parse(answer.headers.get("Date") ?? "");
    if (!Number.isNaN(dated)) clockAhead = Date.now() / 1000 - dated / 1000;
    if (answer.status === 401) {
      signOut(sessionStorage.getItem(TOKEN_ITEM) ? (await answer.text()).trim() : "");
      return;
    }
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
      ({ apps, notices } = await answer.json());
      tag = answer.headers.get("ETag");
    }
    await loadDetails();
    fault = "";
  } catch (error) {
    fault = error instanceof TypeError ? "The server does not answer: what is shown is old. The page asks again." : error.message;
  } finally {
    underWay -= 1;
  }
  write();
}

function choose(key) {
  chosen = chosen === key ? null : key;
  details = null;
  write();
  load().then(() => { if (chosen) byId("details").scrollIntoView({ block: "nearest" }); });
}

function signIn() {
  const token = byId("token").value.trim();
  if (!token) return;
  if (!isSafe()) {
    setText(byId("sign-in-fault"), "This page came without TLS: a token could be read on the way. Open it by https, or by a port forwarded to this machine.");
    return;
  }
  sessionStorage.setItem(TOKEN_ITEM, token);
  byId("token").value = "";
  signedOut = false;
  setText(byId("sign-in-fault"), "");
  write();
  load();
}

table.choosable(choose);
filter.addEventListener("input", write);
byId("order").addEventListener("change", write);
byId("sign-in-form").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn();
});
byId("sign-out").addEventListener("click", () => signOut(""));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    [chosen, details, shownAttention] = [null, null, null];
    filter.value = "";
    write();
  } else if (event.key === "/" && !["filter", "token"].includes(document.activeElement.id)) {
    event.preventDefault();
    filter.focus();
  }
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) load(); });
setInterval(() => { if (!document.hidden && !underWay) load(); }, REFRESH_MILLISECONDS);
write();
load();
