// Small helpers. Names of nodes and classes only ever become text, never markup.
import { SHAPES } from "./colours.js";

export const $ = (id) => document.getElementById(id);

// An element with properties and children; children are elements or text.
export function make(tag, properties = {}, ...children) {
  const element = tag === "svg" || tag in { circle: 1, line: 1, path: 1, polyline: 1, text: 1, title: 1 }
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Replace the children of an element. The keyboard focus moves to the child with the same name, or the same place.
export function fill(element, ...children) {
  const stops = () => [...element.querySelectorAll("button, [tabindex]")], name = (each) => each.getAttribute("aria-label") ?? each.textContent;
  const before = stops(), at = before.indexOf(document.activeElement);
  element.replaceChildren(...children);
  if (at < 0) return;
  const now = stops();
  (now.find((each) => name(each) === name(before[at])) ?? now[Math.min(at, now.length - 1)])?.focus();
}

export const percent = (share) => `${share >= 0.0995 || share === 0 ? Math.round(100 * share) : (100 * share).toFixed(1)}\u00a0%`;

export const many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

// Set the text of an element; its direction follows its first letter, for scripts that run from right to left.
export const named = (text, className = "name") => make("bdi", { class: className, title: text.slice(0, 300) }, text);

// The mark of a class: its shape in its colour.
export const mark = (palette, code, confidence = 1) => make("svg", { class: "mark", viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true" },
  make("path", { d: SHAPES[palette.shape(code)], fill: palette.of(code, confidence) }));

// Tabs: `titles` by id, of which one is selected; arrow keys go from one to the next.
export function tabs(element, titles, selected, choose) {
  const ids = Object.keys(titles);
  fill(element, ...ids.map((id, at) => make("button", {
    type: "button", role: "tab", id: `tab-${id}`, "aria-selected": id === selected, tabindex: id === selected ? 0 : -1, onclick: () => choose(id),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      choose(ids[(at + step + ids.length) % ids.length]);
      element.querySelector('[aria-selected="true"]').focus();
    },
  }, titles[id])));
}

export class Lost extends Error {}

export async function ask(path, said) {
  const options = said === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said),
  };
  const answer = await fetch(path, options).catch(() => { throw new Lost("the server does not answer"); });
  const type = answer.headers.get("content-type") || "";
  const content = type.includes("json") ? await answer.json() : await answer.arrayBuffer();
  if (!answer.ok) throw new Error((content && content.error) || `the server said ${answer.status}`);
  return content;
}
