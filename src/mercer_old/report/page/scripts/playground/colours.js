// Colours of the theme at hand, heat for fields, and marks for points: each class has its colour and its shape.

const CLASS_COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8F98"];
const CLASS_NAMES = ["blue", "orange", "green", "pink", "sky", "red", "grey"];
const HEAT = {
  light: ["#5a9bc9", "#a9cfe4", "#ffffff", "#f7b799", "#df7560"],
  dark: ["#7d9bf0", "#2f4d80", "#12161c", "#6b2f26", "#e08b86"],
};
const GLOW = { light: ["#ffffff", "#e9f4fb", "#b9dff5", "#86c8ee", "#56b4e9"], dark: ["#12161c", "#142838", "#1c4460", "#2b6a94", "#56b4e9"] };

/** What the style sheet says, and whether paper or a screen is to be drawn on. */
function themeNow() {
  const night = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
  const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue(name).trim();
  return { night, ink: value("--ink"), quiet: value("--quiet"), line: value("--line"), card: value("--card"), accent: value("--accent"), heat: ramp(HEAT[night ? "dark" : "light"]), glow: ramp(GLOW[night ? "dark" : "light"]) };
}

/** 256 colours that run through these, as bytes. */
function ramp(stops) {
  const colours = stops.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16))), out = new Uint8Array(768);
  for (let i = 0; i < 256; i++) {
    const place = i / 255 * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2), part = place - low;
    for (let c = 0; c < 3; c++) out[3 * i + c] = colours[low][c] + part * (colours[low + 1][c] - colours[low][c]);
  }
  return out;
}

/** A field as a small picture, symmetric about 0 unless it has no negative side. */
function heatPicture(picture, values, count, colours, symmetric) {
  let top = 0;
  for (const value of values) top = Math.max(top, Math.abs(value));
  if (picture.width !== count) picture.width = picture.height = count;
  const context = picture.getContext("2d"), image = context.createImageData(count, count);
  for (let i = 0; i < values.length; i++) {
    const part = top > 0 ? values[i] / top : 0, at = 3 * Math.round(255 * (symmetric ? (part + 1) / 2 : part));
    image.data[4 * i] = colours[at];
    image.data[4 * i + 1] = colours[at + 1];
    image.data[4 * i + 2] = colours[at + 2];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return top;
}

/** Where a field has this level, by marching squares: pieces of line, in units of the grid's cells. */
function contour(context, values, count, level, size) {
  const step = size / count, at = (r, c) => values[r * count + c] - level;
  const cut = (a, b) => a / (a - b);
  context.beginPath();
  for (let r = 0; r + 1 < count; r++) for (let c = 0; c + 1 < count; c++) {
    const a = at(r, c), b = at(r, c + 1), d = at(r + 1, c), e = at(r + 1, c + 1);
    if ((a < 0) === (b < 0) && (a < 0) === (d < 0) && (a < 0) === (e < 0)) continue;
    const ends = [];
    if ((a < 0) !== (b < 0)) ends.push([c + cut(a, b), r]);
    if ((b < 0) !== (e < 0)) ends.push([c + 1, r + cut(b, e)]);
    if ((d < 0) !== (e < 0)) ends.push([c + cut(d, e), r + 1]);
    if ((a < 0) !== (d < 0)) ends.push([c, r + cut(a, d)]);
    for (let i = 0; i + 1 < ends.length; i += 2) {
      context.moveTo((ends[i][0] + 0.5) * step, (ends[i][1] + 0.5) * step);
      context.lineTo((ends[i + 1][0] + 0.5) * step, (ends[i + 1][1] + 0.5) * step);
    }
  }
  context.stroke();
}

const stamps = new Map();

/** The mark of a class, drawn once for each size and theme. */
function stampOf(label, radius, ratio, theme) {
  const key = `${label} ${radius} ${ratio} ${theme.card}`;
  if (!stamps.has(key)) {
    const side = Math.ceil(2 * (radius + 2) * ratio), stamp = document.createElement("canvas");
    stamp.width = stamp.height = side;
    const context = stamp.getContext("2d");
    context.scale(ratio, ratio);
    context.translate(side / ratio / 2, side / ratio / 2);
    outlineOf(context, label, radius);
    context.fillStyle = CLASS_COLOURS[label];
    context.strokeStyle = theme.card;
    context.lineWidth = radius > 4 ? 1.2 : 0.7;
    context.fill();
    if (radius > 3) context.stroke(); // around many small marks, it would be all that is seen
    stamps.set(key, stamp);
  }
  return stamps.get(key);
}

const CORNERS = {
  1: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  2: [[0, -1.1], [1, 0.8], [-1, 0.8]],
  3: [[0, -1.15], [1.15, 0], [0, 1.15], [-1.15, 0]],
  4: [[0, 1.1], [1, -0.8], [-1, -0.8]],
  5: [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]],
  6: [[-1, -0.5], [-0.5, -1], [0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [-0.5, 1], [-1, 0.5], [-0.5, 0]],
};

function outlineOf(context, label, radius) {
  context.beginPath();
  if (!CORNERS[label]) context.arc(0, 0, radius, 0, 2 * Math.PI);
  else CORNERS[label].forEach(([x, y], i) => (i ? context.lineTo(x * radius, y * radius) : context.moveTo(x * radius, y * radius)));
  context.closePath();
}

/** A canvas with as many pixels as its place has, ready to be drawn on in units of the page. */
function fresh(canvas, theme) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2), width = canvas.clientWidth, height = canvas.clientHeight;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.card;
  context.fillRect(0, 0, width, height);
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  return { context, width, height, ratio };
}
