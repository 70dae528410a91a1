// Which nodes are shown, and by what they are coloured.
import { $, ask, fill, make, mark, named, percent } from "./dom.js";

const SEED = 255;
const LISTED = 8; // categories that are named beside the choice of colours

// The bounds of a range such as 1..5, 1.. or ..5, or of one number; null if the text is none of these.
function boundsOf(text) {
  const parts = text.split("..").map((part) => part.trim()), [first, last] = parts.length > 1 ? parts : [text, text];
  const [from, to] = [first ? Math.fround(first) : -Infinity, last ? Math.fround(last) : Infinity]; // as precise as values are
  return parts.length < 3 && (first || last) && from <= to ? [from, to] : null;
}

// Values of all nodes, numbers or categories, in place of classes.
class Values {
  constructor(values, categories, scale = 1) {
    this.values = values;
    this.categories = categories;
    const known = Array.from(values).filter(Number.isFinite).sort((one, other) => one - other);
    this.low = known[Math.floor(0.02 * known.length)] ?? 0;
    this.high = known[Math.ceil(0.98 * known.length) - 1] ?? scale;
  }

  code(i) { return this.categories ? (Number.isFinite(this.values[i]) ? this.values[i] : -1) : -1; }

  colour(i, palette) {
    if (!Number.isFinite(this.values[i])) return palette.nothing;
    return this.categories ? palette.base(this.values[i]) : palette.scale((this.values[i] - this.low) / (this.high - this.low || 1));
  }
}

export class Filters {
  constructor(page) {
    this.page = page;
    this.by = "label";
    this.columns = [];
    this.known = new Map(); // values of columns, by name
    this.turn = 0; // counts choices
    this.wrong = ""; // what is wrong with the content that is looked for
    this.clear();
    $("filters").querySelector("form").onsubmit = (event) => event.preventDefault();
    $("filters").querySelector("form").onreset = () => { this.clear(); this.apply(); };
    for (const id of ["class", "low", "high", "seeds", "column", "content"]) $(`filter-${id}`).onchange = () => this.read();
    $("colour-by").onchange = () => this.colourBy($("colour-by").value);
  }

  clear() {
    Object.assign(this, { code: -1, low: 0, high: 1, seeds: "all", column: "", content: "" });
  }

  get active() {
    return this.code >= 0 || this.low > 0 || this.high < 1 || this.seeds !== "all" || (this.column && this.content);
  }

  // Offer the columns that nodes have.
  offer(columns) {
    this.columns = columns;
    const listed = columns.filter(({ coloured }) => coloured).map(({ name }) => make("option", { value: `column ${name}` }, name.slice(0, 40)));
    fill($("colour-by"), ...["label", "confidence", "entropy"].map((each) => make("option", { value: each }, each)), ...listed);
    fill($("filter-column"), make("option", { value: "" }, "any"), ...columns.map(({ name }) => make("option", { value: name }, name.slice(0, 40))));
    $("filter-columns").hidden = !columns.length;
  }

  draw() {
    const { state } = this.page;
    fill($("filter-class"), make("option", { value: -1 }, "all"), ...state.order.map((code) => make("option", { value: code }, state.classes[code].name.slice(0, 40))));
    Object.entries({ class: this.code, low: this.low, high: this.high, seeds: this.seeds, column: this.column, content: this.content }).forEach(([id, value]) => {
      if (document.activeElement !== $(`filter-${id}`)) $(`filter-${id}`).value = value; // what is being typed stays
    });
    for (const part of [$("filter-low"), $("filter-high"), ...$("colour-by").querySelectorAll("[value=confidence]")]) part.disabled = !state.calibrated;
    $("filter-note").textContent = this.wrong;
    $("filters").querySelector("summary").textContent = this.active ? "Filter ●" : "Filter";
  }

  read() {
    const value = (id) => $(`filter-${id}`).value;
    Object.assign(this, { code: Number(value("class")), low: Number(value("low")), high: Number(value("high") || 1), seeds: value("seeds"), column: value("column"), content: value("content").trim() });
    return this.apply();
  }

  isolate(code) {
    this.code = this.code === code ? -1 : code;
    return this.apply();
  }

  // Show the nodes that pass, and dim the others.
  async apply() {
    await this.mask();
    const { page } = this;
    page.map.recolour();
    page.map.annotateSoon();
    page.legend.draw();
    this.draw();
    if (page.lists.tab === "doubt") page.lists.findUncertain();
  }

  async mask() {
    const { map } = this.page, turn = this.turn += 1;
    this.wrong = "";
    if (!this.active) { map.mask = null; return; }
    const test = this.column && this.content ? await this.contentTest() : () => true;
    if (turn !== this.turn) return; // another choice was made meanwhile
    if (!test) this.wrong = `“${this.content}” is neither a number nor a range such as 1..5, 1.. or ..5`;
    const passes = test ?? (() => true);
    const [low, high] = [this.low * 254 - 0.5, this.high >= 1 ? SEED : this.high * 254 + 0.5];
    map.mask = Uint8Array.from(map.codes, (code, i) => {
      const seed = map.levels[i] === SEED;
      return Number((this.code < 0 || code === this.code + 1) && (seed ? this.high >= 1 : map.levels[i] >= low && map.levels[i] <= high)
        && (this.seeds === "all" || (this.seeds === "seeds") === seed) && passes(i));
    });
  }

  // A test by a range of numbers, or by a text that the column contains; null if a range cannot be read.
  async contentTest() {
    const { values, categories } = await this.valuesOf(this.column);
    if (categories) {
      const found = await this.ask(`column=${encodeURIComponent(this.column)}&has=${encodeURIComponent(this.content)}`);
      return (i) => found.values[i] === 1;
    }
    const bounds = boundsOf(this.content);
    return bounds && ((i) => values[i] >= bounds[0] && values[i] <= bounds[1]);
  }

  async valuesOf(column) {
    if (!this.known.has(column)) this.known.set(column, await this.ask(`column=${encodeURIComponent(column)}`));
    return this.known.get(column);
  }

  // Values from the server: the length of a header of JSON, the header, and a number for each node.
  async ask(query) {
    const buffer = await ask(`api/values?${query}`), size = new Uint32Array(buffer, 0, 1)[0];
    const { categories } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    return new Values(new Float32Array(buffer.slice(4 + size)), categories);
  }

  async colourBy(by) {
    this.by = by;
    await this.findValues();
    this.page.map.recolour();
    this.page.map.annotateSoon();
    this.drawScale();
  }

  // The values by which nodes are coloured; those of a fit are asked for again after each fit.
  async findValues() {
    const { map } = this.page;
    if (this.by === "label") map.values = null;
    else if (this.by === "confidence") map.values = new Values(Float32Array.from(map.levels, (level, i) => (map.codes[i] ? Math.min(1, level / 254) : NaN)));
    else map.values = this.by === "entropy" ? await this.ask("") : await this.valuesOf(this.by.slice("column ".length));
  }

  drawScale() {
    const { values, palette } = this.page.map;
    if (!values) { fill($("scale")); return; }
    if (values.categories) {
      const rest = values.categories.length - LISTED;
      fill($("scale"), ...values.categories.slice(0, LISTED).flatMap((name, code) => [mark(palette, code), named(name)]), ...(rest > 0 ? [`and ${rest} more`] : []));
      return;
    }
    const bar = make("i"), stops = [0, 0.25, 0.5, 0.75, 1].map((share) => palette.scale(share));
    bar.style.background = `linear-gradient(to right, ${stops})`;
    const shown = (value) => (this.by.startsWith("column") ? String(Number(value.toPrecision(3))) : percent(value));
    fill($("scale"), shown(values.low), bar, shown(values.high));
  }
}
