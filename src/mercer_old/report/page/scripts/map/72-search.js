// Rows by their names and by the names of their categories.
const MOST_FOUND = 8;

class Search {
  constructor(board) {
    this.board = board;
    this.input = make("input", {
      type: "search", placeholder: "Search", "aria-label": "Search rows and categories",
      oninput: () => this.later(), onkeydown: (event) => this.key(event),
    });
    this.list = make("ul", { class: "map-found", "aria-label": "Found" });
    this.element = make("div", { class: "map-search", role: "search" }, this.input, this.list);
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget)) this.list.replaceChildren();
    });
  }

  // One search at a time, of the last that was typed.
  async later() {
    const asked = this.input.value;
    const found = await this.find(asked);
    if (asked === this.input.value) this.show(found);
  }

  async find(text) {
    const wanted = folded(text.trim());
    if (!wanted) return [];
    const found = [];
    for (const [i, column] of this.board.cloud.columns.entries()) {
      if (column.kind === "category") found.push(...(await this.categories(i, wanted)));
    }
    return [...found.slice(0, MOST_FOUND), ...(await this.rows(wanted))];
  }

  async categories(i, wanted) {
    const { cloud } = this.board;
    const [names, sizes, codes] = await Promise.all([cloud.names(i), cloud.sizes(i), cloud.codes(i)]);
    const found = [];
    names.forEach((name, code) => {
      if (folded(name).includes(wanted)) found.push({ name, code });
    });
    found.sort((one, other) => rank(one.name, wanted) - rank(other.name, wanted) || one.code - other.code);
    return found.slice(0, MOST_FOUND).map(({ name, code }) => ({
      name, about: `${seen(cloud.columns[i].name)}, ${counted(sizes[code], "row")}`,
      rows: () => rowsOf(Uint8Array.from(codes, (other) => other === code)),
    }));
  }

  async rows(wanted) {
    const { cloud } = this.board;
    const ids = await cloud.ids();
    const found = [];
    if (ids) ids.forEach((id, row) => folded(id).includes(wanted) && found.push(row));
    else if (/^\d+$/.test(wanted) && Number(wanted) < cloud.count) found.push(Number(wanted));
    if (!found.length) return [];
    const name = (row) => (ids ? ids[row] : `row ${row}`);
    const best = [...found].sort((one, other) => rank(name(one), wanted) - rank(name(other), wanted) || one - other);
    const each = best.slice(0, MOST_FOUND).map((row) => ({ name: name(row), about: `row ${row}`, rows: () => [row], row }));
    const all = { name: `All ${counted(found.length, "row")} with this in their names`, about: "", rows: () => found };
    return found.length > 1 ? [all, ...each] : each;
  }

  show(found) {
    const lines = found.map((one) =>
      make("li", {}, make("button", { type: "button", onclick: () => this.take(one) }, own(one.name, 60), " ",
        make("span", { class: "map-quiet" }, one.about))));
    const nothing = this.input.value.trim() && !lines.length;
    this.found = found;
    this.list.replaceChildren(...lines, ...(nothing ? [make("li", { class: "map-quiet" }, "Nothing found.")] : []));
    this.board.say(nothing ? "Nothing found." : lines.length ? `${counted(lines.length, "suggestion")}.` : "");
  }

  take(one) {
    this.list.replaceChildren();
    const rows = one.rows();
    this.board.selection.choose(rows, seen(one.name));
    this.board.lookAt(rows);
  }

  async key(event) {
    if (event.key === "Escape") this.list.replaceChildren();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const found = await this.find(this.input.value);
    if (found.length) this.take(found[0]);
    else this.show([]);
  }
}

// What begins with the words comes before what has them inside.
function rank(name, wanted) {
  const text = folded(name);
  return text === wanted ? 0 : text.startsWith(wanted) ? 1 : 2;
}
