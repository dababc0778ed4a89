"""The page's script: pointing at a node shows its group, a click pins the group, the drawing zooms and pans.

The script only shows and hides elements of the page; without the script, all groups are listed.
"""

ZOOM_SCRIPT = """
class DrawingZoom {
  constructor(canvas) {
    this.canvas = canvas;
    this.scale = 1;
    const steps = { in: () => this.scale * 1.25, out: () => this.scale / 1.25, natural: () => 1,
      fit: () => this.fit() };
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

  fit() {
    return Math.min(1, this.canvas.clientWidth / this.wide, this.canvas.clientHeight / this.high);
  }

  // A drawing opens whole, for which what stands beside it goes below where need be. One that could not be
  // read then has its whole width or, if it could not be read so either, its size.
  show(drawing) {
    this.drawing = drawing;
    const box = drawing.viewBox?.baseVal;
    [this.wide, this.high] = [box?.width || 1, box?.height || 1];
    const frame = this.canvas.closest("main");
    frame.classList.toggle("wide", this.fit() < 0.9);
    const [whole, across] = [this.fit(), this.canvas.clientWidth / this.wide];
    if (whole < 0.55) frame.classList.remove("wide");
    this.zoom(whole >= 0.55 ? whole : across > 0.75 ? Math.min(1, across) : 1);
  }

  zoom(wanted) {
    if (!this.drawing) return;
    const { canvas } = this, before = this.scale;
    const [x, y] = [canvas.scrollLeft + canvas.clientWidth / 2, canvas.scrollTop + canvas.clientHeight / 2];
    this.scale = Math.min(2.5, Math.max(0.1, wanted));
    this.drawing.setAttribute("width", this.wide * this.scale);
    this.drawing.setAttribute("height", this.high * this.scale);
    const grown = this.scale / before;
    canvas.scrollTo(x * grown - canvas.clientWidth / 2, y * grown - canvas.clientHeight / 2);
  }
}
""".strip()


_PAGE_SCRIPT = """
(() => {
  const main = document.querySelector("main");
  const canvas = main.querySelector(".canvas");
  const plan = canvas.querySelector("svg");
  const advice = main.querySelector(".advice");
  const alone = main.querySelector(".alone");
  const nodes = [...plan.querySelectorAll("[data-node]")];
  const lines = [...plan.querySelectorAll("[data-from]")];
  const groups = [...main.querySelectorAll(".group")].map((card) => ({
    card, join: card.dataset.join, members: new Set(card.dataset.members.split(" ")),
  }));
  const byNumber = new Map(nodes.map((node) => [node.dataset.node, node]));
  let pinned = null;

  const groupsOf = (number) => {
    const own = groups.filter((group) => group.join === number);
    return own.length ? own : groups.filter((group) => group.members.has(number));
  };

  const show = (number) => {
    const shown = number === null ? groups : groupsOf(number);
    const on = new Set([number, ...(number === null ? [] : shown.flatMap((group) => [...group.members]))]);
    const within = (line) => shown.some(
      (group) => group.members.has(line.dataset.from) && group.members.has(line.dataset.to));
    main.classList.toggle("focused", number !== null);
    for (const node of nodes) {
      node.classList.toggle("on", on.has(node.dataset.node));
      node.classList.toggle("pointed", node.dataset.node === number);
    }
    for (const line of lines) line.classList.toggle("on", number !== null && within(line));
    for (const group of groups) group.card.hidden = !shown.includes(group);
    advice.hidden = number !== null;
    alone.hidden = number === null || shown.length > 0;
  };

  const bring = (number) => {
    const node = byNumber.get(number).getBoundingClientRect();
    const frame = canvas.getBoundingClientRect();
    canvas.scrollBy(
      node.x + node.width / 2 - frame.x - frame.width / 2,
      node.y + node.height / 2 - frame.y - frame.height / 2);
  };

  const pin = (number) => { pinned = pinned === number ? null : number; show(pinned); };

  for (const node of nodes) {
    const number = node.dataset.node;
    node.addEventListener("mouseenter", () => show(number));
    node.addEventListener("mouseleave", () => show(pinned));
    node.addEventListener("focus", () => { if (node.matches(":focus-visible")) show(number); });
    node.addEventListener("blur", () => show(pinned));
    node.addEventListener("click", () => pin(number));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(number); }
    });
  }
  for (const group of groups) {
    group.card.addEventListener("click", () => { pin(group.join); bring(group.join); });
  }
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      pinned = button.dataset.show;
      show(pinned);
      bring(pinned);
      main.scrollIntoView({ block: "start" });
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { pinned = null; show(null); }
  });

  new DrawingZoom(canvas).show(plan);
  const failing = plan.querySelector(".join.failing") || plan.querySelector(".node.failing");
  if (failing) bring(failing.dataset.node);
})();
""".strip()

SCRIPT = f"{ZOOM_SCRIPT}\n{_PAGE_SCRIPT}"
