// How sigma draws nodes: as points with one of six shapes, without the hidden picture by which it finds the node
// under the mouse; `nearest` in map.js finds it instead.

const BEYOND_DISC = "1.2"; // shapes reach this far beyond a disc of the same size

const VERTEX = `
attribute vec4 a_color;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
uniform float u_sizeRatio;
uniform float u_pixelRatio;
uniform mat3 u_matrix;
varying vec4 v_color;
varying float v_soft;
varying float v_shape;
void main() {
  gl_Position = vec4((u_matrix * vec3(a_position, 1)).xy, 0, 1);
  float radius = a_size / u_sizeRatio * u_pixelRatio;
  gl_PointSize = radius * 2.0 * ${BEYOND_DISC};
  v_soft = 0.7 / radius;
  v_shape = a_shape;
  v_color = a_color;
  v_color.a *= 255.0 / 254.0;
}`;

// The distance to the border of each shape, negative inside; the radius of the disc is 1.
const FRAGMENT = `
precision mediump float;
varying vec4 v_color;
varying float v_soft;
varying float v_shape;
float crossed(vec2 q) { return min(max(q.x - 0.4, q.y - 1.1), max(q.x - 1.1, q.y - 0.4)); }
void main(void) {
  vec2 p = (gl_PointCoord - 0.5) * 2.0 * ${BEYOND_DISC}, q = abs(p);
  float far = length(p) - 1.0;
  if (v_shape > 4.5) far = crossed(abs(vec2(p.x + p.y, p.x - p.y)) * 0.707);
  else if (v_shape > 3.5) far = crossed(q);
  else if (v_shape > 2.5) far = max(p.y - 0.9, q.x * 0.87 - (p.y + 1.1) * 0.5);
  else if (v_shape > 1.5) far = (q.x + q.y - 1.15) * 0.707;
  else if (v_shape > 0.5) far = max(q.x, q.y) - 0.85;
  gl_FragColor = mix(v_color, vec4(0.0), smoothstep(-v_soft, v_soft, far));
}`;

export function markProgram() {
  const { NodePointProgram } = Sigma.rendering;
  return class extends NodePointProgram {
    constructor(gl, _, renderer) { super(gl, null, renderer); }

    getDefinition() {
      const usual = super.getDefinition(), shape = { name: "a_shape", size: 1, type: WebGLRenderingContext.FLOAT };
      const known = usual.ATTRIBUTES.filter(({ name }) => name !== "a_id");
      return { ...usual, VERTEX_SHADER_SOURCE: VERTEX, FRAGMENT_SHADER_SOURCE: FRAGMENT, ATTRIBUTES: [...known, shape] };
    }

    processVisibleItem(_, at, node) {
      super.processVisibleItem(0, at, node);
      this.array[at + 4] = node.shape; // where the program of sigma has the number of the node
    }
  };
}
