// Lines and words on a canvas or as SVG: axes, names and arrows are drawn once, for the screen and for a file.
class CanvasPen {
  constructor(context, theme) {
    this.context = context;
    this.theme = theme;
  }

  line(points, { color, width = 1, dash = [], closed = false, fill = null }) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (closed) context.closePath();
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    context.setLineDash(dash);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
  }

  width(text, size = 12, bold = false) {
    this.context.font = this.font(size, bold);
    return this.context.measureText(text).width;
  }

  font(size, bold) {
    return `${bold ? "600 " : ""}${size}px ${this.theme.font}`;
  }

  text(text, x, y, { color, size = 12, bold = false, align = "left", halo = null, turned = false }) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    if (turned) context.rotate(-Math.PI / 2);
    context.font = this.font(size, bold);
    context.textAlign = align;
    context.textBaseline = "middle";
    if (halo) {
      context.strokeStyle = halo;
      context.lineWidth = 3.5;
      context.lineJoin = "round";
      context.strokeText(text, 0, 0);
    }
    context.fillStyle = color;
    context.fillText(text, 0, 0);
    context.restore();
  }
}

const SVG = "http://www.w3.org/2000/svg";

class SvgPen {
  constructor(width, height, theme) {
    this.theme = theme;
    this.measuring = new CanvasPen(document.createElement("canvas").getContext("2d"), theme);
    this.root = this.add(null, "svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height });
    this.add(this.root, "rect", { width, height, fill: theme.paper });
  }

  add(parent, tag, attributes, text = "") {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) if (name !== "xmlns") made.setAttribute(name, value);
    made.textContent = text;
    if (parent) parent.append(made);
    return made;
  }

  line(points, { color, width = 1, dash = [], closed = false, fill = null }) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + (closed ? "Z" : "");
    const drawn = { d, stroke: color, "stroke-width": width, fill: fill ?? "none" };
    this.add(this.root, "path", dash.length ? { ...drawn, "stroke-dasharray": dash.join(" ") } : drawn);
  }

  width(text, size, bold) {
    return this.measuring.width(text, size, bold);
  }

  text(text, x, y, { color, size = 12, bold = false, align = "left", halo = null, turned = false }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const turn = turned ? " rotate(-90)" : "";
    const drawn = {
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})${turn}`, fill: color, "font-size": size,
      "font-family": this.theme.font, "text-anchor": anchor, "dominant-baseline": "central",
    };
    if (bold) drawn["font-weight"] = 600;
    if (halo) Object.assign(drawn, { stroke: halo, "stroke-width": 3.5, "stroke-linejoin": "round", "paint-order": "stroke" });
    this.add(this.root, "text", drawn, text);
  }

  toText() {
    return new XMLSerializer().serializeToString(this.root);
  }
}
