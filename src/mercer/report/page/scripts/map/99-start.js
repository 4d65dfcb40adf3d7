// Every section of the page comes alive; where it cannot, its picture and its table stay.
work(async () => {
  const sections = [...document.querySelectorAll("section.map")];
  if (!sections.length) return;
  const painter = new Painter();
  await Promise.all(sections.map((element) => enliven(element, painter)));
});

async function enliven(element, painter) {
  const { cloud: record, look } = readBlock(`${element.id}-cloud`);
  if (!painter.works || typeof DecompressionStream === "undefined") return;
  const cloud = new Cloud(record);
  const [x, y] = await Promise.all([cloud.axis(0), cloud.axis(1)]);
  const canvas = make("canvas", { class: "map-canvas", width: 720, height: 480 });
  const colors = new Uint8Array(4 * cloud.count).fill(120);
  const order = Uint32Array.from({ length: cloud.count }, (_, i) => i);
  painter.begin(720, 480);
  painter.points({ x, y, colors, order, count: cloud.count, place: [1.9, 1.9, -0.95, -0.95], size: 4, muted: [0, 0, 0, 0], opacity: 1 });
  painter.show(canvas.getContext("2d"), 720, 480);
  const live = element.querySelector(".map-live");
  live.append(canvas);
  live.hidden = false;
  element.querySelector(".map-picture").hidden = true;
}
