// Sliders, selections and buttons: each knows how it reads the document and how it writes it.

const SLIDERS = {
  gamma: { to: (value) => Math.round(100 * Math.log10(value)) / 100, from: (place) => Number((10 ** place).toPrecision(3)), show: (value) => figure(value, 3) },
  degree: { to: Number, from: Number, show: String },
  coef0: { to: Number, from: Number, show: (value) => figure(value, 3) },
  neighbours: { to: Number, from: Number, show: String },
  reg: { to: (value) => Math.round(10 * Math.log10(value)) / 10, from: (place) => Number((10 ** place).toPrecision(2)), show: (value) => figure(value, 2) },
};

function wireControls(app) {
  byId("preset").append(...app.presets.map(({ name, title }) => make("option", { value: name }, title)));
  byId("kernel").append(...Object.entries(KERNELS).map(([name, { title }]) => make("option", { value: name }, title)));
  byId("pair").append(...PAIRS.map(([a, b], i) => make("option", { value: i }, `f${"₁₂₃₄₅₆₇₈"[a]} and f${"₁₂₃₄₅₆₇₈"[b]}`)));
  makeSwatches(app);
  makeTiles(app);
  for (const name of Object.keys(SLIDERS)) wireSlider(app, name);
  wireChoices(app);
  wireButtons(app);
  app.refreshControls = () => refresh(app);
  app.refreshControls();
}

function wireSlider(app, name) {
  const input = byId(name);
  let kept = false;
  input.addEventListener("input", () => {
    if (!kept) { app.keep(); kept = true; }
    app.set(name, SLIDERS[name].from(Number(input.value)));
    showSlider(app, name);
  });
  input.addEventListener("change", () => { kept = false; });
}

function showSlider(app, name) {
  const value = app.doc.params[name], text = SLIDERS[name].show(value);
  setText(byId(`${name}-value`), name === "gamma" && app.doc.params.kernel === "rbf" ? `${text}, ℓ ${figure(1 / Math.sqrt(2 * value), 2)}` : text);
  byId(name).setAttribute("aria-valuetext", text);
}

function wireChoices(app) {
  byId("preset").addEventListener("change", (event) => { app.keep(); app.chosen = null; app.open(documentOf(app.presets.find(({ name }) => name === event.target.value))); });
  byId("kernel").addEventListener("change", (event) => { app.keep(); app.set("kernel", event.target.value); refresh(app); });
  byId("pair").addEventListener("change", (event) => { app.doc.pair = Number(event.target.value); app.changed(); });
  byId("standardise").addEventListener("change", (event) => { app.keep(); app.set("standardise", event.target.checked); });
  for (const name of ["axes", "feet", "graph"]) {
    byId(`show-${name}`).addEventListener("change", (event) => { app.doc.shown[name] = event.target.checked; app.changed(); });
  }
  for (const radio of document.querySelectorAll('input[name="tool"]')) {
    radio.addEventListener("change", () => { app.tool = radio.value; byId("plane").dataset.tool = radio.value; });
  }
}

function wireButtons(app) {
  const travel = (doc) => { if (doc) app.open(doc); };
  byId("undo").addEventListener("click", () => travel(app.steps.undo(app.doc)));
  byId("redo").addEventListener("click", () => travel(app.steps.redo(app.doc)));
  byId("reset").addEventListener("click", () => { app.keep(); app.open(documentOf(app.preset)); });
  byId("fit-view").addEventListener("click", () => { app.keep(); app.doc.view = viewOf(app.doc.points); app.doc.edited = true; app.changed(); });
  byId("save").addEventListener("click", () => download("points.csv", csvOf(app.doc), "text/csv"));
  byId("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) takeFile(app, await file.text());
  });
  byId("load").addEventListener("click", () => byId("file").click());
  byId("link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      app.say("The link to this very picture is in the clipboard.");
    } catch {
      app.say("The address of this page is the link to this very picture.");
    }
    setText(byId("readout"), byId("said").textContent);
  });
}

function takeFile(app, text) {
  try {
    const { points, classes } = pointsFrom(text), view = viewOf(points), decimals = decimalsFor(view.half);
    app.keep();
    app.open({ ...copyOf(app.doc), points: points.map((point) => point.map((value) => rounded(value, decimals))), classes, view, decimals, edited: true });
  } catch (error) {
    app.say(error.message);
    setText(byId("readout"), error.message);
  }
}

function makeSwatches(app) {
  byId("swatches").append(...CLASS_NAMES.map((name, label) => {
    const mark = make("canvas", { width: 20, height: 20, "aria-hidden": "true" });
    const input = make("input", { type: "radio", name: "swatch", value: label, id: `swatch-${label}`, onchange: () => { app.label = label; } });
    input.checked = label === app.label;
    return make("label", { class: "swatch", title: `${name} (${label + 1})` }, input, mark, make("span", { class: "unseen" }, name));
  }));
}

function makeTiles(app) {
  byId("tiles").append(...Object.entries(BACKDROPS).map(([name, { name: title, kind }]) => make(
    "button",
    {
      type: "button", class: `tile ${kind}`, id: `tile-${name}`, "aria-pressed": "false",
      onclick: () => { app.doc.backdrop = app.doc.backdrop === name ? "none" : name; app.changed(); },
    },
    make("canvas", { "aria-hidden": "true" }), make("span", { class: "tile-name" }, title), make("span", { class: "tile-value" }),
  )));
}

/** Everything that can be set shows what is set. */
function refresh(app) {
  const { doc } = app, { params } = doc, uses = KERNELS[params.kernel].uses;
  byId("preset").value = doc.preset;
  byId("kernel").value = params.kernel;
  byId("pair").value = doc.pair;
  byId("standardise").checked = params.standardise;
  setText(byId("formula"), KERNELS[params.kernel].formula);
  for (const name of ["axes", "feet", "graph"]) byId(`show-${name}`).checked = doc.shown[name];
  for (const name of Object.keys(SLIDERS)) { byId(name).value = SLIDERS[name].to(params[name]); showSlider(app, name); }
  for (const name of ["gamma", "degree", "coef0"]) byId(`${name}-row`).hidden = !uses.includes(name);
  showSteps(app);
}

function showSteps({ steps }) {
  byId("undo").disabled = !steps.back.length;
  byId("redo").disabled = !steps.forth.length;
}

/** The marks on the buttons of the colours, in the colours of the theme. */
function drawSwatches(theme) {
  for (const [label, swatch] of document.querySelectorAll(".swatch canvas").entries()) {
    const stamp = stampOf(label, 7, 2, theme), context = swatch.getContext("2d");
    swatch.width = swatch.height = 40;
    context.drawImage(stamp, 20 - stamp.width / 2, 20 - stamp.height / 2);
  }
}
