// Small helpers. Names of nodes and classes only ever become text, never markup.

export const $ = (id) => document.getElementById(id);

// An element with properties and children; children are elements or text.
export function make(tag, properties = {}, ...children) {
  const element = tag === "svg" || tag in { circle: 1, line: 1, text: 1, title: 1 }
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Replace the children of an element. The keyboard focus moves to the child with the same text, or the same place.
export function fill(element, ...children) {
  const stops = () => [...element.querySelectorAll("button, [tabindex]")];
  const before = stops(), at = before.indexOf(document.activeElement);
  element.replaceChildren(...children);
  if (at < 0) return;
  const now = stops();
  (now.find((each) => each.textContent === before[at].textContent) ?? now[Math.min(at, now.length - 1)])?.focus();
}

export const percent = (share) => `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)}\u00a0%`;

export const many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

// Set the text of an element; its direction follows its first letter, for scripts that run from right to left.
export const named = (text, className = "name") => make("bdi", { class: className, title: text.slice(0, 300) }, text);

export async function ask(path, said) {
  const options = said === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said),
  };
  const answer = await fetch(path, options);
  const type = answer.headers.get("content-type") || "";
  const content = type.includes("json") ? await answer.json() : await answer.arrayBuffer();
  if (!answer.ok) throw new Error((content && content.error) || `the server said ${answer.status}`);
  return content;
}
