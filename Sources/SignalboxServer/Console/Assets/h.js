// A small virtual DOM: h() describes elements, render() changes the page to match. Texts only ever become text nodes,
// and links and pictures only lead where safeLink() and safePicture() permit.
const svgSpace = "http://www.w3.org/2000/svg";
// Properties that do not follow their attribute once the user has changed them.
const live = new Set(["value", "checked", "selected"]);

/** Describes an element. A function as `tag` is called with the properties and the children. */
export function h(tag, props, ...children) {
  const list = [];
  collect(children, list);
  if (typeof tag === "function") return tag(props ?? {}, list);
  return { tag, props: props ?? {}, key: props?.key, children: list };
}

function collect(children, list) {
  for (const child of children) {
    if (Array.isArray(child)) collect(child, list);
    else if (child !== null && child !== undefined && child !== false && child !== true) {
      list.push(typeof child === "object" ? child : String(child));
    }
  }
}

/** Makes the children of `root` match the descriptions. Elements with equal keys are kept, with focus and selection. */
export function render(root, ...children) {
  const list = [];
  collect(children, list);
  reconcile(root, list, root.namespaceURI === svgSpace);
}

/** Whether a link of foreign data may become an anchor: http(s) and the gateway's own pages. */
export function safeLink(url) {
  return /^(#|console\/|media\/|v1\/|openapi\.json$)/.test(url) || /^https?:\/\/[^\s\\]+$/i.test(url);
}

/** Whether the page may load a picture: files of the gateway, and those made in this page. */
export function safePicture(url) {
  return /^media\/[0-9a-f]{64}(\?[\w=&%.-]*)?$/.test(url) || url.startsWith("blob:");
}

// Chooses the old node of each description first and removes the others, so that nodes that stay are not moved: a moved
// node loses the focus.
function reconcile(parent, list, isSVG) {
  const old = [...parent.childNodes];
  const keyed = new Map();
  for (const node of old) if (node.$key !== undefined) keyed.set(node.$key, node);
  let next = 0;
  const chosen = list.map((item) => {
    if (item.key !== undefined) {
      const node = keyed.get(item.key);
      keyed.delete(item.key);
      return node && fits(node, item) ? node : null;
    }
    for (let at = next; at < old.length; at += 1) {
      if (old[at].$key === undefined && fits(old[at], item)) {
        next = at + 1;
        return old[at];
      }
    }
    return null;
  });
  const kept = new Set(chosen);
  for (const node of old) if (!kept.has(node)) node.remove();
  let cursor = parent.firstChild;
  list.forEach((item, at) => {
    const node = chosen[at];
    if (node) update(node, item, isSVG);
    const placed = node ?? create(item, isSVG);
    // A node with the focus stays; its neighbours are taken out and placed later.
    if (placed !== cursor && node?.contains(document.activeElement)) {
      while (cursor !== placed) {
        const next = cursor.nextSibling;
        cursor.remove();
        cursor = next;
      }
    }
    if (placed === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(placed, cursor);
  });
}

function fits(node, item) {
  return typeof item === "string" ? node.nodeType === Node.TEXT_NODE : node.$tag === item.tag;
}

function create(item, isSVG) {
  if (typeof item === "string") return document.createTextNode(item);
  const isInSVG = isSVG || item.tag === "svg";
  const node = isInSVG ? document.createElementNS(svgSpace, item.tag) : document.createElement(item.tag);
  [node.$tag, node.$key, node.$props] = [item.tag, item.key, {}];
  update(node, item, isSVG);
  if (item.props.mounted) queueMicrotask(() => item.props.mounted(node));
  return node;
}

function update(node, item, isSVG) {
  if (typeof item === "string") {
    if (node.data !== item) node.data = item;
    return;
  }
  // Children first: the value of a select needs its options.
  if (item.props.mounted?.owns !== true) reconcile(node, item.children, isSVG || item.tag === "svg");
  const former = node.$props;
  for (const name in former) if (!(name in item.props)) set(node, name, undefined, former[name]);
  for (const name in item.props) set(node, name, item.props[name], former[name]);
  node.$props = item.props;
}

function set(node, name, value, former) {
  if (name === "key" || name === "mounted") return;
  if (name.startsWith("on")) {
    node.$on ??= {};
    if (!(name in node.$on)) node.addEventListener(name.slice(2), (event) => node.$on[name]?.(event));
    node.$on[name] = value;
  } else if (name === "style") {
    for (const key in former ?? {}) if (!(key in (value ?? {}))) node.style.removeProperty(key);
    for (const key in value ?? {}) node.style.setProperty(key, value[key]);
  } else if (live.has(name) && name in node) {
    if (node[name] !== (value ?? "")) node[name] = value ?? "";
  } else if (value === former) {
    return;
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else if ((name === "href" && !safeLink(String(value))) || (name === "src" && !safePicture(String(value)))) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}
