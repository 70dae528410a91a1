// The right side: the selected node, why it has its label, and its neighbourhood.
import { $, ask, fill, make, many, named, percent } from "./dom.js";
import { drawNear } from "./near.js";

const CHOICES = 6, FEW_SEEDS = 20;
const NEIGHBOURS_AFTER = 150; // milliseconds after which neighbours are shown without the reasons

export class Panel {
  constructor(page) {
    this.page = page;
    this.node = null;
  }

  clear() {
    this.node = null;
    this.reason = "";
    $("node").hidden = true;
    $("nothing").hidden = false;
  }

  // Show a node, or update it after a change; the reasons change only with the fit.
  async show(id) {
    const node = await ask(`api/node/${id}`), reason = `${id} ${this.page.state.fits}`;
    if (this.page.selected !== id) return;
    if (this.node?.id !== id) this.wait(node);
    this.node = node;
    $("nothing").hidden = true;
    $("node").hidden = false;
    this.head();
    this.choices();
    this.page.map.selectedName = node.name;
    this.page.map.annotateSoon();
    if (this.near) this.surround(id, this.near);
    if (this.reason !== reason) { this.reason = reason; await this.explain(id); }
  }

  // Show another node; until its reasons arrive, say that they are being looked for.
  wait(node) {
    this.near = null;
    $("why").hidden = node.seed || node.label === null;
    $("shares").textContent = "Looking for the seeds that heat it…";
    fill($("because"));
    fill($("seeds"));
  }

  head() {
    const { node, page } = this;
    $("name").textContent = node.name;
    $("name").title = node.name.slice(0, 500);
    $("meta").textContent = `${many(node.degree, "neighbour")} · ${node.seed ? "a seed: its label is known" : "not a seed"}`;
    const soon = page.state.classes.filter((each) => each.seeds).length > 1 ? "labels are being worked out." : "label nodes of two classes first.";
    const known = node.label === null ? [page.state.fitted ? "No seed reaches it." : `No label yet: ${soon}`]
      : node.seed ? ["It is ", this.inColour(node.label, "b"), "."]
      : ["Taken for ", this.inColour(node.label, "b"), page.state.calibrated ? `, confidence ${percent(node.confidence)}`
        : page.state.seeds < FEW_SEEDS ? "; too few seeds to tell how certain. Its heat:" : "; how certain is being worked out. Its heat:"];
    fill($("verdict"), ...known);
    fill($("bars"), ...node.probabilities.map(({ label, probability }) => {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${Math.max(1, 100 * probability)}%`;
      bar.style.background = page.palette.base(page.hueOf(label));
      return make("li", {}, named(label), bar, make("span", { class: "number" }, percent(probability)));
    }));
  }

  // The name of a class, after a dot in its colour.
  inColour(label, tag, className = "") {
    const dot = make("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = this.page.palette.base(this.page.hueOf(label));
    return make(tag, { class: className }, dot, named(label, ""));
  }

  // The most probable classes first, then the others, each with its key.
  choices() {
    const { node, page } = this;
    const names = page.state.classes.map((each) => each.name);
    const first = node.probabilities.map((each) => each.label).filter((label) => names.includes(label));
    const listed = [...new Set([...first, ...page.legendOrder().map((code) => names[code])])];
    const short = this.all || listed.length === CHOICES + 1 ? listed : listed.slice(0, CHOICES);
    const buttons = short.map((label) => {
      const key = page.keyOf(label);
      const pressed = node.seed && node.label === label;
      return make("button", { type: "button", "aria-pressed": pressed, onclick: () => page.label(label) },
        ...(key ? [make("kbd", {}, key), " "] : []), named(label, ""));
    });
    if (short.length < listed.length) {
      buttons.push(make("button", { type: "button", onclick: () => { this.all = true; this.choices(); } }, `${listed.length - short.length} more…`));
    }
    if (node.seed) buttons.push(make("button", { type: "button", onclick: () => page.label(null) }, make("kbd", {}, "⌫"), " no label"));
    if (!listed.length) buttons.push(make("span", { class: "quiet" }, "Name some classes on the left first."));
    fill($("choices"), ...buttons);
  }

  // Why the node has its label, and its neighbourhood; if the reasons take long, the neighbours are shown first.
  async explain(id) {
    let reasons = ask(`api/explain/${id}`), known = false;
    reasons = reasons.finally(() => { known = true; });
    const soon = setTimeout(async () => {
      const near = await ask(`api/near/${id}`);
      if (!known && this.page.selected === id) this.surround(id, near);
    }, NEIGHBOURS_AFTER);
    try {
      const why = await reasons;
      if (this.page.selected !== id) return;
      this.reasons(why);
      this.surround(id, why.neighbourhood);
    } finally {
      clearTimeout(soon);
    }
  }

  reasons(why) {
    $("why").hidden = !why.seeds.length;
    const parts = why.classes.flatMap(({ label, share }, at) => [...(at ? [", "] : []), named(label, ""), ` ${percent(share)}`]);
    fill($("shares"), "Seeds of ", ...parts, ".");
    const because = why.stands ? this.standsOut(why.stands) : [];
    fill($("because"), ...because, ...(why.note ? [` ${why.note}.`] : []));
    fill($("seeds"), ...why.seeds.map((seed) => make("li", {},
      make("button", { class: "row", type: "button", onclick: () => this.page.select(seed.id, true) },
        make("span", { class: "number" }, percent(seed.share)), named(seed.name), this.inColour(seed.label, "span", "guess")),
      make("div", { class: "path", dir: "auto", title: seed.path.join(" → ") }, seed.path.length ? `via ${seed.path.join(" → ")}` : "directly linked"))));
  }

  // Why a class is the label although other classes give more heat.
  standsOut({ label, times, mean, most }) {
    const amount = `${times >= 10 ? Math.round(times) : times.toFixed(1)} times its average of ${percent(mean)}`;
    return ["Why ", named(label, ""), `: ${amount}${most ? ", no class stands out more." : "; hidden seeds show what that tells."}`];
  }

  surround(id, near) {
    this.near = near;
    drawNear($("near"), near, { colour: (node) => this.page.colourOf(node), select: (node) => this.page.select(node, true) });
    const { neighbours, all } = near;
    $("around").textContent = neighbours < all ? `${neighbours} of ${all.toLocaleString("en")}, fewest links first` : "";
    const linked = new Set(near.links.flatMap(([a, b]) => (a === id ? [b] : b === id ? [a] : [])));
    this.page.map.links = [...linked];
    this.page.map.annotateSoon();
  }
}
