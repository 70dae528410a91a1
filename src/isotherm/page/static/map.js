// The map: sigma draws points and edges; a canvas above it has rings, numbers and names.
import { SHAPES } from "./colours.js";
import { markProgram } from "./marks.js";

const FEW = 500, SOME = 5000, ALL = 100000, SAMPLE = 50000, RINGS = 3000;
const MANY_SEEDS = 200; // above this, rings are smaller and thinner
const NAMED = 40; // class names on the map

// The mean position of the nodes in the densest 3 x 3 cells, and the number of all nodes.
function densest(sums, wide) {
  const field = wide * wide, around = [-wide - 1, -wide, -wide + 1, -1, 0, 1, wide - 1, wide, wide + 1];
  const total = (start, cell) => around.reduce((sum, step) => sum + sums[start + cell + step], 0);
  let best = wide + 1, most = 0, nodes = 0;
  for (let cell = wide + 1; cell < field - wide - 1; cell++) {
    nodes += sums[cell];
    const count = sums[cell] && total(0, cell);
    if (count > most) { best = cell; most = count; }
  }
  return { x: total(field, best) / most, y: total(2 * field, best) / most, nodes };
}

export class GraphMap {
  constructor(container, over, events) {
    this.container = container;
    this.over = over;
    this.events = events;
    this.palette = null;
    this.n = 0;
    this.codes = new Uint16Array(0);
    this.levels = new Uint8Array(0);
    this.mask = null; // for each node 1 if the filter shows it; null if there is no filter
    this.values = null; // colours by a number or a category in place of the class
    this.selected = -1;
    this.group = [];
    this.seeds = [];
    this.suggestions = [];
    this.names = undefined; // null once the server has said that the graph is too large
    this.spots = [];
    this.links = [];
  }

  // Positions (2n numbers) and edges (pairs) are sent once.
  place(positions, edges) {
    this.positions = positions;
    this.n = positions.length / 2;
    const small = this.n <= SOME;
    this.shown = this.sampled();
    this.graph = this.filled(this.shown, edges);
    this.sigma = new Sigma(this.graph, this.container, {
      renderLabels: false, renderEdgeLabels: false, hideEdgesOnMove: !small, enableEdgeEvents: false,
      defaultNodeType: "mark", nodeProgramClasses: { mark: markProgram() }, allowInvalidContainer: true, stagePadding: 26, zIndex: true,
      defaultEdgeType: "line", edgeProgramClasses: { line: Sigma.rendering.EdgeLineProgram }, // the fastest without a graphics card
      defaultDrawNodeHover: () => {}, minCameraRatio: 0.005, maxCameraRatio: 3,
    });
    if (this.n > ALL) { this.sigma.setCustomBBox(this.extent()); this.sigma.refresh(); } // the extent of all nodes, not only of the nodes shown
    this.sigma.on("afterRender", () => { this.added = false; this.annotate(); });
    this.findSpots();
    this.annotate();
    this.drawn = true;
    this.listen();
    let later = 0;
    this.sigma.getCamera().on("updated", () => {
      if (this.n <= ALL) return;
      clearTimeout(later);
      later = setTimeout(() => this.show(this.sampled()), 200);
    });
    new ResizeObserver(() => this.sigma && this.sigma.refresh({ skipIndexation: true })).observe(this.container);
  }

  // Mouse and touch. Sigma's own listeners are removed: at each move they read a pixel, which waits for the last frame.
  listen() {
    const [mouse, fingers] = [this.sigma.getMouseCaptor(), this.sigma.getTouchCaptor()];
    for (const captor of [mouse, fingers]) captor.removeAllListeners();
    const pick = ({ x, y, touches, previousTouches }) => {
      const spot = touches ? touches[0] ?? previousTouches[0] : { x, y };
      return this.nearest(spot.x, spot.y);
    };
    const select = (event) => this.events.select(pick(event));
    const fly = (event) => {
      event.preventSigmaDefault();
      const node = pick(event);
      if (node >= 0) this.fly(node);
    };
    mouse.on("click", select);
    fingers.on("tap", select);
    mouse.on("doubleClick", fly);
    fingers.on("doubletap", fly);
    mouse.on("mousemovebody", (event) => this.hover(event));
    this.container.addEventListener("mouseleave", () => this.events.hover(-1));
  }

  extent() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.n; i++) {
      const x = this.positions[2 * i], y = this.positions[2 * i + 1];
      left = Math.min(left, x); right = Math.max(right, x);
      low = Math.min(low, y); high = Math.max(high, y);
    }
    return { x: [left, right], y: [low, high] };
  }

  // The nodes to draw: all nodes, or for a large graph 50,000 in view, including seeds and suggestions.
  sampled() {
    if (this.n <= ALL) return Array.from({ length: this.n }, (_, i) => i);
    const wanted = new Set([...this.seeds, ...this.suggestions, ...(this.selected >= 0 ? [this.selected] : [])]);
    const corners = [[0, 0], [this.container.offsetWidth, this.container.offsetHeight]];
    const [a, b] = this.sigma ? corners.map(([x, y]) => this.sigma.viewportToGraph({ x, y })) : [{ x: -9, y: -9 }, { x: 9, y: 9 }];
    const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)], [low, high] = [Math.min(a.y, b.y), Math.max(a.y, b.y)];
    const inside = [];
    for (let i = 0; i < this.n; i++) {
      const x = this.positions[2 * i], y = this.positions[2 * i + 1];
      if (x >= left && x <= right && y >= low && y <= high) inside.push(i);
    }
    this.onSample(Math.min(inside.length, SAMPLE), inside.length);
    const stride = Math.max(1, inside.length / SAMPLE);
    for (let at = 0; at < inside.length; at += stride) wanted.add(inside[Math.floor(at)]);
    return [...wanted].sort((one, other) => one - other);
  }

  // Draw these nodes too: of a large graph, only some are drawn.
  include(nodes) {
    if (!this.sigma || this.n <= ALL) return;
    for (const i of nodes) {
      if (i < 0 || this.graph.hasNode(i)) continue;
      this.graph.addNode(i, this.point(i));
      this.shown.push(i);
      this.added = true; // sigma has not placed it yet
    }
  }

  point(i) {
    return { x: this.positions[2 * i], y: this.positions[2 * i + 1], size: this.size, color: this.colour(i), shape: this.shape(i), zIndex: this.codes[i] ? 1 : 0 };
  }

  get size() {
    return this.n <= 100 ? 8 : this.n <= FEW ? 6 : this.n <= SOME ? 3.4 : this.n <= 20000 ? 2.2 : 1.6;
  }

  // A graph for sigma, complete before sigma gets it: sigma does a lot of work for each node that is added later.
  filled(nodes, edges) {
    const graph = new graphology.Graph({ multi: true, type: "undirected" });
    for (const i of nodes) graph.addNode(i, this.point(i));
    for (let at = 0; at < edges.length; at += 2) {
      graph.addEdge(edges[at], edges[at + 1], { size: this.n <= FEW ? 0.8 : 0.4, color: this.palette.edge });
    }
    return graph;
  }

  show(nodes) {
    this.shown = nodes;
    this.graph = this.filled(nodes, []);
    this.sigma.setGraph(this.graph);
  }

  visible(i) {
    return !this.mask || this.mask[i] === 1;
  }

  colour(i) {
    const own = this.values ? this.values.colour(i, this.palette) : this.ownColour(i);
    return this.visible(i) ? own : this.palette.faint(own);
  }

  // The colour of a node by its class, whatever is filtered or shown.
  ownColour(i) {
    return this.codes[i] ? this.palette.of(this.codes[i] - 1, this.levels[i] / 255) : this.palette.nothing;
  }

  shape(i) {
    return this.palette.shape(this.values ? this.values.code(i) : this.codes[i] - 1);
  }

  // Draw these nodes, or all, in their present colours, without placing or sorting them again.
  recolour(changed = null) {
    if (!this.sigma) return;
    const nodes = [];
    for (const i of changed ?? this.shown) {
      const colour = this.colour(i), shape = this.shape(i), drawn = this.graph.hasNode(i) ? this.graph.getNodeAttributes(i) : null;
      if (!drawn || (drawn.color === colour && drawn.shape === shape)) continue;
      drawn.color = colour; // set directly, so that no event is sent for each node
      drawn.shape = shape;
      nodes.push(String(i));
    }
    this.findSpots();
    if (nodes.length) this.sigma.refresh({ partialGraph: { nodes }, skipIndexation: !this.added, schedule: true });
  }

  setTheme(palette) {
    this.palette = palette;
    if (!this.sigma) return;
    this.graph.updateEachEdgeAttributes((_, attributes) => ({ ...attributes, color: palette.edge }), { attributes: ["color"] });
    this.recolour();
  }

  // Where the name of each class goes: the densest 3 x 3 of 32 x 32 cells, by its nodes above the strip.
  findSpots() {
    const wide = 34, field = wide * wide, sizes = new Map(); // 32 cells and a border
    for (const code of this.codes) if (code) sizes.set(code - 1, (sizes.get(code - 1) ?? 0) + 1);
    const named = [...sizes].sort((one, other) => other[1] - one[1]).slice(0, NAMED).map(([code]) => code);
    const sums = new Map(named.map((code) => [code, new Float64Array(3 * field)])); // counts, sums of x and y
    for (let i = 0; i < this.n; i++) {
      const x = this.positions[2 * i], y = this.positions[2 * i + 1], own = sums.get(this.codes[i] - 1);
      if (!own || !this.codes[i] || y < -1.01 || !this.visible(i)) continue;
      const cell = Math.floor((x + 1) / 2.001 * 32 + 1) * wide + Math.floor((y + 1) / 2.001 * 32 + 1);
      own[cell] += 1; own[field + cell] += x; own[2 * field + cell] += y;
    }
    this.spots = [...sums].map(([code, own]) => ({ code, ...densest(own, wide) })).filter((spot) => spot.nodes);
  }

  at(i) {
    return this.sigma.graphToViewport({ x: this.positions[2 * i], y: this.positions[2 * i + 1] });
  }

  // The node drawn nearest to a point on the screen, within 10 pixels; -1 if there is none.
  nearest(x, y) {
    const here = this.sigma.viewportToGraph({ x, y }), there = this.sigma.viewportToGraph({ x: x + 10, y });
    const most = (there.x - here.x) ** 2 + (there.y - here.y) ** 2;
    let best = -1, least = most;
    for (const i of this.shown) {
      const far = (this.positions[2 * i] - here.x) ** 2 + (this.positions[2 * i + 1] - here.y) ** 2;
      if (far < least) { best = i; least = far; }
    }
    return best;
  }

  hover(event) {
    clearTimeout(this.hovering);
    this.hovering = setTimeout(() => {
      const box = this.container.getBoundingClientRect();
      const [x, y] = [event.original.clientX - box.left, event.original.clientY - box.top];
      const inside = x >= 0 && y >= 0 && x <= box.width && y <= box.height;
      this.events.hover(inside ? this.nearest(x, y) : -1, x, y);
    }, 25);
  }

  fly(i) {
    const camera = this.sigma.getCamera();
    const place = this.sigma.viewportToFramedGraph(this.at(i));
    camera.animate({ x: place.x, y: place.y, ratio: Math.min(camera.ratio, this.n > 3000 ? 0.12 : 0.5) }, { duration: 350 });
  }

  zoom(factor) { this.sigma?.getCamera().animatedZoom({ factor, duration: 150 }); }
  unzoom(factor) { this.sigma?.getCamera().animatedUnzoom({ factor, duration: 150 }); }
  reset() { this.sigma?.getCamera().animatedReset({ duration: 250 }); }
  pan(right, up) {
    const camera = this.sigma?.getCamera();
    if (camera) camera.animate({ x: camera.x + 0.15 * right * camera.ratio, y: camera.y + 0.15 * up * camera.ratio }, { duration: 120 });
  }

  // Draw before the next frame, once for any number of calls.
  annotateSoon() {
    if (!this.sigma || this.annotating) return;
    this.annotating = true;
    requestAnimationFrame(() => { this.annotating = false; this.annotate(); });
  }

  annotate() {
    const { over, palette } = this, ratio = window.devicePixelRatio || 1;
    const [width, height] = [over.clientWidth, over.clientHeight];
    if (over.width !== width * ratio || over.height !== height * ratio) { over.width = width * ratio; over.height = height * ratio; }
    const pen = over.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const inView = (spot) => spot.x > -20 && spot.y > -20 && spot.x < width + 20 && spot.y < height + 20;
    this.drawLinks(pen);
    pen.strokeStyle = palette.ink;
    const many = this.seeds.length > MANY_SEEDS;
    const radius = this.sigma.scaleSize(this.size) + (this.n <= FEW ? 3 : many ? 0.6 : 1.6);
    pen.lineWidth = this.n <= FEW ? 2 : many ? 0.6 : 1.2;
    for (const i of this.seeds.slice(0, RINGS)) {
      if (!this.visible(i)) continue;
      const spot = this.at(i);
      if (inView(spot)) { pen.beginPath(); pen.arc(spot.x, spot.y, radius, 0, 7); pen.stroke(); }
    }
    this.drawStripNote(pen);
    if (this.n <= FEW) this.drawNames(pen, inView);
    else this.drawSpots(pen, inView);
    this.drawSuggestions(pen, inView);
    this.drawGroup(pen, inView);
    this.drawSelected(pen);
    if (this.outline) this.drawOutline(pen);
  }

  // A note on the strip of small components below the map.
  drawStripNote(pen) {
    if (this.strip === undefined) {
      this.strip = { nodes: 0, x: Infinity, y: Infinity };
      for (let i = 0; i < this.n; i++) {
        if (this.positions[2 * i + 1] > -1.01) continue;
        this.strip.nodes += 1;
        this.strip.x = Math.min(this.strip.x, this.positions[2 * i]);
        this.strip.y = Math.min(this.strip.y, this.positions[2 * i + 1]);
      }
    }
    if (!this.strip.nodes) return;
    const spot = this.sigma.graphToViewport(this.strip);
    pen.font = "11px sans-serif"; pen.textAlign = "left"; pen.textBaseline = "top"; pen.fillStyle = this.palette.quiet;
    pen.fillText(`${this.strip.nodes.toLocaleString("en")} nodes in small components, apart from the map`, spot.x, spot.y + 5);
  }

  drawLinks(pen) {
    if (this.selected < 0) return;
    const from = this.at(this.selected);
    pen.strokeStyle = this.palette.ink;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 0.8;
    for (const i of this.links) {
      const to = this.at(i);
      pen.beginPath(); pen.moveTo(from.x, from.y); pen.lineTo(to.x, to.y); pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // Write a text with a border in the background colour; its box, or null if it would cover an earlier text.
  write(pen, text, x, y, font, colour, taken) {
    pen.font = font;
    const short = text.length > 40 ? text.slice(0, 39) + "…" : text;
    const half = pen.measureText(short).width / 2 + 2;
    x = Math.max(half, Math.min(this.over.clientWidth - half, x)); // inside the map
    const box = [x - half, y - 8, x + half, y + 8];
    if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return null;
    taken.push(box);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = this.palette.ground;
    pen.strokeText(short, x, y);
    pen.fillStyle = colour;
    pen.fillText(short, x, y);
    return box;
  }

  // Names of nodes above or below them, where they cover no node, no number and no other name.
  drawNames(pen, inView) {
    if (!this.names) return;
    const radius = this.sigma.scaleSize(this.size), order = new Set([...(this.selected >= 0 ? [this.selected] : []), ...this.seeds, ...this.suggestions, ...this.shown]);
    const taken = this.shown.map((i) => this.at(i)).map(({ x, y }) => [x - radius, y - radius, x + radius, y + radius]);
    taken.push(...this.suggestions.slice(0, 10).map((i) => this.numberAt(i)).map(({ x, y }) => [x - 5, y - 6, x + 5, y + 6]));
    for (const i of order) {
      const { x, y } = this.at(i);
      if (!inView({ x, y })) continue;
      for (const away of [-radius - 11, radius + 12]) if (this.write(pen, this.names[i], x, y + away, "11px sans-serif", this.palette.ink, i === this.selected ? [] : taken)) break;
    }
  }

  // Where the number of a suggestion goes on a small graph.
  numberAt(i) {
    const { x, y } = this.at(i), radius = this.sigma.scaleSize(this.size) + 3.5;
    return { x: x + radius + 6, y: y + radius - 1, radius };
  }

  // Names of classes, moved up or down where they would cover a suggestion or another name.
  drawSpots(pen, inView) {
    const taken = [...this.suggestions.slice(0, 10), ...(this.selected >= 0 ? [this.selected] : [])].map((i) => {
      const { x, y } = this.at(i), half = i === this.selected ? 40 : 10; // its name is below it
      return [x - half, y - 10, x + half, i === this.selected ? y + 32 : y + 10];
    });
    for (const spot of this.values ? [] : this.spots) {
      const { x, y } = this.sigma.graphToViewport(spot), font = spot.code < 10 ? "bold 13px sans-serif" : "12px sans-serif";
      if (!inView({ x, y }) || !this.classNames?.[spot.code]) continue;
      for (const up of [0, -20, 20, -40, 40]) {
        const box = this.write(pen, this.classNames[spot.code], x, y + up, font, this.palette.ink, taken);
        if (box) { this.drawMark(pen, spot.code, box[0] - 6, y + up); break; }
      }
    }
  }

  // The mark of a class, with a border in the background colour.
  drawMark(pen, code, x, y) {
    const path = new Path2D(SHAPES[this.palette.shape(code)]);
    pen.save();
    pen.translate(x, y); pen.scale(5, 5);
    pen.lineWidth = 0.7; pen.stroke(path);
    pen.fillStyle = this.palette.base(code); pen.fill(path);
    pen.restore();
  }

  drawGroup(pen, inView) {
    pen.strokeStyle = this.palette.ink; pen.lineWidth = 1.5;
    for (const i of this.group.slice(0, RINGS)) {
      const { x, y } = this.at(i);
      if (inView({ x, y })) pen.strokeRect(x - 5, y - 5, 10, 10);
    }
  }

  // The box or lasso that is being drawn.
  drawOutline(pen) {
    pen.strokeStyle = this.palette.ink; pen.lineWidth = 1.5; pen.setLineDash([5, 3]);
    pen.beginPath();
    this.outline.forEach(([x, y], at) => pen[at ? "lineTo" : "moveTo"](x, y));
    pen.closePath(); pen.stroke(); pen.setLineDash([]);
  }

  // The visible nodes inside a polygon on the screen.
  inside(polygon) {
    const corners = polygon.map(([x, y]) => this.sigma.viewportToGraph({ x, y }));
    return this.shown.filter((i) => {
      if (!this.visible(i)) return false;
      const x = this.positions[2 * i], y = this.positions[2 * i + 1];
      let odd = false;
      for (let at = 0, last = corners.length - 1; at < corners.length; last = at++) {
        const [a, b] = [corners[at], corners[last]];
        if (a.y > y !== b.y > y && x < (b.x - a.x) * (y - a.y) / (b.y - a.y) + a.x) odd = !odd;
      }
      return odd;
    });
  }

  drawSuggestions(pen, inView) {
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.suggestions.slice(0, 10).forEach((i, at) => {
      const spot = this.at(i);
      if (!inView(spot)) return;
      const small = this.n <= FEW, { x, y, radius } = small ? this.numberAt(i) : { ...spot, radius: 9 };
      pen.beginPath(); pen.arc(spot.x, spot.y, radius, 0, 7);
      if (!small) { pen.fillStyle = this.palette.ground; pen.globalAlpha = 0.85; pen.fill(); pen.globalAlpha = 1; }
      pen.setLineDash([3, 2]); pen.lineWidth = 1.6; pen.strokeStyle = this.palette.ink; pen.stroke(); pen.setLineDash([]);
      if (small) this.write(pen, String((at + 1) % 10), x, y, "bold 11px sans-serif", this.palette.ink, []);
      else { pen.font = "bold 11px sans-serif"; pen.fillStyle = this.palette.ink; pen.fillText(String((at + 1) % 10), x, y + 0.5); }
    });
  }

  drawSelected(pen) {
    if (this.selected < 0) return;
    const spot = this.at(this.selected);
    pen.strokeStyle = this.palette.ink; pen.lineWidth = 3;
    pen.beginPath(); pen.arc(spot.x, spot.y, 11, 0, 7); pen.stroke();
    if (this.selectedName && this.n > FEW) this.write(pen, this.selectedName, spot.x, spot.y + 22, "bold 13px sans-serif", this.palette.ink, []);
  }

  // The map as a picture: what sigma and the canvas show now.
  picture() {
    this.sigma.refresh();
    const out = document.createElement("canvas");
    [out.width, out.height] = [this.over.width, this.over.height];
    const pen = out.getContext("2d");
    pen.fillStyle = this.palette.ground;
    pen.fillRect(0, 0, out.width, out.height);
    const layers = this.sigma.getCanvases();
    for (const layer of [layers.edges, layers.nodes, this.over]) pen.drawImage(layer, 0, 0, out.width, out.height);
    return out;
  }
}
