// The right side: the selected node with its content, why it has its label, and its neighbours.
import { $, ask, fill, make, many, mark, named, percent, tabs } from "./dom.js";
import { drawNear } from "./near.js";

const CHOICES = 6, FEW_SEEDS = 20;
const NEIGHBOURS_AFTER = 150; // milliseconds after which neighbours are shown without the reasons
const LONG = 60; // characters from which a cell of a table is text to read
const AT_ONCE = 50; // neighbours that are listed at once
const TABS = { why: "Why", around: "Neighbours" };

export class Panel {
  constructor(page) {
    this.page = page;
    this.node = null;
    this.open("why");
    new ResizeObserver(() => this.draw()).observe($("near"));
    $("note").onchange = () => this.keepNote();
    $("note").onkeydown = (event) => { if (event.key === "Enter") $("note").blur(); };
  }

  open(tab) {
    tabs($("reason-tabs"), TABS, tab, (each) => this.open(each));
    $("node").dataset.tab = tab; // a large window shows both
  }

  clear() {
    this.node = null;
    this.reason = "";
    $("node").hidden = true;
    $("nothing").hidden = false;
  }

  // Show a node, or update it after a change; the reasons change only with the fit.
  async show(id) {
    const node = await ask(`api/node/${id}`), reason = `${id} ${this.page.state.session} ${this.page.state.fits}`;
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
    $("note").value = node.note;
    fill($("content"), ...node.content.flatMap(([column, text]) => [make("dt", { dir: "auto" }, column), make("dd", { dir: "auto", class: text.length > LONG ? "long" : "" }, text)]));
    $("content").hidden = !node.content.length;
    $("content").scrollTop = 0;
    $("shares").textContent = node.seed || node.label === null ? "" : "Looking for the seeds that heat it…";
    $("experts").hidden = true;
    for (const id of ["because", "seeds"]) fill($(id));
  }

  head() {
    const { node, page } = this;
    $("name").textContent = node.name;
    $("name").title = node.name.slice(0, 500);
    const kind = node.seed ? "a seed: its label is known" : node.unsure ? "you were unsure" : "not a seed";
    $("meta").textContent = [...(node.node === node.name ? [] : [node.node]), many(node.degree, "neighbour"), kind].join(" · ");
    const soon = page.state.classes.filter((each) => each.seeds).length > 1 ? "labels are being worked out." : "label nodes of two classes first.";
    const known = node.label === null ? [page.state.fitted ? "No seed reaches it." : `No label yet: ${soon}`]
      : node.seed ? ["It is ", this.inColour(node.label, "b"), "."]
      : ["Taken for ", this.inColour(node.label, "b"), page.state.calibrated ? `, confidence ${percent(node.confidence)}`
        : page.state.seeds < FEW_SEEDS ? "; too few seeds to tell how certain." : "; how certain is being worked out."];
    fill($("verdict"), ...known);
  }

  // The name of a class, after its mark.
  inColour(label, tag, className = "") {
    return make(tag, { class: className }, mark(this.page.palette, this.page.codeOf(label)), " ", named(label, ""));
  }

  // The most probable classes first, each with its key and a bar; the others follow on demand.
  choices() {
    const { node, page } = this, { order } = page.state, chances = new Map(node.probabilities.map((each) => [page.codeOf(each.label), each.probability]));
    const listed = [...new Set([...chances.keys(), ...order])].filter((code) => order.includes(code));
    const first = listed.slice(0, listed.length === CHOICES + 1 ? CHOICES + 1 : CHOICES), others = listed.slice(first.length);
    const buttons = first.map((code) => this.choice(code, chances.get(code)));
    if (this.all) buttons.push(...others.map((code) => page.choice(code, node.seed && node.class === code)));
    else if (others.length) buttons.push(make("button", { type: "button", onclick: () => { this.all = true; this.choices(); } }, `${others.length} more…`));
    if (node.seed) buttons.push(make("button", { type: "button", onclick: () => page.label(null) }, make("kbd", {}, "Del"), " no label"));
    else if (listed.length) buttons.push(make("button", { type: "button", onclick: () => page.unsure() }, make("kbd", {}, "u"), " unsure"));
    if (!listed.length) buttons.push(make("span", { class: "quiet" }, "Name some classes on the left first."));
    fill($("choices"), ...buttons);
  }

  // A button that gives the node a class, with its probability as a bar once hidden seeds have told how certain that is.
  choice(code, probability) {
    const { node, page } = this, bar = make("span", { class: "bar" }), told = probability !== undefined && (node.seed || page.state.calibrated);
    bar.style.width = `${told ? 100 * probability : 0}%`;
    bar.style.background = page.palette.base(code);
    const { name } = page.state.classes[code];
    return make("button", { type: "button", class: "row", "aria-pressed": node.seed && node.class === code, onclick: () => page.label(name) },
      make("kbd", {}, page.keyOf(code) || "·"), mark(page.palette, code), named(name), make("span", { class: "track" }, bar),
      make("span", { class: "number" }, told ? percent(probability) : ""));
  }

  // Keep the note; if that fails, the text stays, and is sent again with the next change.
  async keepNote() {
    const { node } = this, text = $("note").value.trim();
    if (node && text !== node.note && await this.page.tell("note", { node: node.id, text })) node.note = text;
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
    const parts = why.classes.flatMap(({ label, share }, at) => [...(at ? [", "] : []), named(label, ""), ` ${percent(share)}`]);
    fill($("shares"), ...(parts.length ? ["Heat from seeds of ", ...parts, "."] : [this.node.seed ? "Its label was given." : "No seed heats it."]));
    const because = why.stands ? this.standsOut(why.stands) : [];
    fill($("because"), ...because, ...(why.note ? [` ${why.note}.`] : []));
    this.experts(why.experts, why.compared);
    fill($("seeds"), ...why.seeds.map((seed) => make("li", {},
      make("button", { class: "row", type: "button", onclick: () => this.page.select(seed.id, true) },
        make("span", { class: "number" }, percent(seed.share)), named(seed.name), this.inColour(seed.label, "span", "guess")),
      make("div", { class: "path", dir: "auto", title: seed.path.join(" → ") }, seed.path.length ? `via ${seed.path.join(" → ")}` : "directly linked"))));
  }

  // What each expert adds to the log-odds of the best classes; above 0 it speaks for the class.
  experts(rows, classes) {
    $("experts").hidden = !rows?.length;
    if (!rows?.length) return;
    const signed = (odds) => `${odds >= 0 ? "+" : "−"}${Math.abs(odds).toFixed(1)}`;
    fill($("experts"), make("tr", {}, make("th", { scope: "col" }, "evidence for"), ...classes.map((label) => make("th", { scope: "col", title: label.slice(0, 200) }, label))),
      ...rows.map(({ name, odds }) => make("tr", {}, make("th", { scope: "row" }, name), ...odds.map((each) => make("td", {}, signed(each))))));
  }

  // Why a class is the label although other classes give more heat.
  standsOut({ label, times, mean, most }) {
    const amount = `${times >= 10 ? Math.round(times) : times.toFixed(1)} times its average of ${percent(mean)}`;
    return ["Why ", named(label, ""), `: ${amount}${most ? ", no class stands out more." : "; hidden seeds show what that tells."}`];
  }

  surround(id, near) {
    this.near = near;
    const linked = new Set(near.links.flatMap(([a, b]) => (a === id ? [b] : b === id ? [a] : [])));
    this.page.map.links = [...linked];
    this.page.map.annotateSoon();
    this.listed = near.nodes.slice(1, near.neighbours + 1);
    this.draw();
  }

  // The picture and the list of neighbours, if they are shown.
  draw() {
    const { near, page } = this;
    if (!near || !$("near").clientWidth) return;
    drawNear($("near"), near, { colour: (node) => page.map.ownColour(node.id), select: (node) => page.select(node, true) });
    const rest = near.list.length - this.listed.length;
    fill($("neighbours"), ...this.listed.map((node) => this.neighbour(node)),
      ...(rest ? [make("li", {}, make("button", { type: "button", onclick: () => this.listMore() }, `${Math.min(rest, AT_ONCE)} more of ${rest.toLocaleString("en")}`))] : []));
  }

  neighbour(node) {
    const { page } = this;
    return make("li", {}, make("button", { class: "row", type: "button", title: node.snippet, onclick: () => page.select(node.id, true) },
      mark(page.palette, node.class, node.confidence), named(node.name), make("span", { class: "guess" }, node.label ?? "no label"),
      make("span", { class: "number" }, page.map.levels[node.id] === 255 ? "seed" : node.label !== null && page.state.calibrated ? percent(node.confidence) : "")));
  }

  async listMore() {
    const { near } = this, start = this.listed.length;
    const more = await ask(`api/briefs?ids=${near.list.slice(start, start + AT_ONCE)}`);
    if (this.near !== near) return;
    this.listed = [...this.listed, ...more];
    this.draw();
  }
}
