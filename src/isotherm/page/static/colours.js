// Colours: the hue shows the class, the strength the confidence. The ten hues, in light and dark, can be told apart
// with colour-blindness too; letters in the legend and names on the map say the same in words.

const HUES = {
  light: ["#b2182b", "#1f62ae", "#aa9900", "#00aabb", "#551166", "#cc66ff", "#0022aa", "#ff0077", "#661133", "#cc8855"],
  dark: ["#f4727f", "#6aaef5", "#bbaa00", "#7777ff", "#00ffcc", "#ccee99", "#bb7733", "#aaff66", "#ffccff", "#ff33bb"],
};
const PLAIN = { light: "#8a8a8a", dark: "#9a9a9a" };
const GROUND = { light: "#ffffff", dark: "#15171a" };
const NOTHING = { light: "#c9c9c9", dark: "#4a4e55" };
const LEVELS = 16;

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
    this.dimmed = mixed(NOTHING[theme], GROUND[theme], 0.55);
    this.edge = theme === "dark" ? "#33373d" : "#e3e3e3";
    this.cache = new Map();
  }

  base(hue) {
    return hue >= 0 ? HUES[this.theme][hue % 10] : PLAIN[this.theme];
  }

  // The colour of a class with this hue (-1 for none) at a confidence from 0 to 1.
  of(hue, confidence) {
    const level = Math.round(confidence * LEVELS);
    const key = hue * 100 + level;
    if (!this.cache.has(key)) {
      const faded = hue >= 0 ? 0.8 : 0.65;
      this.cache.set(key, mixed(this.base(hue), this.ground, faded * (1 - level / LEVELS)));
    }
    return this.cache.get(key);
  }
}
