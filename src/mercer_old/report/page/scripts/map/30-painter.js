// One WebGL2 context draws all maps of the page: into a canvas that nobody sees, from which each map takes its picture.
const VERTEX = `#version 300 es
in float x; in float y; in vec4 color;
uniform vec4 place;  // scale and shift of both axes, from codes in 0…1 to the picture in −1…1
uniform float size; uniform vec4 muted; uniform float opacity;
out vec4 shade;
void main() {
  bool nowhere = x > 0.99999 || y > 0.99999;  // code 65535
  gl_Position = nowhere ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(x * place.x + place.z, y * place.y + place.w, 0.0, 1.0);
  gl_PointSize = size;
  shade = vec4(mix(color.rgb, muted.rgb, muted.a), opacity);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade; uniform float size; uniform vec4 edge;  // its colour, and its width in pixels
out vec4 pixel;
void main() {
  float inward = (0.5 - distance(gl_PointCoord, vec2(0.5))) * size;  // pixels from the rim
  float cover = size > 2.5 ? clamp(inward + 0.5, 0.0, 1.0) : 1.0;
  if (cover <= 0.0) discard;
  vec3 color = mix(shade.rgb, edge.rgb, edge.a > 0.0 ? clamp(edge.a - inward + 0.5, 0.0, 1.0) : 0.0);
  float alpha = shade.a * cover;
  pixel = vec4(color * alpha, alpha);
}`;

class Painter {
  constructor() {
    this.canvas = document.createElement("canvas");
    const wishes = { antialias: false, depth: false, stencil: false, premultipliedAlpha: true, preserveDrawingBuffer: true };
    this.gl = this.canvas.getContext("webgl2", wishes);
    this.works = Boolean(this.gl);
    if (!this.works) return;
    this.canvas.addEventListener("webglcontextlost", () => (this.works = false));
    this.program = this.link();
    this.slow = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(this.device());
    this.buffers = new Map();
  }

  link() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["x", "y", "color"].forEach((name, i) => gl.bindAttribLocation(program, i, name));
    gl.linkProgram(program);
    this.works = gl.getProgramParameter(program, gl.LINK_STATUS) === true;
    if (!this.works) return null;
    this.uniforms = Object.fromEntries(
      ["place", "size", "muted", "opacity", "edge"].map((name) => [name, gl.getUniformLocation(program, name)]),
    );
    return program;
  }

  device() {
    const told = this.gl.getExtension("WEBGL_debug_renderer_info");
    return String(this.gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : this.gl.RENDERER));
  }

  // An array on the device; the same array is sent once.
  buffer(array, target = this.gl.ARRAY_BUFFER) {
    const { gl } = this;
    if (!this.buffers.has(array)) {
      const made = gl.createBuffer();
      gl.bindBuffer(target, made);
      gl.bufferData(target, array, gl.STATIC_DRAW);
      this.buffers.set(array, made);
    }
    return this.buffers.get(array);
  }

  forget(array) {
    if (!this.works || !this.buffers.has(array)) return;
    this.gl.deleteBuffer(this.buffers.get(array));
    this.buffers.delete(array);
  }

  // Begin a picture of so many pixels.
  begin(width, height) {
    const { gl } = this;
    if (this.canvas.width < width || this.canvas.height < height) {
      this.canvas.width = Math.max(this.canvas.width, width);
      this.canvas.height = Math.max(this.canvas.height, height);
    }
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.program);
  }

  // Points of these rows (all if there is no list), as `style` says.
  points({ x, y, colors, order, count, place, size, muted, opacity, edge }) {
    const { gl, uniforms } = this;
    this.attribute(0, x, 1, gl.UNSIGNED_SHORT);
    this.attribute(1, y, 1, gl.UNSIGNED_SHORT);
    this.attribute(2, colors, 4, gl.UNSIGNED_BYTE);
    gl.uniform4fv(uniforms.place, place);
    gl.uniform1f(uniforms.size, size);
    gl.uniform4fv(uniforms.muted, muted);
    gl.uniform1f(uniforms.opacity, opacity);
    gl.uniform4fv(uniforms.edge, edge);
    const list = this.buffer(order, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, list);
    gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
  }

  attribute(place, array, parts, kind) {
    const { gl } = this;
    const made = this.buffer(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, parts, kind, true, 0, 0);
  }

  // Take the picture over to a canvas that people see.
  show(context, width, height, left = 0, top = 0) {
    context.drawImage(this.canvas, 0, this.canvas.height - height, width, height, left, top, width, height);
  }
}
