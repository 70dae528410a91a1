// The lists on the left: what to label next, the least certain nodes, and the last steps.
import { $, ask, fill, make, mark, named, percent, tabs } from "./dom.js";

const TITLES = { next: "Next", doubt: "Least certain", history: "History" };
const LONGEST = 30; // the longest list of uncertain nodes
const SEED = 255; // the shade of a seed

export class Lists {
  constructor(page) {
    this.page = page;
    this.tab = "next";
    this.uncertain = [];
    this.anchor = -1; // the node from which Shift selects
    this.sent = new Set(); // nodes whose answers are on their way to the server
  }

  // The nodes of the open list.
  get nodes() {
    const { state } = this.page;
    if (this.tab === "next") return state.suggestions;
    return this.tab === "doubt" ? this.uncertain : state.history.filter((step) => step.node).map((step) => step.node);
  }

  open(tab) {
    this.tab = tab;
    this.anchor = -1;
    this.draw();
    if (tab === "doubt") this.findUncertain();
  }

  draw() {
    const { state } = this.page, next = this.tab === "next";
    tabs($("tabs"), TITLES, this.tab, (tab) => this.open(tab));
    $("listed").setAttribute("aria-labelledby", `tab-${this.tab}`);
    const rows = this.tab === "history" ? state.history.map((step) => this.step(step)) : this.nodes.map((node, at) => this.row(node, at));
    fill($("list"), ...(rows.length ? rows : [make("li", { class: "quiet" }, next ? "Nothing is left to suggest." : "Nothing yet.")]));
    $("more").hidden = !next;
    $("skip").hidden = this.tab === "history";
    $("skip").disabled = !this.nodes.length || this.page.group.length > 0;
  }

  row(node, at) {
    const { page } = this, key = at < 10 ? String((at + 1) % 10) : "·";
    const guess = node.label !== null ? `${node.label}?` : page.state.fitted ? "not reached" : "";
    const chosen = node.id === page.selected || page.group.includes(node.id);
    return make("li", {}, make("button", { class: "row", type: "button", "aria-current": chosen, onclick: (event) => this.click(event, at) },
      make("kbd", {}, key), mark(page.palette, node.class, node.confidence), named(node.name), make("span", { class: "guess" }, this.tab === "doubt" && page.state.calibrated ? percent(node.confidence) : guess)));
  }

  // A step of the history; a click selects its node, to give it another label.
  step({ kind, label, other, count, node }) {
    const said = { label: label ?? "no label", unsure: "unsure", note: `note: ${label}`, rename: `${label} → ${other}`, delete: `${label} deleted`, order: "classes in another order" }[kind];
    const about = count > 1 ? `${count} nodes` : node?.name ?? "";
    return make("li", {}, make("button", { class: "row", type: "button", disabled: node ? null : "", "aria-current": node?.id === this.page.selected, onclick: () => this.page.select(node.id, false) },
      named(about), make("span", { class: "guess", title: said.slice(0, 200) }, said)));
  }

  // A click selects a node, with Shift all from the last one to it, with Ctrl one more.
  click(event, at) {
    const { nodes, page } = this, from = nodes.findIndex(({ id }) => id === this.anchor);
    if (event.shiftKey && from >= 0) {
      page.choose(nodes.slice(Math.min(at, from), Math.max(at, from) + 1).map((node) => node.id));
    } else if (event.ctrlKey || event.metaKey) {
      const before = page.group.length ? page.group : page.selected >= 0 ? [page.selected] : [], id = nodes[at].id;
      page.choose(before.includes(id) ? before.filter((each) => each !== id) : [...before, id]);
    } else page.select(nodes[at].id, false);
  }

  // The node to go on with after this one: the best suggestion, or the next of the uncertain ones; -1 if there is none.
  after(id) {
    const ids = this.tab === "history" ? [] : this.nodes.map((node) => node.id), at = this.tab === "doubt" ? ids.indexOf(id) + 1 : 0;
    return [...ids.slice(at), ...ids.slice(0, at)].find((each) => each !== id && !this.sent.has(each)) ?? -1;
  }

  async findUncertain() {
    const { map } = this.page, found = [];
    for (let i = 0; i < map.codes.length; i++) if (map.codes[i] && map.levels[i] < SEED && map.visible(i)) found.push(i);
    const places = found.sort((one, other) => map.levels[one] - map.levels[other] || one - other).slice(0, LONGEST);
    this.uncertain = places.length ? await ask(`api/briefs?ids=${places}`) : [];
    if (this.tab === "doubt") this.draw();
  }
}
