// The plane by keys: arrows choose a point, Enter takes it, arrows move it, Enter lets it go.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function wireKeyboard(app) {
  byId("plane").addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : actionOf(app, event);
    if (!act) return;
    event.preventDefault();
    act();
    app.redraw();
  });
  byId("plane").addEventListener("blur", () => { app.grabbed = false; });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    byId(event.shiftKey ? "redo" : "undo").click();
  });
}

function actionOf(app, event) {
  const arrow = ARROWS[event.key], { chosen } = app;
  if (arrow) return () => (app.grabbed && chosen !== null ? shift(app, arrow, event.shiftKey ? 10 : 1) : chooseTowards(app, arrow));
  if (event.key === "Enter" || event.key === " ") return () => grab(app);
  if (event.key === "Escape" && chosen !== null) return () => { app.grabbed ? (app.grabbed = false) : (app.chosen = null); app.say("Let go."); };
  if ((event.key === "Delete" || event.key === "Backspace") && chosen !== null) return () => { app.keep(); app.remove([chosen]); app.say(`Removed point ${chosen + 1}.`); };
  if (event.key === "a" || event.key === "Insert") return () => addByKey(app);
  const label = Number(event.key) - 1;
  if (chosen !== null && label >= 0 && label < CLASS_NAMES.length) return () => { app.keep(); app.paint([chosen], label); app.say(`Point ${chosen + 1} is ${CLASS_NAMES[label]}.`); };
  return null;
}

/** The nearest point in this direction, seen within a quarter turn; without a chosen one, the one nearest to the middle. */
function chooseTowards(app, [dx, dy]) {
  const { points, view } = app.doc;
  if (!points.length) { app.say("There are no points. Press a to add one."); return; }
  const [x, y] = points[app.chosen] ?? [view.x, view.y];
  let found = null, least = Infinity;
  points.forEach(([px, py], i) => {
    if (i === app.chosen) return;
    const along = (px - x) * dx + (py - y) * dy, across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (app.chosen !== null && (along < 0 || across > along || (along === 0 && i < app.chosen))) return;
    const cost = along * along + 2 * across * across;
    if (cost < least) { least = cost; found = i; }
  });
  if (found !== null) app.chosen = found;
  tellChosen(app, found === null ? "No point lies farther in this direction. " : "");
}

function tellChosen(app, before = "") {
  const i = app.chosen;
  if (i === null) return;
  const [x, y] = app.doc.points[i];
  app.say(`${before}Point ${i + 1} of ${app.doc.points.length}, ${CLASS_NAMES[app.doc.classes[i]]}, at ${figure(x)}, ${figure(y)}.${app.grabbed ? " Arrows move it, Enter lets it go." : ""}`);
}

function grab(app) {
  if (app.chosen === null) { chooseTowards(app, [1, 0]); return; }
  app.grabbed = !app.grabbed;
  if (app.grabbed) { app.keep(); tellChosen(app); } else app.say("Let go.");
}

function shift(app, [dx, dy], times) {
  const step = app.doc.view.half / 100 * times, [x, y] = app.doc.points[app.chosen];
  app.move(app.chosen, [x + dx * step, y + dy * step]);
}

function addByKey(app) {
  const { view, points } = app.doc, [x, y] = points[app.chosen] ?? [view.x, view.y];
  app.keep();
  if (!app.add([x + view.half / 20, y + view.half / 20])) return;
  app.chosen = app.doc.points.length - 1;
  app.grabbed = true;
  tellChosen(app);
}
