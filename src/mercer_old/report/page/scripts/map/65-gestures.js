// Mouse, pen and fingers: one moves or draws, two zoom, a click chooses.
const CLICK = 5; // pixels a click may tremble

class Gestures {
  constructor(panel) {
    this.panel = panel;
    this.board = panel.board;
    this.pointers = new Map();
    const on = (name, handle, options) => panel.above.addEventListener(name, handle, options);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.cancel(event));
    on("pointerleave", (event) => this.leave(event));
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("dblclick", (event) => this.board.zoom(panel, event.shiftKey ? 0.5 : 2, ...this.place(event)));
  }

  place(event) {
    const box = this.panel.above.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button > 0) return;
    this.board.activate(this.panel);
    this.panel.above.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.place(event));
    this.start = this.place(event);
    this.dragged = false;
    if (this.pointers.size > 1) this.panel.drawn = null;
    else if (this.board.tool !== "move") this.panel.drawn = [this.start];
  }

  move(event) {
    const place = this.place(event);
    this.board.pointerMoved = true;
    if (!this.pointers.has(event.pointerId)) {
      this.board.pointAt(this.panel, this.panel.rowAt(...place), place);
      return;
    }
    const before = new Map(this.pointers);
    this.pointers.set(event.pointerId, place);
    if (Math.hypot(place[0] - this.start[0], place[1] - this.start[1]) > CLICK) this.dragged = true;
    if (this.pointers.size === 2) this.pinch(before);
    else if (this.board.tool === "move") this.drag(before.get(event.pointerId), place);
    else this.draw(event, place);
  }

  drag(before, place) {
    if (!this.dragged) return;
    this.panel.move(place[0] - before[0], place[1] - before[1]);
    this.board.moved(this.panel);
  }

  // Two fingers: what is between them stays between them.
  pinch(before) {
    const middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    const [old, now] = [[...before.values()], [...this.pointers.values()]];
    this.panel.move(middle(now)[0] - middle(old)[0], middle(now)[1] - middle(old)[1]);
    this.panel.zoomAt(apart(now) / apart(old), ...middle(now));
    this.board.moved(this.panel);
  }

  draw(event, place) {
    const { panel, board } = this;
    if (!panel.drawn) return;
    if (board.tool === "rectangle") {
      const [[a, b], [c, d]] = [this.start, place];
      panel.drawn = [[a, b], [c, b], [c, d], [a, d]];
    } else {
      for (const part of event.getCoalescedEvents?.() ?? [event]) panel.drawn.push(this.place(part));
    }
    drawAbove(panel);
  }

  up(event) {
    const { panel, board } = this;
    const one = this.pointers.size === 1;
    this.pointers.delete(event.pointerId);
    const line = panel.drawn;
    panel.drawn = null;
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    if (!one) return;
    if (!this.dragged) board.click(panel, panel.rowAt(...this.place(event), event.pointerType === "touch" ? 22 : 12), add);
    else if (line && line.length > 2) board.encircle(panel, line, add);
    drawAbove(panel);
  }

  cancel(event) {
    this.pointers.delete(event.pointerId);
    this.panel.drawn = null;
    drawAbove(this.panel);
  }

  // A finger leaves when it is lifted; what it has shown stays.
  leave(event) {
    this.board.pointerMoved = false;
    if (event.pointerType === "touch") return;
    if (!this.pointers.size) this.board.pointAt(this.panel, -1);
  }

  // The wheel belongs to the page while it scrolls, and to the map once the pointer has moved over it.
  wheel(event) {
    if (!this.board.pointerMoved && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.board.zoom(this.panel, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...this.place(event));
  }
}
