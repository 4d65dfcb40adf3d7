// The document as the part of the address behind #, and back. What comes in is a stranger's: all is checked.

const LIMITS = { gamma: [1e-12, 1e12], degree: [1, 6], coef0: [0, 100], neighbours: [1, 40], reg: [1e-9, 10] };
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function linkOf(doc) {
  const parts = new URLSearchParams({
    p: doc.preset, k: doc.params.kernel, g: doc.params.gamma, d: doc.params.degree, c: doc.params.coef0,
    n: doc.params.neighbours, r: doc.params.reg, s: doc.params.standardise ? 1 : 0, b: doc.backdrop, q: doc.pair,
    o: Object.keys(doc.shown).filter((name) => doc.shown[name]).join("."),
  });
  if (doc.edited) {
    parts.set("m", doc.decimals);
    parts.set("v", [doc.view.x, doc.view.y, doc.view.half].join("~"));
    parts.set("x", packed(doc));
  }
  return "#" + parts;
}

/** Each point as its class and two whole numbers, six bits a sign, the sixth for "there is more". */
function packed({ points, classes, decimals }) {
  const whole = (value) => (decimals >= 0 ? Math.round(value * 10 ** decimals) : Math.round(value / 10 ** -decimals));
  return points.map(([x, y], i) => [classes[i], zigzag(whole(x)), zigzag(whole(y))].map(asSigns).join("")).join("");
}

function zigzag(value) { return value < 0 ? -2 * value - 1 : 2 * value; }

function asSigns(value) {
  let text = "";
  do {
    const part = value % 32;
    value = Math.floor(value / 32);
    text += DIGITS[part + (value > 0 ? 32 : 0)];
  } while (value > 0);
  return text;
}

function unpacked(text, decimals) {
  const numbers = [];
  let value = 0, place = 1;
  for (const sign of text) {
    const part = DIGITS.indexOf(sign);
    if (part < 0 || place > 2 ** 45) return null;
    value += part % 32 * place;
    place *= 32;
    if (part < 32) { numbers.push(value); value = 0; place = 1; }
  }
  if (numbers.length % 3 || numbers.length > 3 * MOST_POINTS) return null;
  const back = (z) => rounded((z % 2 ? -(z + 1) / 2 : z / 2) / 10 ** decimals, decimals), points = [], classes = [];
  for (let i = 0; i < numbers.length; i += 3) {
    classes.push(Math.min(numbers[i], CLASS_COLOURS.length - 1));
    points.push([back(numbers[i + 1]), back(numbers[i + 2])]);
  }
  return { points, classes };
}

/** The document that an address means; null if it means none. */
function documentFrom(hash, presets) {
  const parts = new URLSearchParams(hash.replace(/^#/, "")), preset = presets.find(({ name }) => name === parts.get("p"));
  if (!preset) return null;
  const doc = documentOf(preset), number = (name) => (parts.has(name) && parts.get(name) !== "" ? Number(parts.get(name)) : NaN);
  for (const [key, name] of Object.entries({ gamma: "g", degree: "d", coef0: "c", neighbours: "n", reg: "r" })) {
    const value = number(name), [low, high] = LIMITS[key];
    if (value >= low && value <= high) doc.params[key] = key === "degree" || key === "neighbours" ? Math.round(value) : value;
  }
  if (Object.hasOwn(KERNELS, parts.get("k"))) doc.params.kernel = parts.get("k");
  if (parts.has("s")) doc.params.standardise = parts.get("s") === "1";
  if (parts.has("o")) for (const name of Object.keys(doc.shown)) doc.shown[name] = parts.get("o").split(".").includes(name);
  if (parts.has("b") && (parts.get("b") === "none" || Object.hasOwn(BACKDROPS, parts.get("b")))) doc.backdrop = parts.get("b");
  if (PAIRS[number("q")]) doc.pair = number("q");
  if (parts.has("x")) takePoints(doc, parts, number("m"));
  return doc;
}

function takePoints(doc, parts, decimals) {
  const view = (parts.get("v") || "").split("~").map(Number), whole = Number.isInteger(decimals) && Math.abs(decimals) <= 300;
  const held = whole ? unpacked(parts.get("x"), decimals) : null;
  if (!held || view.length !== 3 || !view.every(Number.isFinite) || !(view[2] > 0)) return;
  Object.assign(doc, held, { decimals, edited: true, view: { x: view[0], y: view[1], half: view[2] } });
}

/** x, y and class, one point a line. */
function csvOf({ points, classes }) {
  return ["x,y,class", ...points.map(([x, y], i) => `${x},${y},${CLASS_NAMES[classes[i]]}`)].join("\n") + "\n";
}

/** Numbers that neither sliders nor links reach, as the library refuses them. */
function refuseFar(points) {
  const columns = [0, 1].map((c) => points.map((point) => point[c])), size = Math.max(...columns.flat().map(Math.abs));
  const spread = Math.max(...columns.map((column) => Math.max(...column) - Math.min(...column)));
  if (size <= 1e6 && (spread === 0 || spread >= 1e-6 * Math.max(1, size))) return;
  throw new Error(`Coordinates of up to ${figure(size, 3)} with a spread of ${figure(spread, 3)} cannot be dragged: give them between 0.000001 and 1000000, around zero.`);
}

/** Lines of cells. Where semicolons or tabs part them, a comma stands for a decimal point. */
function cellsOf(text) {
  const parted = text.includes(";") ? ";" : text.includes("\t") ? "\t" : ",";
  const plain = (cell) => cell.trim().replace(/^"(.*)"$/, "$1");
  const cell = parted === "," ? plain : (given) => plain(given).replace(/^([-+]?\d*),(\d+)$/, "$1.$2");
  return text.split(/\r?\n/).map((line) => line.split(parted).map(cell)).filter((cells) => cells.some(Boolean));
}

/** Points of a table of two columns of numbers, perhaps with a third that names their classes. Throws a sentence. */
function pointsFrom(text) {
  const rows = cellsOf(text);
  const isPoint = ([x, y]) => x !== "" && y !== "" && Number.isFinite(Number(x)) && Number.isFinite(Number(y ?? NaN));
  const body = rows.length && !isPoint(rows[0]) ? rows.slice(1) : rows;
  const wrong = body.findIndex((cells) => !isPoint(cells));
  if (!body.length) throw new Error("There are no points in this file: give one a line, as x,y or x,y,class.");
  if (wrong >= 0) throw new Error(`Line ${wrong + 1 + rows.length - body.length} is no point: give two numbers, x,y.`);
  if (body.length > MOST_POINTS) throw new Error(`The file has ${body.length} points, and the page takes ${MOST_POINTS}.`);
  refuseFar(body.map(([x, y]) => [Number(x), Number(y)]));
  const names = [...new Set(body.map((cells) => cells[2] ?? ""))];
  const known = (name) => (CLASS_NAMES.includes(name) ? CLASS_NAMES.indexOf(name) : names.indexOf(name) % CLASS_COLOURS.length);
  return { points: body.map(([x, y]) => [Number(x), Number(y)]), classes: body.map((cells) => known(cells[2] ?? "")) };
}
