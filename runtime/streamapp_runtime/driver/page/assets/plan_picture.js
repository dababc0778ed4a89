// The picture of the plan: loaded once for each model, zoomed, and written on. Texts are set as text only.
"use strict";

class PlanPicture {
  constructor(canvas, choose) {
    this.canvas = canvas;
    this.choose = choose;
    this.scale = 1;
    this.loaded = "";
    this.nodes = new Map();
    this.flows = [];
    this.figures = new Map();
    this.listen();
  }

  // Loads the picture of a model, if it is not the one that is shown.
  async show(model) {
    if (this.loaded === model) return;
    this.loaded = model;
    try {
      const text = await (await fetch("plan.svg")).text();
      const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
      this.canvas.replaceChildren(document.adoptNode(root));
    } catch {
      this.loaded = "";
      return;
    }
    this.plan = this.canvas.firstElementChild;
    this.wide = Number(this.plan.getAttribute("width")) || 1;
    this.high = Number(this.plan.getAttribute("height")) || 1;
    this.prepare();
    // A picture that all but fits is made to; a larger one keeps its size, so that it can be read.
    const across = this.canvas.clientWidth / this.wide;
    this.zoom(across > 0.75 ? Math.min(1, across) : 1);
  }

  prepare() {
    this.nodes.clear();
    this.figures.clear();
    for (const node of this.plan.querySelectorAll("[data-node]")) {
      const kind = ["stream", "intermediate"].some((name) => node.classList.contains(name)) ? "stream"
        : node.classList.contains("table") ? "table" : "operator";
      this.nodes.set(node.dataset.node, { node, kind, name: node.dataset.name });
      const box = node.querySelector(".outline").getBBox();
      const figure = this.text("figure", box.x + box.width / 2, 64);
      node.append(figure);
      this.figures.set(`${kind} ${node.dataset.name}`, figure);
      node.addEventListener("click", () => this.choose(node.dataset.name));
      node.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          this.choose(node.dataset.name);
        }
      });
    }
    this.flows = [...this.plan.querySelectorAll(".label")].map((label) => {
      const box = label.querySelector("rect");
      const at = Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2;
      const lines = [25, 37].map((down) => this.text("flow", at, Number(box.getAttribute("y")) + down));
      label.append(...lines);
      return { lines, from: this.nodes.get(label.dataset.from), to: this.nodes.get(label.dataset.to) };
    });
  }

  text(name, x, y) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "text");
    made.setAttribute("class", name);
    made.setAttribute("x", x);
    made.setAttribute("y", y);
    return made;
  }

  // Writes rates and lag on the edges, and figures below the nodes.
  write(streams, figures) {
    for (const { lines: [rate, lag], from, to } of this.flows) {
      const read = from?.kind === "stream" ? streams.get(from.name) : undefined;
      const written = to?.kind === "stream" ? streams.get(to.name) : undefined;
      rate.textContent = read ? read.inText : written ? written.outText : "";
      lag.textContent = read ? read.lagText : "";
      lag.classList.toggle("behind", Boolean(read?.lags));
    }
    for (const [key, figure] of this.figures) figure.textContent = figures.get(key) ?? "";
  }

  // Marks the chosen node, and lets those fade whose names do not match.
  mark(chosen, matches) {
    for (const { node, name } of this.nodes.values()) {
      node.classList.toggle("chosen", name === chosen);
      node.classList.toggle("faint", !matches(name));
    }
  }

  fit() {
    return Math.min(this.canvas.clientWidth / this.wide, this.canvas.clientHeight / this.high);
  }

  zoom(wanted) {
    if (!this.plan) return;
    const { canvas } = this, before = this.scale;
    const [x, y] = [canvas.scrollLeft + canvas.clientWidth / 2, canvas.scrollTop + canvas.clientHeight / 2];
    this.scale = Math.min(2.5, Math.max(0.1, wanted));
    this.plan.setAttribute("width", this.wide * this.scale);
    this.plan.setAttribute("height", this.high * this.scale);
    const grown = this.scale / before;
    canvas.scrollTo(x * grown - canvas.clientWidth / 2, y * grown - canvas.clientHeight / 2);
  }

  listen() {
    const { canvas } = this;
    const steps = { in: () => this.scale * 1.25, out: () => this.scale / 1.25, natural: () => 1, fit: () => Math.min(1, this.fit()) };
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoom(steps[button.dataset.zoom]()));
    }
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(this.scale * Math.exp(-event.deltaY / 400));
    }, { passive: false });
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && !event.target.closest("[data-node]")) {
        grip = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
        canvas.classList.add("dragged");
      }
    });
    addEventListener("pointermove", (event) => {
      if (grip) canvas.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
    });
    addEventListener("pointerup", () => { grip = null; canvas.classList.remove("dragged"); });
  }
}
