// Colours of points by a column, in the theme of whoever looks.
const darkly = matchMedia("(prefers-color-scheme: dark)");

function parts(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

class Colours {
  constructor(cloud, look) {
    this.cloud = cloud;
    this.look = look;
    this.held = new Map();
  }

  // Of categories: those with a colour of their own come first, all others share one.
  palette(i) {
    const count = this.cloud.columns[i].n_names;
    for (const colours of [this.look.few, this.look.ten]) if (count <= colours.length) return colours.slice(0, count);
    return this.look.first;
  }

  ramp() {
    return this.look.ramp[darkly.matches ? "dark" : "light"];
  }

  // The colour at a share of the way along the ramp.
  along(share) {
    const ramp = this.ramp();
    const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
    const i = Math.min(Math.floor(place), ramp.length - 2);
    const [from, to] = [parts(ramp[i]), parts(ramp[i + 1])];
    return from.map((part, j) => Math.round(part + (to[j] - part) * (place - i)));
  }

  // Red, green, blue and 255 for every row; −1 is no column.
  async of(i) {
    const key = `${i} ${darkly.matches}`;
    if (!this.held.has(key)) this.held.set(key, i < 0 ? this.alike() : await this.byColumn(i));
    return this.held.get(key);
  }

  alike() {
    const out = new Uint32Array(this.cloud.count).fill(asNumber(parts(this.look.plain)));
    return new Uint8Array(out.buffer);
  }

  async byColumn(i) {
    const column = this.cloud.columns[i];
    const codes = await this.cloud.codes(i);
    const out = new Uint32Array(codes.length);
    const [table, place] = column.kind === "category" ? this.ofCategories(i) : this.ofNumbers(column);
    for (let row = 0; row < codes.length; row++) out[row] = table[place(codes[row])];
    return new Uint8Array(out.buffer);
  }

  ofCategories(i) {
    const own = this.palette(i);
    const table = Uint32Array.from([...own, this.look.grey], (hex) => asNumber(parts(hex)));
    return [table, (code) => (code < own.length ? code : own.length)];
  }

  ofNumbers(column) {
    const table = new Uint32Array(258);
    for (let j = 0; j <= 256; j++) table[j] = asNumber(this.along(j / 256));
    table[257] = asNumber(parts(this.look.grey));
    const share = shareOf(column);
    return [table, (code) => {
      const at = share(valueOf(column, code));
      return Number.isFinite(at) ? Math.round(256 * at) : 257;
    }];
  }
}

// How far a number is on the way from the lowest to the highest; the middle if they are all equal.
function shareOf({ low, high }) {
  const half = high / 2 - low / 2;
  return half > 0 ? (value) => (value / 2 - low / 2) / half : (value) => (Number.isFinite(value) ? 0.5 : NaN);
}

function asNumber([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
