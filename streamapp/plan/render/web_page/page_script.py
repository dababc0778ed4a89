"""The page's script: pointing at a node shows its group, a click pins the group, the drawing zooms and pans.

The script only shows and hides elements of the page; without the script, all groups are listed.
"""

from streamapp.plan.render.web_page.zoom_script import ZOOM_SCRIPT

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
