// Round numbers along both axes, and what the axes are.
function roundNumbers(from, to, most) {
  const rough = (to - from) / Math.max(most, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return { step: 0, values: [] };
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999) ?? 10 * power;
  const values = [];
  for (let i = Math.ceil(from / step); i <= Math.floor(to / step) && values.length < 100; i++) values.push(i * step);
  return { step, values };
}

function tickText(value, step) {
  const size = Math.abs(value);
  if (size < step / 1e6) return "0";
  if (size >= 1e6 || step < 1e-4) return figure(value, Math.min(15, Math.max(2, Math.ceil(Math.log10(size / step)) + 1)));
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
}

const TICK = 11; // pixels

function drawAxes(pen, panel, theme) {
  const { left, top, width, height } = panel.plot;
  const [from, high] = panel.valueAt(left, top);
  const [to, low] = panel.valueAt(left + width, top + height);
  const across = roundNumbers(from, to, Math.max(6, width / 90));
  const up = roundNumbers(low, high, Math.max(4, height / 60));
  const [right, bottom] = [left + width, top + height];
  let free = -Infinity; // from where on there is room for the next number
  for (const value of across.values) {
    const [x] = panel.placeOf(value, low);
    const [text, half] = [tickText(value, across.step), pen.width(tickText(value, across.step), TICK) / 2];
    pen.line([[x, bottom], [x, bottom + 4]], { color: theme.line });
    if (x - half < free) continue;
    pen.text(text, x, bottom + 14, { color: theme.quiet, size: TICK, align: "center" });
    free = x + half + 6;
  }
  for (const value of up.values) {
    const [, y] = panel.placeOf(from, value);
    pen.line([[left - 4, y], [left, y]], { color: theme.line });
    const text = tickText(value, up.step);
    const size = Math.min(TICK, (TICK * (left - 23)) / pen.width(text, TICK)); // a long number is small, and whole
    pen.text(text, left - 7, y, { color: theme.quiet, size, align: "right" });
  }
  pen.line([[left, top], [left, bottom], [right, bottom]], { color: theme.line });
  const name = (axis, room) => shortened(pen, seen(axis.name), room);
  pen.text(name(panel.axes[0], width), left + width / 2, bottom + 31, { color: theme.ink, align: "center" });
  pen.text(name(panel.axes[1], height), 9, top + height / 2, { color: theme.ink, align: "center", turned: true });
}

// Where both axes are zero, below the points.
function drawZeros(pen, panel, theme) {
  const { left, top, width, height } = panel.plot;
  const [x, y] = panel.placeOf(0, 0);
  if (x > left && x < left + width) pen.line([[x, top], [x, top + height]], { color: theme.line });
  if (y > top && y < top + height) pen.line([[left, y], [left + width, y]], { color: theme.line });
}

// A text that fits into a width.
function shortened(pen, text, room, size = 12) {
  if (pen.width(text, size) <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && pen.width(letters.join("") + "…", size) > room) letters.length = Math.floor(letters.length * 0.9);
  return letters.join("") + "…";
}
