// What is seen, in the address behind #, so that a link shows the same: map.x=0&map.y=1&map.color=species&…
const MOST_ROWS = 500; // of a selection that a link can hold

function readState(key) {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = {};
  for (const [name, value] of given) if (name.startsWith(`${key}.`)) state[name.slice(key.length + 1)] = value;
  return state;
}

function writeState(key, state) {
  const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  for (const name of [...given.keys()]) if (name.startsWith(`${key}.`)) given.delete(name);
  for (const [name, value] of Object.entries(state)) if (value !== "") given.set(`${key}.${name}`, value);
  const hash = `#${given}`;
  if (hash === location.hash || (hash === "#" && !location.hash.includes("="))) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // A browser that does not let a file do this shows the map all the same.
  }
}

// Whether the address asks for something else than what is shown: somebody followed a link within the page.
function asksForOther(board) {
  const [asked, shown] = [readState(board.key), board.state()];
  return Object.entries(shown).some(([name, value]) => String(value) !== (asked[name] ?? ""));
}

// Rows as 3-7,12 and back.
function asRanges(rows) {
  const ranges = [];
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i];
    while (i + 1 < rows.length && rows[i + 1] === rows[i] + 1) i++;
    ranges.push(from === rows[i] ? `${from}` : `${from}-${rows[i]}`);
  }
  return ranges.join(",");
}

function fromRanges(text, count) {
  const rows = new Set();
  for (const range of text.split(",")) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    for (let row = Number(first); row <= Math.min(Number(last), count - 1); row++) {
      if (rows.size >= MOST_ROWS) return [...rows];
      rows.add(row);
    }
  }
  return [...rows];
}
