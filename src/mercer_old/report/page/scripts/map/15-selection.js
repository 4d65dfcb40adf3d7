// Which rows are chosen and which one is pointed at: one for all sections of the same link.
class Selection {
  static all = new Map();

  static of(link, count) {
    const key = `${count} ${link}`;
    if (!Selection.all.has(key)) Selection.all.set(key, new Selection(count));
    return Selection.all.get(key);
  }

  constructor(count) {
    this.mask = new Uint8Array(count);
    this.rows = new Uint32Array(0); // in their order
    this.pointed = -1;
    this.listeners = [];
  }

  get some() {
    return this.rows.length > 0;
  }

  // `how` is said to those who listen: "a lasso", "the rectangle".
  choose(rows, how, add = false) {
    if (!add) this.mask.fill(0);
    for (const row of rows) this.mask[row] = 1;
    this.gather(how);
  }

  toggle(row) {
    this.mask[row] ^= 1;
    this.gather(this.mask[row] ? `row ${row}` : `without row ${row}`);
  }

  clear() {
    this.mask.fill(0);
    this.gather("nothing");
  }

  gather(how) {
    this.rows = rowsOf(this.mask);
    for (const listen of this.listeners) listen.chosen(how);
  }

  point(row) {
    if (row === this.pointed) return;
    this.pointed = row;
    for (const listen of this.listeners) listen.pointed(row);
  }
}
