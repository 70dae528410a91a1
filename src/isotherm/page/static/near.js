// The neighbourhood: the node in the middle, its neighbours around it, and paths to its strongest seeds above.
import { fill, make } from "./dom.js";

const FONT = 11;
const SIZE = { width: 280, height: 190 }; // of the picture in pixels, as it is drawn now
const NAMED_UP_TO = 16; // neighbours whose names are shown

export function drawNear(svg, { nodes, links, paths }, { colour, select }) {
  Object.assign(SIZE, { width: svg.clientWidth || 280, height: svg.clientHeight || 190 });
  svg.setAttribute("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`);
  const spots = places(nodes, paths);
  const strong = new Set(paths.flatMap((path) => path.slice(1).map((id, at) => `${path[at]} ${id}`)));
  const lines = links.map(([a, b]) => {
    const [[x1, y1], [x2, y2]] = [spots.get(a), spots.get(b)];
    return make("line", { x1, y1, x2, y2, class: strong.has(`${a} ${b}`) ? "path" : "" });
  });
  const dots = nodes.map((each, at) => {
    const [cx, cy] = spots.get(each.id);
    const name = each.name.slice(0, 200);
    return make("circle", {
      cx, cy, r: at ? 4 : 6.5, fill: colour(each), onclick: () => select(each.id), onkeydown: (event) => go(event, dots, at),
      role: "button", tabindex: at ? -1 : 0, "aria-label": each.label === null ? name : `${name}, ${each.label}`,
    }, make("title", {}, name));
  });
  fill(svg, ...lines, ...dots, ...names(nodes, paths, spots));
}

// Keyboard: Tab reaches one node, arrow keys move to the next or the previous one, Enter selects.
function go(event, dots, at) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step) {
    const next = dots[(at + step + dots.length) % dots.length];
    for (const dot of dots) dot.setAttribute("tabindex", dot === next ? 0 : -1);
    next.focus();
  } else if (event.key === "Enter") event.target.dispatchEvent(new MouseEvent("click"));
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// Where each node goes: paths are rays upwards, other neighbours are on one or two arcs below.
function places(nodes, paths) {
  const [x, y] = [SIZE.width / 2, SIZE.height / 2], unit = Math.min(x, y) / 100, wider = Math.max(1, Math.min(2.2, 0.9 * x / y));
  const spots = new Map([[nodes[0].id, [x, y]]]);
  const put = (id, far, angle) => spots.set(id, [x + wider * unit * far * Math.cos(angle), y + unit * far * Math.sin(angle)]);
  paths.forEach((path, p) => {
    const angle = -Math.PI / 2 + (p - (paths.length - 1) / 2) * 0.9, step = Math.min(32, 88 / Math.max(1, path.length - 1));
    path.forEach((id, at) => { if (!spots.has(id)) put(id, step * at, angle); });
  });
  const rest = nodes.filter((each) => !spots.has(each.id)), wide = rest.length > 16;
  rest.forEach((each, at) => {
    const turn = paths.length ? 4.2 : 2 * Math.PI * (1 - 1 / Math.max(2, rest.length));
    put(each.id, wide ? (at % 2 ? 82 : 56) : 66, Math.PI / 2 + (at - (rest.length - 1) / 2) * Math.min(0.5, turn / rest.length));
  });
  return spots;
}

// Names next to their nodes, where they cover no other name and no node; a name without such a place is left out.
function names(nodes, paths, spots) {
  const known = new Map(nodes.map((each) => [each.id, each.name]));
  const others = nodes.length - 1 - new Set(paths.flat()).size <= NAMED_UP_TO ? nodes.map((each) => each.id) : [];
  const order = new Set([nodes[0].id, ...paths.map((path) => path.at(-1)), ...paths.flat(), ...others].filter((id) => known.has(id)));
  const taken = [...spots.values()].map(([x, y]) => [x - 4, y - 4, x + 4, y + 4]);
  const short = Math.round(SIZE.width / 15); // characters of a name that are shown
  return [...order].flatMap((id) => {
    const name = known.get(id), text = name.length > short ? name.slice(0, short - 1) + "…" : name;
    const place = freePlace(spots.get(id), width(text), taken);
    if (!place) return [];
    taken.push(place.box);
    return [make("text", { x: place.box[0], y: place.box[3] - 2 }, text)];
  });
}

// The first of six places around a node where a name of this width is inside the picture and covers nothing.
function freePlace([x, y], wide, taken) {
  const high = FONT + 2, away = 8;
  const corners = [
    [x - wide / 2, y - away - high], [x - wide / 2, y + away], [x + away, y - high / 2], [x - away - wide, y - high / 2],
    [x + 4, y - away - high + 3], [x - 4 - wide, y - away - high + 3],
  ];
  for (const [left, top] of corners) {
    const box = [left, top, left + wide, top + high];
    const inside = left >= 1 && top >= 1 && box[2] <= SIZE.width - 1 && box[3] <= SIZE.height - 1;
    if (inside && !taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return { box };
  }
  return null;
}

const pen = document.createElement("canvas").getContext("2d");

function width(text) {
  pen.font = `${FONT}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width + 1;
}
