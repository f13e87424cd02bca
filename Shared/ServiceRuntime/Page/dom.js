// Brings the document to a description of it and changes only the nodes that differ, so that focus, selection and
// scroll positions stay. Texts become text nodes, never markup.

/** The key and the attributes with which an element was described last. */
const described = new WeakMap();
const properties = new Set(["checked", "disabled", "hidden", "indeterminate", "tabIndex", "value"]);
const svgNames = new Set(["svg", "rect", "line", "polyline", "circle", "path"]);

/**
 * Describes an element: `h("p.quiet", "text")` or `h("a", { href, key }, "text")`. An attribute that is null, undefined
 * or false is left out; `onclick` and its like are functions; `key` tells an element from its siblings.
 */
export function h(name, ...rest) {
  const [first] = rest;
  const hasAttributes = first !== null && typeof first === "object" && !Array.isArray(first) && !first.isElement;
  const [attributes, children] = hasAttributes ? [first, rest.slice(1)] : [{}, rest];
  const [tag, ...classes] = name.split(".");
  const { key, ...others } = attributes;
  if (classes.length) others.class = [...classes, others.class].filter(Boolean).join(" ");
  return { isElement: true, tag, key, attributes: others, children: flat(children) };
}

/** Children without what is absent; neighbouring texts are one. */
function flat(children) {
  const result = [];
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (child.isElement) result.push(child);
    else if (typeof result.at(-1) === "string") result[result.length - 1] += child;
    else result.push(String(child));
  }
  return result;
}

/** Shows the children in an element. If the focused one goes, the heading of its section gets the focus. */
export function show(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const section = focused?.closest("section, main");
  patch(parent, flat(children));
  if (!focused || document.activeElement === focused) return;
  if (focused.isConnected) return focused.focus({ preventScroll: true });
  const home = section?.isConnected ? section.querySelector("h1, h2") : document.querySelector("main h1");
  focusOn(home);
}

/** Moves the focus to a heading, so that a screen reader reads on from there. */
export function focusOn(heading, options = { preventScroll: true }) {
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus(options);
}

function patch(parent, children) {
  const keyed = new Map();
  const others = [];
  for (const node of parent.childNodes) {
    const key = described.get(node)?.key;
    if (key === undefined) others.push(node);
    else keyed.set(key, node);
  }
  const nodes = children.map((child) => {
    const old = child.key === undefined ? take(others, child) : keyed.get(child.key);
    if (child.key !== undefined) keyed.delete(child.key);
    return fit(old, child, parent);
  });
  const kept = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

/** The first of the nodes that can become the child. */
function take(nodes, child) {
  const index = nodes.findIndex((node) => (child.isElement ? node.localName === child.tag : node.nodeType === Node.TEXT_NODE));
  return index < 0 ? null : nodes.splice(index, 1)[0];
}

function fit(old, child, parent) {
  if (!child.isElement) {
    const node = old ?? document.createTextNode("");
    if (node.data !== child) node.data = child;
    return node;
  }
  // The same description once more, as a caller keeps it while nothing has changed.
  if (old && described.get(old) === child) return old;
  const isSVG = svgNames.has(child.tag) || parent.namespaceURI?.endsWith("svg");
  const node = old?.localName === child.tag ? old
    : isSVG ? document.createElementNS("http://www.w3.org/2000/svg", child.tag) : document.createElement(child.tag);
  const before = described.get(node)?.attributes ?? {};
  for (const name of Object.keys(before)) if (!(name in child.attributes)) setAttribute(node, name, null);
  for (const [name, value] of Object.entries(child.attributes)) if (before[name] !== value) setAttribute(node, name, value);
  described.set(node, child);
  patch(node, child.children);
  return node;
}

function setAttribute(node, name, value) {
  const isAbsent = value === null || value === undefined || value === false;
  if (name.startsWith("on")) node[name] = isAbsent ? null : value;
  else if (properties.has(name)) {
    if (isAbsent && name === "tabIndex") node.removeAttribute("tabindex");
    else node[name] = isAbsent ? (name === "value" ? "" : false) : value;
  } else if (isAbsent) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : value);
}
