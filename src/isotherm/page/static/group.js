// Many nodes at once: selected by a box or a lasso on the map, in a list, or proposed; and labelled in one step.
import { $, ask, fill, make, many, mark, named, percent } from "./dom.js";

const LISTED = 100;

export class Group {
  constructor(page) {
    this.page = page;
    this.tool = null;
    for (const tool of ["box", "lasso"]) $(tool).onclick = () => this.use(this.tool === tool ? null : tool);
    $("map").addEventListener("mousedown", (event) => this.begin(event), true);
  }

  use(tool) {
    this.tool = tool;
    for (const each of ["box", "lasso"]) $(each).setAttribute("aria-pressed", each === tool);
    $("map").style.cursor = tool ? "crosshair" : "";
  }

  // Follow the mouse from here on, and select what is inside at the end.
  begin(event) {
    const tool = this.tool ?? (event.shiftKey ? "box" : event.altKey ? "lasso" : null), { map } = this.page;
    if (!tool || !map.sigma || event.button) return;
    event.stopPropagation();
    event.preventDefault();
    document.activeElement?.blur(); // what was typed is kept
    const place = $("map").getBoundingClientRect(), at = ({ clientX, clientY }) => [clientX - place.left, clientY - place.top];
    const first = at(event), path = [first];
    const follow = (moved) => {
      const [x, y] = at(moved);
      if (tool === "lasso") path.push([x, y]);
      else path.splice(1, path.length, [x, first[1]], [x, y], [first[0], y]);
      map.outline = path;
      map.annotateSoon();
    };
    const end = () => {
      removeEventListener("mousemove", follow, true);
      const noClick = (click) => click.stopPropagation(); // the click that ends the drag would select one node
      addEventListener("click", noClick, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", noClick, true));
      map.outline = null;
      this.use(null);
      if (path.length > 2) this.page.choose(map.inside(path));
      map.annotateSoon();
    };
    addEventListener("mousemove", follow, true);
    addEventListener("mouseup", end, { capture: true, once: true });
  }

  // The nodes that a label would be given to: those without one.
  get open() {
    const { map, group } = this.page;
    return group.filter((i) => map.levels[i] !== 255);
  }

  async show() {
    const { page } = this, { group, proposal, state } = page, { open } = this;
    const sizes = new Map();
    for (const i of group) sizes.set(page.map.codes[i] - 1, (sizes.get(page.map.codes[i] - 1) ?? 0) + 1);
    const parts = [...sizes].sort((one, other) => other[1] - one[1]).slice(0, 5).map(([code, count]) => `${count.toLocaleString("en")} ${code < 0 ? "without a label" : state.classes[code].name}`);
    $("many-title").textContent = proposal === null ? `${many(group.length, "node")} selected` : `Are these ${many(group.length, "node")} all ${proposal}?`;
    $("many-note").textContent = `Now ${parts.join(", ")}.${open.length < group.length ? ` ${many(group.length - open.length, "seed")} among them keep their labels.` : ""}`;
    fill($("many-confirm"), ...(proposal === null ? [] : [make("button", { type: "button", onclick: () => page.label(proposal) }, make("kbd", {}, "Enter"), ` label ${many(open.length, "node")} ${proposal}`)]));
    fill($("many-choices"), ...state.order.slice(0, 30).map((code) => page.choice(code, false)));
    const rows = await ask(`api/briefs?ids=${group.slice(0, LISTED)}`);
    if (page.group !== group) return;
    fill($("many-list"), ...rows.map((node) => make("li", { class: "line" },
      make("button", { class: "row", type: "button", onclick: () => page.select(node.id, false) }, mark(page.palette, node.class, node.confidence), named(node.name), make("span", { class: "number" }, node.label === null || !state.calibrated ? node.label ?? "" : percent(node.confidence))),
      make("button", { class: "small", type: "button", "aria-label": `Leave out ${node.name}`, onclick: () => page.choose(page.group.filter((each) => each !== node.id), page.proposal) }, "×"))),
    ...(group.length > LISTED ? [make("li", { class: "quiet" }, `and ${many(group.length - LISTED, "more node")}`)] : []));
  }
}
