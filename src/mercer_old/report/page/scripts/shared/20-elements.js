// Elements are made with their attributes; texts become texts, never markup.
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Signs that nobody sees, or that turn a line around, are written out.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]/g;

function seen(text) {
  return String(text).replace(UNSEEN, (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));
}

// Not more than so many letters.
function brief(text, most) {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most).join("") + "…" : text;
}

// A text from data: it keeps its own direction.
function own(text, most = 200) {
  return make("bdi", {}, brief(seen(text), most));
}

function counted(count, one, many = one + "s") {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// Numbers as people write them, with so many digits.
function figure(value, digits = 4) {
  if (Number.isNaN(value)) return "missing";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

// A download that asks nobody but the browser.
function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
