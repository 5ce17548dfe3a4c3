// A drawn tree to look around in: drag, wheel, pinch or keys; a click on a node tells its rule.
//
//   <div class="tree" data-svg="/address/of/the.svg" data-detail="id of the element for the rule"></div>

const STEP = 1.25;
const SMALLEST = 1.5; // at first, letters are drawn at two thirds of their size at least

/** Turn an element into a viewer of the drawing that its `data-svg` names. */
export async function showTree(element) {
  const answer = await fetch(element.dataset.svg, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`the drawing could not be fetched (${answer.status})`);
  const text = (await answer.text()).replace(/<style>[^<]*<\/style>/, ""); // the page's own sheet does it
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  const view = new View(svg);
  element.replaceChildren(svg, tools(view, element));
  makeNodes(svg, document.getElementById(element.dataset.detail));
  listen(svg, view);
  view.fit(element);
  return view;
}

/** The part of the drawing that is seen. */
class View {
  constructor(svg) {
    this.svg = svg;
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    Object.assign(this, { x: 0, y: 0, width, height, fullWidth: width, fullHeight: height });
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.setAttribute("preserveAspectRatio", "xMinYMin meet");
  }

  fit(element) {
    const box = element.getBoundingClientRect();
    const scale = Math.min(Math.max(this.fullWidth / box.width, 1), SMALLEST); // letters stay legible
    Object.assign(this, { x: 0, y: 0, width: box.width * scale, height: box.height * scale });
    this.draw();
  }

  whole() {
    Object.assign(this, { x: 0, y: 0, width: this.fullWidth, height: this.fullHeight });
    this.draw();
  }

  zoom(factor, at = { x: 0.5, y: 0.5 }) {
    const width = Math.min(Math.max(this.width * factor, 80), 4 * this.fullWidth + 400);
    const ratio = width / this.width;
    this.x += this.width * at.x * (1 - ratio);
    this.y += this.height * at.y * (1 - ratio);
    this.width = width;
    this.height *= ratio;
    this.draw();
  }

  move(right, down) {
    this.x += right * this.width;
    this.y += down * this.height;
    this.draw();
  }

  draw() {
    this.svg.setAttribute("viewBox", `${this.x} ${this.y} ${this.width} ${this.height}`);
  }
}

function tools(view, element) {
  const bar = document.createElement("div");
  bar.className = "tools";
  for (const [sign, words, action] of [
    ["+", "Zoom in", () => view.zoom(1 / STEP)],
    ["−", "Zoom out", () => view.zoom(STEP)],
    ["⤢", "Show all", () => view.whole()],
    ["⟲", "Back to the start", () => view.fit(element)],
  ]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "plain", textContent: sign, onclick: action });
    button.setAttribute("aria-label", words);
    bar.append(button);
  }
  return bar;
}

function makeNodes(svg, detail) {
  svg.setAttribute("role", "group");
  const nodes = [...svg.querySelectorAll("g")];
  nodes.forEach((node, at) => {
    const words = node.querySelector("title")?.textContent ?? "";
    node.classList.add("node");
    node.setAttribute("tabindex", at === 0 ? "0" : "-1"); // one stop for Tab; arrows go on from there
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", words);
    const choose = () => {
      for (const other of nodes) other.setAttribute("aria-pressed", String(other === node));
      if (detail) detail.textContent = words;
    };
    node.addEventListener("click", choose);
    node.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (event.key === "Enter" || event.key === " ") choose();
      else if (by && nodes[at + by]) nodes[at + by].focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  });
}

function listen(svg, view) {
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.zoom(event.deltaY > 0 ? STEP : 1 / STEP, place(event));
  }, { passive: false });
  const fingers = new Map();
  svg.addEventListener("pointerdown", (event) => fingers.set(event.pointerId, place(event)));
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    svg.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    fingers.set(event.pointerId, now);
    if (fingers.size === 1) view.move(before.x - now.x, before.y - now.y);
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      const distance = (p) => Math.hypot(p.x - other.x, p.y - other.y);
      if (distance(now) > 0) view.zoom(distance(before) / distance(now), other);
    }
  });
  svg.addEventListener("keydown", (event) => {
    const actions = { "+": () => view.zoom(1 / STEP), "-": () => view.zoom(STEP), 0: () => view.whole() };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  });
}

for (const element of document.querySelectorAll(".tree[data-svg]")) {
  showTree(element).catch((error) => { element.textContent = `${error.message}. Reload the page.`; });
}
