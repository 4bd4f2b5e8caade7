// The state graph: every state a call can be in, the present one lit, and the last edge taken.

const WIDTH = 96,
  HEIGHT = 32;
const NODES = {
  idle: [56, 26],
  waiting: [56, 114],
  offline: [56, 202],
  "circuit-open": [56, 290],
  loading: [190, 158],
  success: [324, 26],
  failed: [324, 114],
  exhausted: [324, 202],
  cancelled: [324, 290],
};
const EDGES = [
  ["idle", "loading"],
  ["loading", "success"],
  ["loading", "waiting"],
  ["waiting", "loading"],
  ["loading", "offline"],
  ["offline", "loading"],
  ["loading", "circuit-open"],
  ["circuit-open", "loading"],
  ["waiting", "offline"],
  ["loading", "failed"],
  ["failed", "loading"],
  ["loading", "exhausted"],
  ["exhausted", "loading"],
  ["loading", "cancelled"],
  ["cancelled", "loading"],
  ["waiting", "cancelled"],
  ["offline", "cancelled"],
  ["circuit-open", "cancelled"],
];

/** Draws into an empty <svg>; the returned function shows a step. */
export function createGraph(svg) {
  svg.append(arrowHead("arrow"), arrowHead("arrow-taken"));
  for (const [from, to] of EDGES) svg.append(edge(from, to, "edge"));
  let taken = null;
  const nodes = Object.fromEntries(Object.keys(NODES).map((name) => [name, node(name)]));
  svg.append(...Object.values(nodes));

  return (from, to) => {
    for (const [name, group] of Object.entries(nodes)) group.classList.toggle("now", name === to);
    taken?.remove();
    taken = from === null || from === to ? null : edge(from, to, "edge taken");
    if (taken) svg.insertBefore(taken, nodes.idle);
    svg.setAttribute("aria-label", `State graph. Now: ${to}${taken ? `, coming from ${from}` : ""}.`);
  };
}

function node(name) {
  const [x, y] = NODES[name];
  const group = element("g", { class: "node", "data-node": name });
  const label = element("text", { x, y, dy: "0.35em" });
  label.textContent = name;
  group.append(element("rect", { x: x - WIDTH / 2, y: y - HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 9 }), label);
  return group;
}

// A bow to the left of its direction, so that there and back are two lines. Within a column it goes round what is between.
function edge(from, to, className) {
  const [ax, ay] = NODES[from],
    [bx, by] = NODES[to];
  const far = Math.abs(by - ay);
  const bend = ax !== bx ? 0.1 : far > 100 ? 120 / far : 0.2;
  const control = [(ax + bx) / 2 + (by - ay) * bend, (ay + by) / 2 - (bx - ax) * bend];
  const [sx, sy] = border(NODES[from], control, 0),
    [ex, ey] = border(NODES[to], control, 4);
  return element("path", {
    class: className,
    d: `M${sx} ${sy}Q${control[0]} ${control[1]} ${ex} ${ey}`,
  });
}

// Where the line from a node's middle towards a point leaves its box, `gap` further out.
function border([x, y], [tx, ty], gap) {
  const dx = tx - x,
    dy = ty - y;
  const scale = Math.min((WIDTH / 2 + gap) / Math.abs(dx), (HEIGHT / 2 + gap) / Math.abs(dy));
  return [x + dx * scale, y + dy * scale];
}

function arrowHead(id) {
  const marker = element("marker", {
    id,
    viewBox: "0 0 8 8",
    refX: 6,
    refY: 4,
    markerWidth: 8,
    markerHeight: 8,
    markerUnits: "userSpaceOnUse",
    orient: "auto",
  });
  marker.append(element("path", { d: "M0 0L8 4L0 8z" }));
  return marker;
}

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
