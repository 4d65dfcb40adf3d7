// A cloud as the page holds it, unpacked when asked for.
const NO_PLACE = 65535;

class Cloud {
  constructor(record) {
    this.count = record.count;
    this.axes = record.axes;
    this.columns = record.columns;
    this.color = record.color;
    this.arrows = record.arrows;
    this.views = record.views;
    this.named = record.ids !== "";
    this.packedIds = record.ids;
    this.held = new Map();
  }

  // Unpacked once, and kept.
  once(key, unpack) {
    if (!this.held.has(key)) this.held.set(key, unpack());
    return this.held.get(key);
  }

  axis(i) {
    return this.once(`axis ${i}`, () => unpackNumbers(this.axes[i].codes, 2));
  }

  codes(i) {
    return this.once(`codes ${i}`, () => unpackNumbers(this.columns[i].codes, this.columns[i].width, this.columns[i].kind));
  }

  names(i) {
    return this.once(`names ${i}`, () => unpackList(this.columns[i].names));
  }

  ids() {
    return this.once("ids", async () => (this.named ? unpackList(this.packedIds) : null));
  }

  // How many rows each category has; the last place counts those without one.
  sizes(i) {
    return this.once(`sizes ${i}`, async () => {
      const codes = await this.codes(i);
      const count = this.columns[i].n_names;
      const sizes = new Uint32Array(count + 1);
      for (let row = 0; row < codes.length; row++) sizes[Math.min(codes[row], count)]++;
      return sizes;
    });
  }

  columnNamed(name) {
    return this.columns.findIndex((column) => column.name === name);
  }
}

// The number that a code of an axis, or of a column of numbers, stands for.
function valueOf(part, code) {
  if (part.width === 4) return code;
  return code === NO_PLACE ? NaN : part.low + code * part.step;
}

// The same, with as many digits as four bytes hold.
function toldOf(part, code) {
  return part.width === 4 ? Number(code.toPrecision(7)) : valueOf(part, code);
}

// Whole numbers are told whole: they may be names, years, amounts.
function isWhole(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e15;
}

function cellOf(value) {
  return isWhole(value) ? String(value).replace("-", "−") : figure(value);
}
