// The page: it asks the server for the state, draws it, and sends what a person does to the server.
import { Palette } from "./colours.js";
import { $, ask, fill, Lost, make, many, named, percent } from "./dom.js";
import { Filters } from "./filters.js";
import { Group } from "./group.js";
import { Legend } from "./legend.js";
import { Lists } from "./lists.js";
import { GraphMap } from "./map.js";
import { Panel } from "./panel.js";
import { wireSearch } from "./search.js";

const LETTERS = "qwertyiopasdfghjklzxcvbnm"; // u is for unsure
const KEYS = LETTERS + LETTERS.toUpperCase();
const SEED = 255; // the shade of a seed
const FEW = 20; // labels below which confidence is not calibrated
const AGAIN = 1000; // milliseconds between attempts to reach a lost server
const HELD = /^(Arrow.*|[-+=])$/; // keys that go on while they are held

class Page {
  constructor() {
    this.state = null;
    this.selected = -1;
    this.group = [];
    this.proposal = null;
    this.colours = 0;
    this.loading = null;
    this.turn = Promise.resolve();
    this.theme = localStorage.getItem("isotherm-theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.map = new GraphMap($("map"), $("over"), {
      select: (node) => this.select(node, false), hover: (...place) => this.hover(...place),
    });
    this.map.onSample = (drawn, inside) => {
      $("drawn").hidden = drawn === inside;
      $("drawn").textContent = `${drawn.toLocaleString("en")} of ${many(inside, "node")} drawn: zoom in for more`;
    };
    this.lists = new Lists(this);
    this.legend = new Legend(this);
    this.filters = new Filters(this);
    this.many = new Group(this);
    this.panel = new Panel(this);
    this.setTheme(this.theme);
    this.wire();
  }

  async begin() {
    await this.refresh();
    this.listen();
  }

  // Ask for the state at each event. A lost server is tried again until it answers.
  listen() {
    const events = new EventSource("api/events");
    events.onmessage = () => this.refresh();
    events.onerror = () => {
      this.lose();
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), AGAIN);
    };
  }

  lose() {
    $("lost").textContent = "The server does not answer. Labels given now are not kept; what you typed stays. Start it again with the same log and --port, and this page goes on.";
    $("lost").hidden = false;
  }

  // Ask for the state, one request at a time; if something changes meanwhile, ask again.
  async refresh() {
    if (this.loading) { this.again = true; return this.loading; }
    this.loading = (async () => {
      do {
        this.again = false;
        await this.take(await ask("api/state"));
      } while (this.again);
    })().catch((error) => this.fail(error));
    await this.loading;
    this.loading = null;
  }

  fail(error) {
    if (error instanceof Lost) this.lose();
    else $("busy").textContent = error.message;
  }

  // Show a state after all earlier ones have been shown; an older state is dropped.
  take(state) {
    const old = () => this.state && state.session === this.state.session && state.version < this.state.version;
    const turn = this.turn.then(() => (old() ? null : this.takeIn(state)));
    this.turn = turn.catch(() => {});
    return turn;
  }

  async takeIn(state) {
    const first = this.state === null;
    const again = !first && state.session !== this.state.session; // the server was started again
    if (again) this.colours = 0;
    this.state = state;
    $("lost").hidden = true;
    if (again) this.panel.keepNote();
    if (first) this.takeNames();
    this.map.seeds = state.seedNodes;
    this.map.suggestions = state.suggestions.map((each) => each.id);
    this.map.classNames = state.classes.map((each) => each.name);
    if (state.classes[this.filters.code]?.name === null) this.filters.code = -1;
    if (first || state.colours !== this.colours) await this.takeColours();
    if (state.mapped && !this.map.sigma && !this.placing) {
      this.placing = true;
      const [positions, edges] = await Promise.all([ask("api/map"), ask("api/edges")]);
      this.map.place(new Float32Array(positions), new Uint32Array(edges));
    }
    this.map.include([...this.map.suggestions, ...this.map.seeds, this.selected]);
    this.draw();
    if (this.selected >= 0 && this.shownColours !== this.colours) {
      this.shownColours = this.colours;
      this.showSelected();
    }
  }

  async takeNames() {
    const [names, columns] = await Promise.all([ask("api/names"), ask("api/columns")]);
    this.map.names = names;
    this.filters.offer(columns);
    this.map.annotateSoon();
  }

  async takeColours() {
    const buffer = await ask(`api/colours?since=${this.colours}`);
    const [version, all, count] = new Uint32Array(buffer, 0, 3);
    let at = 12, nodes = null;
    if (!all) { nodes = new Uint32Array(buffer, at, count); at += 4 * count; }
    const codes = new Uint16Array(buffer, at, count), levels = new Uint8Array(buffer, at + 2 * count, count);
    if (all) { this.map.codes = codes.slice(); this.map.levels = levels.slice(); }
    else nodes.forEach((node, place) => { this.map.codes[node] = codes[place]; this.map.levels[node] = levels[place]; });
    this.colours = version;
    const plain = !this.filters.active && this.filters.by === "label";
    if (!plain) { await this.filters.mask(); await this.filters.findValues(); this.filters.drawScale(); }
    this.map.recolour(plain ? nodes : null);
    if (this.lists.tab === "doubt") this.lists.findUncertain();
  }

  draw() {
    const { state } = this;
    document.title = `${state.name} · isotherm explore`;
    fill($("about"), named(state.name, ""), make("small", {}, ` ${many(state.nodes, "node")}, ${many(state.links, "link")}`));
    $("about").title = $("about").textContent;
    $("undo").disabled = !state.undo;
    $("redo").disabled = !state.redo;
    $("busy").textContent = state.failure || (state.busy ? `${state.busy}…` : "");
    $("start").hidden = state.order.length >= 2;
    $("message").textContent = !state.mapped ? `Placing ${many(state.nodes, "node")} on the map… Search works already.`
      : state.order.length < 2 ? "Name at least two classes on the left, then label the first nodes."
      : !state.fitted && !state.busy ? "Label nodes of at least two classes: press 1, then the key of a class. Then the heat spreads."
      : "";
    $("lightness").textContent = state.seeds < FEW ? "stronger colour = stands out more" : "stronger colour = more certain";
    $("classes").hidden = !state.order.length;
    this.drawProgress();
    this.lists.draw();
    this.legend.draw();
    this.filters.draw();
    if (this.group.length) this.many.show().catch((error) => this.fail(error));
    this.map.annotateSoon();
  }

  // Labels given, expected accuracy now, its curve, and how many more labels would raise it.
  drawProgress() {
    const { curve, forecast, given, seeds, unsure } = this.state, here = [...(given ? [`${given.toLocaleString("en")} given here`] : []), ...(unsure ? [`${unsure.toLocaleString("en")} unsure`] : [])];
    const said = (...parts) => { fill($("progress"), ...parts, ...(here.length ? [make("span", { class: "quiet" }, here.join(", "))] : [])); $("progress").title = $("progress").textContent; };
    if (!curve.length) { said(`${many(seeds, "label")}${this.state.fitted ? ` · accuracy from ${FEW} labels on` : ""}`); return; }
    const [most, least] = [Math.max(...curve.map(([, share]) => share)), Math.min(...curve.map(([, share]) => share))];
    const points = curve.map(([, share], at) => `${2 + 56 * at / Math.max(1, curve.length - 1)},${16 - 14 * (share - least) / (most - least || 1)}`);
    const now = curve.at(-1)[1];
    said(`${many(seeds, "label")} · expected accuracy ${now.toFixed(2)}`,
      ...(curve.length < 2 ? [] : [make("svg", { viewBox: "0 0 60 18", role: "img", "aria-label": `Expected accuracy from ${curve[0][1].toFixed(2)} to ${now.toFixed(2)}` }, make("polyline", { points: points.join(" ") }))]),
      ...(forecast ? [`about ${forecast.labels.toLocaleString("en")} more for ${forecast.accuracy.toFixed(2)}`] : []));
  }

  keyOf(code) {
    return KEYS[this.state.order.indexOf(code)] || "";
  }

  codeOf(name) {
    return this.state.classes.findIndex((each) => each.name === name);
  }

  // A button that gives the selected nodes a class.
  choice(code, pressed) {
    const { name } = this.state.classes[code], key = this.keyOf(code);
    return make("button", { type: "button", "aria-pressed": pressed, onclick: () => this.label(name) }, ...(key ? [make("kbd", {}, key), " "] : []), named(name, ""));
  }

  select(node, fly) {
    this.selected = node;
    if (node >= 0) this.lists.anchor = node;
    this.group = this.map.group = [];
    this.proposal = null;
    this.map.selected = node;
    this.map.selectedName = "";
    this.map.links = [];
    this.map.include([node]);
    this.panel.all = false;
    this.shownColours = this.colours;
    $("many").hidden = true;
    if (node < 0) this.panel.clear();
    else this.showSelected();
    if (fly && node >= 0 && this.map.sigma) this.map.fly(node);
    this.lists.draw();
    this.map.annotateSoon();
  }

  // Select many nodes, perhaps with a class that is proposed for all of them.
  choose(nodes, proposal = null) {
    if (nodes.length < 2 && proposal === null) { this.select(nodes[0] ?? -1, false); return; }
    this.select(-1, false);
    this.group = this.map.group = nodes;
    this.proposal = proposal;
    $("nothing").hidden = true;
    $("many").hidden = false;
    this.many.show().catch((error) => this.fail(error));
    if (proposal !== null) $("many-confirm").querySelector("button").focus();
    this.lists.draw();
  }

  showSelected() {
    this.panel.show(this.selected).catch((error) => this.fail(error));
  }

  async hover(node, x, y) {
    this.hovered = node;
    const tip = $("tip");
    if (node < 0) { tip.hidden = true; return; }
    const whole = this.map.names && !this.filters.columns.length; // the page knows all that is shown
    const known = whole ? { name: this.map.names[node] } : (await ask(`api/briefs?ids=${node}`).catch(() => []))[0];
    if (this.hovered !== node || !known) return;
    const code = this.map.codes[node] - 1;
    const label = code < 0 ? (this.state.fitted ? "no seed reaches it" : "no label yet") : this.state.classes[code].name;
    fill(tip, named(known.name), make("span", { class: "quiet" }, `${label}${this.certainty(node)}`), ...(known.snippet ? [make("div", { dir: "auto", class: "content" }, known.snippet)] : []));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 14, $("centre").clientWidth - 310))}px`;
    tip.style.top = `${y + 14}px`;
  }

  // How certain the label of a node is, if known.
  certainty(node) {
    const level = this.map.levels[node];
    return level === SEED ? ", a seed" : this.state.calibrated && this.map.codes[node] ? `, ${percent(level / (SEED - 1))}` : "";
  }

  // Give the selected nodes a label; None takes labels away. Then go on to the next node of the list.
  async label(name) {
    const nodes = this.group.length ? (name === null ? this.group : this.many.open) : this.selected >= 0 ? [this.selected] : [];
    if (nodes.length) await this.answer("label", { nodes, label: name }, name !== null);
  }

  async unsure() {
    const nodes = this.group.length ? this.group : this.selected >= 0 ? [this.selected] : [];
    if (nodes.length) await this.answer("unsure", { nodes }, true);
  }

  // Skip the selected node, or the first one of the list.
  async skip() {
    const node = this.selected >= 0 ? this.selected : this.lists.nodes[0]?.id;
    if (node !== undefined && !this.group.length) await this.answer("skip", { node }, true);
  }

  async answer(action, said, advance) {
    const nodes = said.nodes ?? [said.node], one = this.group.length ? -1 : nodes[0], { sent } = this.lists;
    for (const node of nodes) sent.add(node);
    const next = advance && $("advance").checked && one >= 0 ? this.lists.after(one) : -1;
    const done = this.tell(action, said);
    if (this.group.length) this.select(-1, false);
    else if (next >= 0) this.select(next, false);
    const kept = await done;
    for (const node of nodes) sent.delete(node);
    if (kept && this.selected === one && one >= 0) this.showSelected();
  }

  // Send something to the server; false if it was refused or lost.
  async tell(action, said) {
    try {
      await this.take(await ask(`api/${action}`, said));
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.palette = new Palette(theme);
    this.map.setTheme(this.palette);
    if (this.state) this.draw();
  }

  wire() {
    $("undo").onclick = () => this.tell("undo", {});
    $("redo").onclick = () => this.tell("redo", {});
    $("more").onclick = () => this.tell("more", {});
    $("skip").onclick = () => this.skip();
    $("advance").checked = localStorage.getItem("isotherm-advance") !== "no";
    $("advance").onchange = () => localStorage.setItem("isotherm-advance", $("advance").checked ? "yes" : "no");
    $("theme").onclick = () => { this.setTheme(this.theme === "dark" ? "light" : "dark"); localStorage.setItem("isotherm-theme", this.theme); };
    for (const side of ["left", "right"]) {
      const fold = (folded) => { $(side).hidden = folded; document.documentElement.classList.toggle(`no-${side}`, folded); $(`fold-${side}`).setAttribute("aria-expanded", !folded); };
      fold(localStorage.getItem(`isotherm-${side}`) === "folded");
      $(`fold-${side}`).onclick = () => { fold(!$(side).hidden); localStorage.setItem(`isotherm-${side}`, $(side).hidden ? "folded" : "open"); };
    }
    $("help").onclick = () => $("keys").showModal();
    $("export-png").onclick = () => this.savePicture();
    wireSearch((node) => { this.select(node, true); $("map").focus(); });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  savePicture() {
    this.map.picture().toBlob((blob) => {
      const link = make("a", { href: URL.createObjectURL(blob), download: "map.png" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Close what is open, one thing at a time.
  escape() {
    const open = ["export", "filters"].find((id) => $(id).open);
    if (open) { $(open).open = false; $(open).querySelector("summary").focus(); }
    else if (!$("alike").hidden) $("alike").hidden = true;
    else if (this.legend.edited >= 0) this.legend.edit(-1);
    else if (this.many.tool) this.many.use(null);
    else if (this.group.length || this.selected >= 0) this.select(-1, false);
    else if (this.filters.active) { this.filters.clear(); this.filters.apply(); }
  }

  key(event) {
    const { key, target } = event, control = event.ctrlKey || event.metaKey;
    if ($("keys").open || !this.state) return;
    if (key === "Escape") { if (target.matches("input, textarea, select")) target.blur(); this.escape(); return; }
    if (target.matches("input:not([type='checkbox']), textarea, select")) return;
    if (event.repeat && !HELD.test(key)) { if (key === "Enter" || key === " ") event.preventDefault(); return; }
    if (control && key.toLowerCase() === "z") { event.preventDefault(); this.tell(event.shiftKey ? "redo" : "undo", {}); return; }
    if (control && key.toLowerCase() === "y") { event.preventDefault(); this.tell("redo", {}); return; }
    if (control || event.altKey) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const onMap = target === $("map") || target === document.body, letter = KEYS.indexOf(key);
    if (key === "/") { event.preventDefault(); $("search").select(); }
    else if (key === "?") $("keys").showModal();
    else if (key === "Backspace") { event.preventDefault(); this.tell("undo", {}); }
    else if (key === "Delete") this.label(null);
    else if (key === "u") this.unsure();
    else if (key === " " && (onMap || target.matches(".row"))) { event.preventDefault(); this.skip(); }
    else if (key === "+" || key === "=") this.map.zoom(1.5);
    else if (key === "-") this.map.unzoom(1.5);
    else if (key === "Home") this.map.reset();
    else if (key === "Enter" && onMap) this.enter();
    else if (key in moves && onMap) { event.preventDefault(); this.map.pan(...moves[key]); }
    else if (/^[0-9]$/.test(key)) {
      const node = this.lists.nodes[(Number(key) + 9) % 10];
      if (node) this.select(node.id, false);
    } else if (letter >= 0) {
      const code = this.state.order[letter];
      if (code !== undefined) this.label(this.state.classes[code].name);
    }
  }

  enter() {
    if (this.proposal !== null) this.label(this.proposal);
    else if (this.selected >= 0 && this.map.sigma) this.map.fly(this.selected);
  }
}

const page = new Page();
window.isotherm = page; // for tests
page.begin();
