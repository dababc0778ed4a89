// The picture of the plan: loaded once for each model, zoomed, and written on. Texts are set as text only.
"use strict";

class PlanPicture {
  constructor(canvas, choose) {
    this.canvas = canvas;
    this.choose = choose;
    this.view = new DrawingZoom(canvas);
    this.loaded = "";
    this.nodes = new Map();
    this.flows = [];
    this.figures = new Map();
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
    this.prepare();
    this.view.show(this.plan);
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
}
