// Colours and shapes: hue and shape show the class, strength the confidence. Ten hues in six shapes make sixty marks;
// they are the same in light and dark, and the hues can be told apart with colour-blindness too.

export const HUES = ["#d22d3c", "#2d78d2", "#b4a500", "#a500a5", "#00b4c3", "#e1874b", "#875aff", "#789669", "#ff4ba5", "#874b69"];
const BEYOND = "#a08c64"; // all classes after the sixtieth
const SCALE = ["#b4a500", "#00b4c3", "#875aff"]; // from low to high, for numbers
export const GROUND = { light: "#ffffff", dark: "#15171a" };
const NOTHING = { light: "#bdbdbd", dark: "#5a5e66" }; // no label; nothing else is grey
const LEVELS = 16;
const PALEST = 0.5; // share of the ground in the colour of the least certain label
const FAINT = 0.85; // share of the ground in the colour of a node that a filter leaves out
const DEEPER = 0.2; // share of black in every second round of hues

// Outlines around 0 that fit a circle of radius 1: disc, square, diamond, triangle, cross, saltire.
export const SHAPES = [
  "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z", "M-.85-.85h1.7v1.7h-1.7z", "M0-1.15L1.15 0 0 1.15-1.15 0z", "M0-1.1L1.15.9H-1.15z",
  "M-.4-1.1h.8v.7h.7v.8h-.7v.7h-.8v-.7h-.7v-.8h.7z", "M-1.1-.55L-.55-1.1 0-.55.55-1.1 1.1-.55.55 0 1.1.55.55 1.1 0 .55-.55 1.1-1.1.55-.55 0z",
];

const parsed = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const spelled = (rgb) => "#" + rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
const mixed = (one, other, share) => spelled(parsed(one).map((part, at) => part + (parsed(other)[at] - part) * share));

export class Palette {
  constructor(theme) {
    this.theme = theme;
    this.ground = GROUND[theme];
    this.ink = theme === "dark" ? "#ececec" : "#1b1b1b";
    this.quiet = theme === "dark" ? "#a6a6a6" : "#626262";
    this.nothing = NOTHING[theme];
    this.edge = theme === "dark" ? "#33373d" : "#e3e3e3";
    this.cache = new Map();
  }

  // The colour of a class by its number (-1 for no label), the same in light and dark.
  base(code) {
    if (code < 0) return this.nothing;
    const round = Math.floor(code / HUES.length);
    if (round >= SHAPES.length) return BEYOND;
    return round % 2 ? mixed(HUES[code % HUES.length], "#000000", DEEPER) : HUES[code % HUES.length];
  }

  shape(code) {
    return code < 0 ? 0 : Math.min(SHAPES.length - 1, Math.floor(code / HUES.length));
  }

  // The colour of a class at a confidence from 0 to 1.
  of(code, confidence) {
    if (code < 0) return this.nothing;
    const level = Math.round(confidence * LEVELS), key = code * 100 + level;
    if (!this.cache.has(key)) this.cache.set(key, mixed(this.base(code), this.ground, PALEST * (1 - level / LEVELS)));
    return this.cache.get(key);
  }

  // A colour nearly as faint as the ground, for nodes that a filter leaves out.
  faint(colour) {
    if (!this.cache.has(colour)) this.cache.set(colour, mixed(colour, this.ground, FAINT));
    return this.cache.get(colour);
  }

  // The colour of a number from 0 to 1.
  scale(share) {
    const place = Math.min(1, Math.max(0, share)) * (SCALE.length - 1), low = Math.min(SCALE.length - 2, Math.floor(place));
    return mixed(SCALE[low], SCALE[low + 1], place - low);
  }
}
