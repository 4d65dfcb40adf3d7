// Every section of the page comes alive; where it cannot, its picture and its table stay.
work(async () => {
  const sections = [...document.querySelectorAll("section.map")];
  if (!sections.length) return;
  const painter = new Painter();
  const boards = [];
  for (const element of sections) {
    try {
      boards.push(await enliven(element, painter));
    } catch (trouble) {
      stayStill(element, trouble);
    }
  }
  follow(boards, painter);
});

// Where a processor has to do the work of WebGL2, it is done sooner with many points without it.
const MANY = 200000;

function painterFor(cloud, painter) {
  return painter.works && !(painter.slow && cloud.count > MANY) ? painter : new PlainPainter();
}

async function enliven(element, painter) {
  if (typeof DecompressionStream === "undefined") throw new Error("the browser cannot unpack the rows");
  const { cloud, look } = readBlock(`${element.id}-cloud`);
  const board = new Board(element, cloud, look, painterFor(cloud, painter));
  board.recall();
  const live = element.querySelector(".map-live");
  live.append(...furnish(board));
  live.hidden = false;
  element.classList.add("map-alive");
  await board.arrange();
  element.dataset.drawn = board.painter instanceof Painter ? "webgl2" : "canvas";
  if (board.linkedRows.length) board.selection.choose(board.linkedRows, "by the link");
  setTimeout(() => board.details().then(() => board.drawWords()), 0); // names of rows are known from then on
  return board;
}

function stayStill(element, trouble) {
  element.classList.remove("map-alive");
  element.querySelector(".map-live").hidden = true;
  element.dataset.drawn = "picture";
  const said = element.querySelector(".map-trouble");
  said.textContent = `The map cannot move in this browser (${trouble.message}); its picture and the first rows are here.`;
  said.hidden = false;
}

// Sizes, themes and lost contexts: maps are drawn anew.
function follow(boards, painter) {
  const sizes = new ResizeObserver(() => boards.forEach((board) => board.resized()));
  for (const board of boards) sizes.observe(board.field);
  darkly.addEventListener("change", () => boards.forEach((board) => {
    board.theme = themeOf(board.element);
    board.refresh();
  }));
  addEventListener("scroll", () => boards.forEach((board) => (board.pointerMoved = false)), { passive: true });
  addEventListener("hashchange", () => {
    if (location.hash.includes("=") && boards.some(asksForOther)) location.reload();
  });
  painter.canvas.addEventListener("webglcontextlost", () => {
    const plain = new PlainPainter();
    for (const board of boards) {
      Object.assign(board, { painter: plain }).draw();
      board.element.dataset.drawn = "canvas";
    }
  });
}
