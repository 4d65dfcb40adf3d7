// The values of the row that is pointed at, beside its point.
const MOST_VALUES = 12;

class Tip {
  constructor(board) {
    this.board = board;
    this.element = make("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
  }

  // `aloud` is for those who do not see it.
  async show(panel, row, place, aloud) {
    const { board } = this;
    this.wanted = row;
    if (row < 0 || !place) this.hide();
    if (row < 0 || !(place || aloud)) return;
    await board.details();
    if (this.wanted !== row) return;
    const [cells, heads] = [board.cells(row), board.heads()];
    const told = board.told(panel);
    const pairs = told.slice(0, MOST_VALUES).flatMap((i) => [make("dt", {}, own(heads[i], 40)), make("dd", {}, own(cells[i], 80))]);
    this.element.replaceChildren(make("dl", {}, ...pairs));
    if (place) this.put(panel, place);
    if (aloud) board.say(told.map((i) => `${seen(heads[i])} ${seen(cells[i])}`).join(", "));
  }

  // Beside the place, and within the panel.
  put(panel, [x, y]) {
    this.element.hidden = false;
    panel.element.querySelector(".map-stack").append(this.element);
    const [width, height] = [this.element.offsetWidth, this.element.offsetHeight];
    const left = x + 14 + width > panel.width ? x - 14 - width : x + 14;
    const top = Math.min(Math.max(0, y - height / 2), Math.max(0, panel.height - height));
    this.element.style.transform = `translate(${Math.max(0, left)}px, ${top}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}
