// What colours mean; each line chooses its rows.
const MOST_LINES = 12;
const BINS = 5;

class Legend {
  constructor(board) {
    this.board = board;
    this.list = make("ul", { class: "map-lines" });
    this.title = make("p", { class: "map-legend-title" });
    this.filter = make("input", {
      type: "search", class: "map-filter", placeholder: "Filter names", "aria-label": "Filter the names of the legend",
      oninput: () => this.fill(),
    });
    this.more = make("p", { class: "map-more" });
    this.element = make("div", { class: "map-legend", role: "group", "aria-label": "Legend" }, this.title, this.filter, this.list, this.more);
  }

  async show(color) {
    this.color = color;
    this.element.hidden = color < 0;
    if (color < 0) return;
    const column = this.board.cloud.columns[color];
    this.title.replaceChildren(own(column.name, 60));
    const codes = await this.board.cloud.codes(color);
    const lines = column.kind === "category" ? await this.categories(column, color) : this.bins(column, codes);
    if (this.color !== color) return; // another column was asked for meanwhile
    Object.assign(this, { codes, lines });
    this.filter.hidden = this.lines.length <= MOST_LINES;
    this.filter.value = "";
    this.fill();
  }

  async categories(column, color) {
    const { cloud, colours, look } = this.board;
    const [names, sizes] = await Promise.all([cloud.names(color), cloud.sizes(color)]);
    const palette = colours.palette(color);
    const lines = names.map((name, code) => ({
      name, size: sizes[code], color: palette[code] ?? look.grey, has: (other) => other === code,
    }));
    return [...lines, ...this.missing(sizes[names.length], (code) => code >= column.n_names)];
  }

  // Numbers in a few steps of equal width.
  bins(column, codes) {
    const { colours } = this.board;
    const share = shareOf(column);
    const bin = (code) => Math.max(0, Math.min(BINS - 1, Math.floor(share(valueOf(column, code)) * BINS))); // rounding may lie below the lowest
    const sizes = new Uint32Array(BINS + 1);
    for (const code of codes) sizes[Number.isNaN(bin(code)) ? BINS : bin(code)]++;
    const places = Math.log10(Math.max(Math.abs(column.low), Math.abs(column.high)) / (column.high - column.low));
    const digits = Number.isFinite(places) ? Math.min(15, 3 + Math.max(0, Math.ceil(places))) : 3; // that tell edges apart
    const edge = (i) => figure(column.low * (1 - i / BINS) + column.high * (i / BINS), digits);
    const equal = !(column.high > column.low);
    const lines = Array.from({ length: BINS }, (_, i) => ({
      name: equal ? edge(0) : `${edge(i)} to ${edge(i + 1)}`, size: sizes[i],
      color: `rgb(${colours.along((i + 0.5) / BINS)})`, has: (code) => bin(code) === i,
    })).filter((line) => !equal || line.size);
    return [...lines, ...this.missing(sizes[BINS], (code) => Number.isNaN(valueOf(column, code)))];
  }

  missing(size, has) {
    return size ? [{ name: "missing", size, color: this.board.look.grey, has, quiet: true }] : [];
  }

  fill() {
    const wanted = folded(this.filter.value);
    const found = wanted ? this.lines.filter((line) => folded(line.name).includes(wanted)) : this.lines;
    const shown = found.slice(0, MOST_LINES);
    this.list.replaceChildren(...shown.map((line) => make("li", {}, this.button(line))));
    const rest = found.length - shown.length;
    const left = found.slice(MOST_LINES).reduce((sum, line) => sum + line.size, 0);
    this.more.textContent = rest ? `and ${rest.toLocaleString("en")} more with ${counted(left, "row")}` : found.length ? "" : "No such name.";
  }

  button(line) {
    const swatch = make("span", { class: "map-swatch", style: `background:${line.color}` });
    const size = make("span", { class: "map-size" }, line.size.toLocaleString("en"));
    const name = make("span", { class: line.quiet ? "map-name map-quiet" : "map-name" }, own(line.name, 80));
    return make("button", { type: "button", onclick: (event) => this.choose(line, event) }, swatch, name, size);
  }

  choose(line, event) {
    const mask = new Uint8Array(this.codes.length);
    for (let row = 0; row < mask.length; row++) if (line.has(this.codes[row])) mask[row] = 1;
    this.board.selection.choose(rowsOf(mask), seen(line.name), event.shiftKey || event.ctrlKey || event.metaKey);
  }
}

// For comparing: composed signs and small letters.
function folded(text) {
  return text.normalize("NFC").toLowerCase();
}
