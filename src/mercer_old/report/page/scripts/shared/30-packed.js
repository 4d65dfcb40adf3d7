// Packed texts: base64 of what zlib deflated; numbers lie with bytes of one place beside each other, the highest first.
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length);
  for (let i = 0; i < signs.length; i++) bytes[i] = signs.charCodeAt(i);
  return bytes;
}

async function inflated(text) {
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackList(text) {
  return JSON.parse(new TextDecoder().decode(await inflated(text)));
}

async function unpackNumbers(text, width, kind) {
  const planes = await inflated(text);
  const count = planes.length / width;
  if (width === 1) return planes;
  if (width === 2) {
    const out = new Uint16Array(count);
    for (let i = 0; i < count; i++) out[i] = (planes[i] << 8) | planes[count + i];
    return out;
  }
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    out[i] = (planes[i] << 24) | (planes[count + i] << 16) | (planes[2 * count + i] << 8) | planes[3 * count + i];
  }
  return kind === "number" ? new Float32Array(out.buffer) : out;
}
