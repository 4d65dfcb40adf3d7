// The chosen rows as a table, page by page, and as a file.
const PAGE = 20;

class Table {
  constructor(board) {
    this.board = board;
    this.start = 0;
    this.said = make("p", { class: "map-chosen" });
    const turn = (pages) => () => this.turn(pages);
    this.back = make("button", { type: "button", onclick: turn(-1) }, "Previous");
    this.on = make("button", { type: "button", onclick: turn(1) }, "Next");
    this.csv = make("button", { type: "button", onclick: () => this.download() }, "Download CSV");
    this.none = make("button", { type: "button", onclick: () => board.selection.clear() }, "Choose nothing");
    this.head = make("thead");
    this.body = make("tbody");
    const table = make("table", { class: "figures" }, this.head, this.body);
    this.wide = make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "the chosen rows, scrolls sideways" }, table);
    const buttons = make("div", { class: "map-buttons" }, this.csv, this.none, this.back, this.on);
    this.element = make("div", { class: "map-table", hidden: true }, this.said, buttons, this.wide);
  }

  async show() {
    const { rows } = this.board.selection;
    this.start = 0;
    this.element.hidden = !rows.length;
    if (!rows.length) return;
    await this.board.details();
    const heads = this.board.heads().map((head) => make("th", { scope: "col" }, own(head, 40)));
    this.head.replaceChildren(make("tr", {}, ...heads));
    this.fill();
  }

  fill() {
    const { board, start } = this;
    const { rows } = board.selection;
    const shown = Array.from(rows.subarray(start, start + PAGE));
    this.body.replaceChildren(...shown.map((row) => make("tr", {}, ...board.cells(row).map((cell) => make("td", {}, own(cell, 80))))));
    const pages = rows.length > PAGE ? `, of which ${start + 1} to ${start + shown.length} are shown` : "";
    this.said.textContent = `${counted(rows.length, "row")} of ${board.cloud.count.toLocaleString("en")} chosen${pages}.`;
    this.back.disabled = start === 0;
    this.on.disabled = start + PAGE >= rows.length;
    this.back.hidden = this.on.hidden = rows.length <= PAGE;
  }

  turn(pages) {
    this.start = Math.max(0, this.start + pages * PAGE);
    this.fill();
    this.wide.focus();
  }

  async download() {
    await this.board.details();
    download(`${this.board.key}-rows.csv`, csvOf(this.board, this.board.selection.rows), "text/csv;charset=utf-8");
  }
}

// Lines as RFC 4180 has them. A text that a spreadsheet would take for a formula gets an apostrophe before it.
function csvOf(board, rows) {
  const lines = [board.heads().map(csvText).join(",")];
  for (const row of rows) {
    lines.push(board.values(row).map((cell) => (typeof cell === "number" ? csvNumber(cell) : csvText(cell))).join(","));
  }
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}

function csvText(text) {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvNumber(value) {
  return Number.isFinite(value) ? String(isWhole(value) ? value : Number(value.toPrecision(7))) : "";
}
