// Mouse, pen and finger on the plane and on the panels.

const REACH = { mouse: 14, pen: 18, touch: 28 };

function wirePointer(app) {
  const plane = byId("plane");
  const gesture = { app, plane, dragged: null, start: null, last: null };
  plane.addEventListener("pointerdown", (event) => begin(gesture, event));
  plane.addEventListener("pointermove", (event) => go(gesture, event));
  for (const name of ["pointerup", "pointercancel"]) plane.addEventListener(name, () => end(gesture));
  plane.addEventListener("pointerleave", () => { app.hovered = app.brush = null; app.redraw(); });
  plane.addEventListener("dblclick", (event) => {
    const at = placeOf(plane, event);
    if (app.tool !== "move" || nearestOf(app.places, at, REACH.mouse) !== null) return;
    app.keep();
    if (app.add(lens(app.doc.view, plane.clientWidth).from(...at))) app.chosen = app.doc.points.length - 1;
  });
  for (const name of ["pca", "kernel", "lle"]) wirePanel(app, name);
}

/** Who hovers over a panel sees the same point everywhere. */
function wirePanel(app, name) {
  const canvas = byId(`${name}-scores`), look = (event) => {
    app.hovered = nearestOf(app.panelPlaces[name] ?? [], placeOf(canvas, event), REACH[event.pointerType] ?? 14);
    app.redraw();
  };
  canvas.addEventListener("pointermove", look);
  canvas.addEventListener("pointerdown", (event) => { look(event); app.chosen = app.hovered; });
  canvas.addEventListener("pointerleave", () => { app.hovered = null; app.redraw(); });
}

function placeOf(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left - canvas.clientLeft, event.clientY - box.top - canvas.clientTop];
}

/** The number of the nearest of some places within reach; null if there is none. Of equally near ones the last, which lies on top. */
function nearestOf(places, [x, y], reach) {
  let found = null, least = reach * reach;
  places.forEach(([px, py], i) => {
    const square = (px - x) ** 2 + (py - y) ** 2;
    if (square <= least) { least = square; found = i; }
  });
  return found;
}

function within(places, [x, y], reach) {
  return places.flatMap(([px, py], i) => ((px - x) ** 2 + (py - y) ** 2 <= reach * reach ? [i] : []));
}

function begin(gesture, event) {
  const { app, plane } = gesture, at = placeOf(plane, event);
  if (event.button > 0) return;
  plane.focus({ preventScroll: true });
  plane.setPointerCapture(event.pointerId);
  app.holding = true;
  gesture.last = null;
  if (app.tool === "move") {
    const i = nearestOf(app.places, at, REACH[event.pointerType] ?? 14);
    app.chosen = i;
    app.grabbed = false;
    gesture.dragged = i === null ? null : { all: event.shiftKey, i, kept: false };
    gesture.start = at;
    gesture.from = app.doc.points.map((point) => [...point]);
    app.redraw();
    return;
  }
  app.keep();
  stroke(gesture, at, event);
}

function go(gesture, event) {
  const { app, plane } = gesture, at = placeOf(plane, event);
  if (!app.holding) {
    app.hovered = nearestOf(app.places, at, REACH[event.pointerType] ?? 14);
    app.brush = app.tool === "move" || app.tool === "add" || event.pointerType === "touch" ? null : { x: at[0], y: at[1], radius: REACH.mouse };
    plane.classList.toggle("over", app.hovered !== null);
    app.redraw();
    return;
  }
  if (app.tool === "move") drag(gesture, at);
  else stroke(gesture, at, event);
}

/** The chosen point follows the hand; with Shift, all of its colour. */
function drag({ app, plane, dragged, start, from }, at) {
  if (!dragged) return;
  if (!dragged.kept) {
    if (Math.hypot(at[0] - start[0], at[1] - start[1]) < 2) return;
    app.keep();
    dragged.kept = true;
  }
  const { scale } = lens(app.doc.view, plane.clientWidth), dx = (at[0] - start[0]) / scale, dy = (start[1] - at[1]) / scale;
  const moved = ([x, y]) => [x + dx, y + dy], { doc } = app;
  if (!dragged.all) { app.move(dragged.i, moved(from[dragged.i])); return; }
  doc.points.forEach((_, i) => { if (doc.classes[i] === doc.classes[dragged.i]) doc.points[i] = withinView(doc, moved(from[i])); });
  doc.edited = true;
  app.changed();
}

/** What adds, removes or paints goes on along a line. */
function stroke(gesture, at, event) {
  const { app, plane } = gesture, reach = event.pointerType === "touch" ? REACH.touch : REACH.mouse;
  if (app.tool === "add") {
    if (gesture.last && Math.hypot(at[0] - gesture.last[0], at[1] - gesture.last[1]) < 14) return;
    gesture.last = at;
    if (app.add(lens(app.doc.view, plane.clientWidth).from(...at))) app.places.push(at);
    return;
  }
  app.brush = { x: at[0], y: at[1], radius: reach };
  const under = within(app.places, at, reach);
  if (app.tool === "remove" && under.length) {
    app.remove(under);
    app.places = app.places.filter((_, i) => !under.includes(i));
  }
  if (app.tool === "paint") app.paint(under, app.label);
  app.redraw();
}

function end({ app, plane }) {
  app.holding = false;
  if (app.tool !== "add" && app.brush && !plane.matches(":hover")) app.brush = null;
  app.redraw();
}
