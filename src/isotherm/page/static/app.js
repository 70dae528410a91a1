// The page: it asks the server for the state, draws it, and sends what a person does to the server.
import { Palette } from "./colours.js";
import { $, ask, fill, make, many, named, percent } from "./dom.js";
import { GraphMap } from "./map.js";
import { Panel } from "./panel.js";

const LETTERS = "qwertyuiopasdfghjklzxcvbnm";
const SEED = 255; // the shade of a seed

class Page {
  constructor() {
    this.state = null;
    this.selected = -1;
    this.isolated = -1;
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
    this.panel = new Panel(this);
    this.setTheme(this.theme);
    this.wire();
  }

  async begin() {
    await this.refresh();
    const events = new EventSource("api/events");
    events.onmessage = () => this.refresh();
    events.onerror = () => { $("busy").textContent = "the server does not answer"; };
  }

  // Ask for the state, one request at a time; if something changes meanwhile, ask again.
  async refresh() {
    if (this.loading) { this.again = true; return this.loading; }
    this.loading = (async () => {
      do {
        this.again = false;
        await this.take(await ask("api/state"));
      } while (this.again);
    })().catch((error) => { $("busy").textContent = error.message; });
    await this.loading;
    this.loading = null;
  }

  // Show a state after all earlier ones have been shown; an older state is dropped.
  take(state) {
    const turn = this.turn.then(() => (this.state && state.version < this.state.version ? null : this.takeIn(state)));
    this.turn = turn.catch(() => {});
    return turn;
  }

  async takeIn(state) {
    const first = this.state === null;
    this.state = state;
    if (first) this.takeNames();
    this.map.seeds = state.seedNodes;
    this.map.suggestions = state.suggestions.map((each) => each.id);
    this.map.hues = state.classes.map((each) => each.hue);
    this.map.classNames = state.classes.map((each) => each.name);
    if (first || state.colours !== this.colours) await this.takeColours();
    else if (this.map.hues.join() !== this.paintedHues) this.repaint();
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
    this.map.names = await ask("api/names");
    this.map.annotateSoon();
  }

  async takeColours() {
    const buffer = await ask(`api/colours?since=${this.colours}`);
    const [version, all, count] = new Uint32Array(buffer, 0, 3);
    const repaint = all || this.map.hues.join() !== this.paintedHues;
    let at = 12, nodes = null;
    if (!all) { nodes = new Uint32Array(buffer, at, count); at += 4 * count; }
    const codes = new Uint16Array(buffer, at, count), levels = new Uint8Array(buffer, at + 2 * count, count);
    if (all) { this.map.codes = codes.slice(); this.map.levels = levels.slice(); }
    else nodes.forEach((node, place) => { this.map.codes[node] = codes[place]; this.map.levels[node] = levels[place]; });
    this.colours = version;
    if (repaint) this.repaint();
    else this.map.recolour(nodes);
  }

  repaint() {
    this.paintedHues = this.map.hues.join();
    this.map.recolour();
  }

  draw() {
    const { state } = this;
    document.title = `${state.name} · isotherm explore`;
    $("about").textContent = `${state.name} · ${many(state.nodes, "node")} · ${many(state.links, "link")}`;
    $("about").title = $("about").textContent;
    $("counts").textContent = `${many(state.seeds, "seed")} · ${state.given.toLocaleString("en")} labelled here`;
    $("undo").disabled = !state.undo;
    $("redo").disabled = !state.redo;
    $("busy").textContent = state.failure || (state.busy ? `${state.busy}…` : "");
    $("start").hidden = state.classes.length >= 2;
    $("message").textContent = !state.mapped ? `Placing ${many(state.nodes, "node")} on the map… Search works already.`
      : state.classes.length < 2 ? "Name at least two classes on the left, then label the first nodes."
      : !state.fitted && !state.busy ? "Label nodes of at least two classes: press 1, then the key of a class. Then the heat spreads."
      : "";
    $("lightness").textContent = state.seeds < 20 ? "stronger colour = stands out more" : "stronger colour = more certain";
    $("hue-note").textContent = state.classes.length > state.hues ? `${state.classes.length}, the largest ${state.hues} in colour; click a grey one to give it a hue` : `click one to see it alone`;
    $("classes").hidden = !state.classes.length;
    this.drawSuggestions();
    this.drawLegend();
    this.map.annotateSoon();
  }

  drawSuggestions() {
    const rows = this.state.suggestions.map((each, at) => make("li", {},
      make("button", { class: "row", type: "button", "aria-current": each.id === this.selected, onclick: () => this.select(each.id, false) },
        make("kbd", {}, at < 10 ? String((at + 1) % 10) : "·"), named(each.name), make("span", { class: "guess" }, each.label !== null ? `${each.label}?` : this.state.fitted ? "not reached" : ""))));
    fill($("suggestions"), ...rows);
    $("skip").disabled = !rows.length;
    $("skip").textContent = rows.length ? `Skip ${this.state.suggestions.indexOf(this.toSkip()) + 1}` : "Skip";
  }

  // Class numbers: classes with a hue first, then by size.
  legendOrder() {
    const { classes } = this.state;
    return classes.map((_, code) => code).sort((a, b) => (classes[a].hue < 0) - (classes[b].hue < 0)
      || (classes[a].hue >= 0 ? classes[a].hue - classes[b].hue : classes[b].nodes - classes[a].nodes || a - b));
  }

  drawLegend() {
    const { classes, unlabelled } = this.state;
    const rows = this.legendOrder().map((code) => {
      const { name, hue, nodes, seeds } = classes[code];
      const scale = make("span", { class: "scale", "aria-hidden": "true" });
      for (const level of [0.1, 0.4, 0.7, 1]) {
        const swatch = make("i");
        swatch.style.background = this.palette.of(hue, level);
        scale.append(swatch);
      }
      return make("li", {}, make("button", {
        class: "row", type: "button", "aria-pressed": code === this.isolated,
        "aria-label": `${name}: ${many(nodes, "node")}, ${many(seeds, "seed")}; show it alone`, onclick: () => this.isolate(code),
      }, make("kbd", {}, this.keyOf(name) || "·"), scale, named(name), make("span", { class: "number" }, nodes.toLocaleString("en"))));
    });
    if (unlabelled && classes.length) {
      const mark = make("i", { class: "none", "aria-hidden": "true" });
      mark.style.background = this.palette.nothing;
      rows.push(make("li", { class: "row" }, mark, make("span", { class: "name quiet" }, "no label"), make("span", { class: "number" }, unlabelled.toLocaleString("en"))));
    }
    fill($("legend"), ...rows);
  }

  keyOf(name) {
    const place = this.legendOrder().findIndex((code) => this.state.classes[code].name === name);
    return LETTERS[place] || "";
  }

  hueOf(name) {
    return this.state.classes.find((each) => each.name === name)?.hue ?? -1;
  }

  colourOf(node) {
    return this.map.colour(node.id, -1);
  }

  async isolate(code) {
    this.isolated = this.isolated === code ? -1 : code;
    this.map.isolated = this.isolated;
    if (this.isolated >= 0 && this.state.classes[code].hue < 0) await this.tell("hue", { label: this.state.classes[code].name });
    this.map.recolour();
    this.drawLegend();
    $("rows").hidden = this.isolated < 0;
    if (this.isolated < 0) return;
    const rows = await ask(`api/table?class=${code}&order=least`);
    $("rows-title").textContent = `${this.state.fitted ? "Least certain" : "Seeds"} of ${this.state.classes[code].name.slice(0, 60)}`;
    fill($("table"), ...rows.map((each) => make("li", {},
      make("button", { class: "row", type: "button", onclick: () => this.select(each.id, false) },
        named(each.name), make("span", { class: "number" }, percent(each.confidence))))));
  }

  select(node, fly) {
    this.selected = node;
    this.map.selected = node;
    this.map.selectedName = "";
    this.map.links = [];
    this.map.include([node]);
    this.panel.all = false;
    this.shownColours = this.colours;
    if (node < 0) this.panel.clear();
    else this.showSelected();
    if (fly && node >= 0 && this.map.sigma) this.map.fly(node);
    this.drawSuggestions();
    this.map.annotateSoon();
  }

  showSelected() {
    this.panel.show(this.selected).catch((error) => { $("busy").textContent = error.message; });
  }

  async hover(node, x, y) {
    this.hovered = node;
    const tip = $("tip");
    if (node < 0) { tip.hidden = true; return; }
    const known = this.map.names ? { name: this.map.names[node] } : await ask(`api/node/${node}`);
    if (this.hovered !== node) return;
    const code = this.map.codes[node] - 1;
    const label = code < 0 ? (this.state.fitted ? "no seed reaches it" : "no label yet") : this.state.classes[code].name;
    fill(tip, named(known.name, ""), make("span", { class: "quiet" }, ` · ${label}${this.certainty(node)}`));
    tip.hidden = false;
    tip.style.left = `${Math.min(x + 14, $("centre").clientWidth - 290)}px`;
    tip.style.top = `${y + 14}px`;
  }

  // How certain the label of a node is, if known.
  certainty(node) {
    const level = this.map.levels[node];
    return level === SEED ? ", a seed" : this.state.calibrated && this.map.codes[node] ? `, ${percent(level / (SEED - 1))}` : "";
  }

  async label(name) {
    const node = this.selected;
    if (node < 0) return;
    await this.tell("label", { node, label: name });
    if (this.selected === node) this.showSelected();
  }

  async tell(action, said) {
    try {
      await this.take(await ask(`api/${action}`, said));
    } catch (error) {
      $("busy").textContent = error.message;
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
    $("theme").onclick = () => { this.setTheme(this.theme === "dark" ? "light" : "dark"); localStorage.setItem("isotherm-theme", this.theme); };
    $("help").onclick = () => $("keys").showModal();
    $("export-png").onclick = () => this.savePicture();
    $("start").onsubmit = (event) => {
      event.preventDefault();
      const names = $("names").value.split("\n").map((name) => name.trim()).filter(Boolean);
      if (names.length) this.tell("classes", { names });
    };
    $("add-class").onsubmit = (event) => {
      event.preventDefault();
      const name = $("new-class").value.trim();
      if (name) this.tell("classes", { names: [name] });
      $("new-class").value = "";
    };
    this.wireSearch();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // The selected suggestion, or the first one.
  toSkip() {
    return this.state.suggestions.find((each) => each.id === this.selected) || this.state.suggestions[0];
  }

  skip() {
    const chosen = this.toSkip();
    if (chosen) this.tell("skip", { node: chosen.id });
  }

  savePicture() {
    this.map.picture().toBlob((blob) => {
      const link = make("a", { href: URL.createObjectURL(blob), download: "map.png" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  wireSearch() {
    const [box, list] = [$("search"), $("hits")];
    let found = [], at = 0, later = 0;
    const close = () => { list.hidden = true; box.setAttribute("aria-expanded", "false"); box.removeAttribute("aria-activedescendant"); };
    const choose = (hit) => { close(); box.blur(); this.select(hit.id, true); };
    const draw = () => {
      fill(list, ...(found.length ? found.map((hit, place) => make("li", { role: "option", id: `hit-${place}`, "aria-selected": place === at, onmousedown: (event) => { event.preventDefault(); choose(hit); } },
        named(hit.name), make("span", { class: "guess" }, hit.label || "—"))) : [make("li", { class: "quiet" }, "no node has this in its name")]));
      list.hidden = false;
      box.setAttribute("aria-expanded", "true");
      box.setAttribute("aria-activedescendant", found.length ? `hit-${at}` : "");
    };
    box.oninput = () => {
      clearTimeout(later);
      later = setTimeout(async () => {
        if (!box.value.trim()) { close(); return; }
        found = await ask(`api/search?q=${encodeURIComponent(box.value)}`);
        at = 0;
        draw();
      }, 40);
    };
    box.onkeydown = (event) => {
      if (event.key === "Enter" && found.length && !list.hidden) choose(found[at]);
      else if (event.key === "Escape") { close(); box.blur(); }
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        at = Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
        draw();
      }
    };
    box.onblur = close;
  }

  key(event) {
    const { key } = event, control = event.ctrlKey || event.metaKey;
    if (/^(INPUT|TEXTAREA)$/.test(event.target.tagName) || $("keys").open || !this.state) return;
    if (control && key.toLowerCase() === "z") { event.preventDefault(); this.tell(event.shiftKey ? "redo" : "undo", {}); return; }
    if (control && key.toLowerCase() === "y") { event.preventDefault(); this.tell("redo", {}); return; }
    if (control || event.altKey) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const letter = LETTERS.indexOf(key), onMap = event.target === $("map") || event.target === document.body;
    if (key === "/") { event.preventDefault(); $("search").focus(); }
    else if (key === "?") $("keys").showModal();
    else if (key === "Escape") this.select(-1, false);
    else if (key === "Backspace") this.label(null);
    else if (key === "+" || key === "=") this.map.zoom(1.5);
    else if (key === "-") this.map.unzoom(1.5);
    else if (key === "Home") this.map.reset();
    else if (key === "Enter" && onMap) { if (this.selected >= 0 && this.map.sigma) this.map.fly(this.selected); }
    else if (key in moves && onMap) { event.preventDefault(); this.map.pan(...moves[key]); }
    else if (/^[0-9]$/.test(key)) {
      const suggestion = this.state.suggestions[(Number(key) + 9) % 10];
      if (suggestion) this.select(suggestion.id, false);
    } else if (letter >= 0 && this.selected >= 0) {
      const code = this.legendOrder()[letter];
      if (code !== undefined) this.label(this.state.classes[code].name);
    }
  }
}

const page = new Page();
window.isotherm = page; // for tests
page.begin();
