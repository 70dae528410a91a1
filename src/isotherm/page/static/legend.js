// The classes: their marks, keys and sizes; a click shows one alone, the button beside it changes it.
import { $, fill, make, many, mark, named } from "./dom.js";

const HIGH = 0.95; // confidence from which all nodes of a class are proposed
const MARKS = 60; // classes with a mark of their own
const folded = (name) => name.trim().toLowerCase().replace(/\s+/g, " ");

export class Legend {
  constructor(page) {
    this.page = page;
    this.edited = -1;
    this.box = null; // where a new name of the edited class is typed
    $("add-class").onsubmit = (event) => { event.preventDefault(); this.add($("new-class").value.trim()); };
    $("start").onsubmit = (event) => {
      event.preventDefault();
      const names = [...new Set($("names").value.split("\n").map((name) => name.trim()).filter(Boolean))];
      if (names.length) page.tell("classes", { names });
    };
  }

  draw() {
    const { page } = this, { classes, order, unlabelled } = page.state, typing = document.activeElement === this.box;
    const rows = order.flatMap((code) => [this.row(code), ...(code === this.edited ? [this.editor(code)] : [])]);
    if (unlabelled && classes.length) {
      rows.push(make("li", { class: "row" }, make("kbd", {}, "·"), mark(page.palette, -1), make("span", { class: "name quiet" }, "no label"), make("span", { class: "number" }, unlabelled.toLocaleString("en"))));
    }
    fill($("legend"), ...rows);
    if (typing) this.box.focus(); // what is being typed stays
    $("hue-note").textContent = order.length > MARKS ? `${order.length}; the last ${order.length - MARKS} share a mark` : "click one to see it alone";
  }

  row(code) {
    const { page } = this, { name, nodes, seeds } = page.state.classes[code];
    return make("li", { class: "line" },
      make("button", { class: "row", type: "button", "aria-pressed": code === page.filters.code, title: `${many(nodes, "node")}, ${many(seeds, "seed")}; show it alone`, onclick: () => page.filters.isolate(code) },
        make("kbd", {}, page.keyOf(code) || "·"), mark(page.palette, code), named(name), make("span", { class: "number" }, nodes.toLocaleString("en"))),
      make("button", { class: "small", type: "button", "aria-label": `Change ${name}`, "aria-expanded": code === this.edited, onclick: () => this.edit(code === this.edited ? -1 : code) }, "⋯"));
  }

  edit(code) {
    this.edited = code;
    this.box = null;
    if (code >= 0) {
      const { name } = this.page.state.classes[code];
      this.box = make("input", { id: "rename", value: name, "aria-label": `New name of ${name}`, maxlength: 200, onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.rename(name, this.box.value.trim()); } } });
    }
    this.draw();
    this.box?.focus();
    this.box?.parentElement.scrollIntoView({ block: "nearest" });
  }

  // Rename, merge, move and delete a class, or propose all its certain nodes.
  editor(code) {
    const { page } = this, { name } = page.state.classes[code], { order } = page.state, place = order.indexOf(code);
    const sure = this.certain(code), button = (text, onclick, more = {}) => make("button", { type: "button", onclick, ...more }, text);
    const moved = (step) => { const to = [...order]; to.splice(place + step, 0, ...to.splice(place, 1)); page.tell("order", { labels: to.map((each) => page.state.classes[each].name) }); };
    return make("li", { class: "edit" }, this.box,
      button("Rename", () => this.rename(name, this.box.value.trim())),
      button("↑", () => moved(-1), { "aria-label": `Move ${name} up`, disabled: place ? null : "" }),
      button("↓", () => moved(1), { "aria-label": `Move ${name} down`, disabled: place < order.length - 1 ? null : "" }),
      button("Delete", () => { this.edited = -1; page.tell("delete", { label: name }); }),
      button(`Propose ${many(sure.length, "node")} above ${HIGH}`, () => { this.edit(-1); page.choose(sure, name); }, { disabled: sure.length ? null : "" }));
  }

  // The nodes of a class that are no seeds and nearly certain.
  certain(code) {
    const { map, state } = this.page, found = [];
    for (let i = 0; state.calibrated && i < map.codes.length; i++) if (map.codes[i] === code + 1 && map.levels[i] < 255 && map.levels[i] > HIGH * 254) found.push(i);
    return found;
  }

  rename(name, to) {
    const codes = this.page.state.order, other = codes.map((code) => this.page.state.classes[code].name).find((each) => each === to);
    if (!to || to === name) return;
    const done = () => { this.edited = -1; return this.page.tell("rename", { label: name, to }); };
    if (other) this.question(`Merge “${name}” into “${to}”?`, { Merge: done });
    else this.unlessAlike(to, done, name);
  }

  add(name) {
    const box = $("new-class");
    if (name) this.unlessAlike(name, async () => { if (await this.page.tell("classes", { names: [name] }) && box.value.trim() === name) box.value = ""; }); // unless another is being typed
  }

  // Do something with a name, but ask first if another class has nearly the same.
  unlessAlike(name, act, but = null) {
    const known = this.page.state.order.map((code) => this.page.state.classes[code].name);
    const alike = known.find((each) => each !== but && each !== name && folded(each) === folded(name));
    if (alike === undefined) act();
    else this.question(`There is “${alike}” already.`, { [`Add “${name}” too`]: act });
  }

  question(text, answers) {
    const close = () => { $("alike").hidden = true; };
    fill($("alike"), text, " ", ...Object.entries({ ...answers, Cancel: () => {} }).flatMap(([title, act]) => [make("button", { type: "button", onclick: () => { close(); act(); } }, title), " "]));
    $("alike").hidden = false;
    $("alike").querySelector("button:last-of-type").focus(); // Cancel
  }
}
