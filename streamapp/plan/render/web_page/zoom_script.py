"""How a drawing is zoomed and moved, by the page of a plan and by the page of a running app."""

ZOOM_SCRIPT = """
class DrawingZoom {
  constructor(canvas) {
    this.canvas = canvas;
    this.scale = 1;
    const steps = { in: () => this.scale * 1.25, out: () => this.scale / 1.25, natural: () => 1,
      fit: () => Math.min(1, canvas.clientWidth / this.wide, canvas.clientHeight / this.high) };
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

  // A drawing that all but fits is made to; a larger one keeps its size, so that it can be read.
  show(drawing) {
    this.drawing = drawing;
    const box = drawing.viewBox?.baseVal;
    [this.wide, this.high] = [box?.width || 1, box?.height || 1];
    const across = this.canvas.clientWidth / this.wide;
    this.zoom(across > 0.75 ? Math.min(1, across) : 1);
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
