(most) => {
  // The states of a page that its controls show. `page` is their union: the first state, copied into a document that runs no
  // scripts, and each part that a click shows and that no earlier state had, at the same place. A state consists of what the
  // crawler would read: texts and links, whether visible or hidden by a style.
  if (document.getElementsByTagName("*").length > most) return null;
  const page = document.implementation.createHTMLDocument("");
  const copies = new WeakMap();
  const texts = new Set([""]);
  const links = new Set();
  const shown = []; // controls by number
  const numbers = new Map();
  let clicks = 0;
  let address = here();
  let entries = history.length;

  const SILENT = new Set(["script", "style", "noscript", "template"]);
  const CONTROLS = "button, input[type=button], summary, a, [role=button], [role=tab], [onclick]";
  const OPEN = "[aria-selected=true], [aria-expanded=true], details[open] > summary";
  const USELESS = `:disabled, [aria-disabled=true], [download], ${OPEN}`;
  const ACTIVE = "a[href], button, input, label, select, summary, textarea";

  function here() {
    return location.href.split("#")[0];
  }
  const isPlace = (name) => name && (document.getElementById(name) || document.getElementsByName(name).length);
  const clean = (text) => text.replace(/\s+/g, " ").trim();
  const target = (url) => (/^https?:/.test(url) ? url.split("#")[0] : "");
  const link = (node) => (["a", "area"].includes(node.localName) && typeof node.href === "string" ? target(node.href) : "");
  const inside = (node) => [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])];
  const isCopied = (node) => !["script", "noscript"].includes(node.localName) || node.type === "application/ld+json";

  const copy = (node) => {
    const made = page.importNode(node, false);
    copies.set(node, made);
    if (link(node)) made.setAttribute("href", node.href);
    for (const inner of inside(node)) {
      if (isCopied(inner)) made.append(copy(inner));
    }
    return made;
  };

  // Numbers of characters below each node: [new, all]. A link counts as one more. If its target is new, so is all its text.
  const measured = (node, sizes, news) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = clean(node.data);
      const size = [texts.has(text) ? 0 : text.length, text.length];
      if (size[0]) news.texts.push(text);
      sizes.set(node, size);
      return size;
    }
    let [fresh, all] = [0, 0];
    if (node.nodeType === Node.ELEMENT_NODE && !SILENT.has(node.localName)) {
      if (node.matches(CONTROLS) && mayBeClicked(node)) news.controls.push(node);
      for (const inner of inside(node)) {
        const [more, of] = measured(inner, sizes, news);
        fresh += more;
        all += of;
      }
      const url = link(node);
      if (url) {
        all += 1;
        if (!links.has(url)) {
          news.links.push(url);
          fresh = all;
        }
      }
    }
    sizes.set(node, [fresh, all]);
    return sizes.get(node);
  };

  // Copies the largest parts that are mostly new. They may be in elements known from before, or in rebuilt ones.
  const merge = (node, sizes) => {
    const [fresh, all] = sizes.get(node) ?? [0, 0];
    if (!fresh) return;
    const isNew = !copies.has(node) && 2 * fresh > all;
    if (isNew || node.nodeType === Node.TEXT_NODE || (link(node) && !links.has(link(node)))) place(node);
    else inside(node).forEach((inner) => merge(inner, sizes));
  };

  const place = (node) => {
    let before = node;
    while (before && !copies.has(before)) before = before.previousSibling;
    before = copies.get(before);
    let parent = node.parentNode ?? node.host;
    while (parent && !copies.has(parent)) parent = parent.parentNode ?? parent.host;
    let made = copy(node);
    if (node.nodeType === Node.TEXT_NODE) {
      const span = page.createElement("span");
      span.append(" ", made);
      made = span;
    }
    insert(made, before, copies.get(parent));
  };

  const insert = (made, before, parent) => {
    made.setAttribute("data-click", clicks);
    if (before?.parentNode) before.after(made);
    else (parent ?? page.body ?? page.documentElement).append(made);
  };

  const mayBeClicked = (node) => {
    if (node.matches(USELESS) || node.parentElement?.closest(ACTIVE)) return false;
    if (node.form && node.type !== "button") return false; // it submits or resets the form
    if (node.localName === "input" && node.type !== "button") return false;
    if (["label", "select", "textarea", "option", "form", "body", "html"].includes(node.localName)) return false;
    if (node.localName === "a") {
      const href = node.getAttribute("href")?.trim();
      const isHere = /^javascript:/i.test(href) || (href?.startsWith("#") && !isPlace(href.slice(1)));
      if (href === undefined ? !node.matches("[role], [onclick]") : !isHere) return false;
    }
    return node.checkVisibility({ visibilityProperty: true });
  };

  // Without digits: they distinguish instances, not kinds.
  const signature = (node) => {
    const path = [];
    for (let outer = node.parentElement; outer && path.length < 3; outer = outer.parentElement) {
      path.push(`${outer.localName}.${outer.classList[0] ?? ""}`);
    }
    const own = [node.localName, node.getAttribute("role") ?? "", [...node.classList].sort().join(".")];
    return [...own, ...path].join(" ").replace(/\d+/g, "").slice(0, 300);
  };

  // The texts and names of a control, one per line, for `harmful_names.py`.
  const says = (node) => {
    const names = ["aria-label", "title", "alt", "value", "id", "name", "onclick", "data-action", "href"];
    const parts = [node, ...node.querySelectorAll("[alt], [title], [aria-label]")].slice(0, 5);
    const said = parts.flatMap((part) => names.map((name) => part.getAttribute(name) ?? ""));
    return [node.textContent, ...said, `class ${node.getAttribute("class")}`].map((line) => clean(line).slice(0, 100)).join("\n");
  };

  // A control is identified by its texts and its place, since scripts recreate elements, or reuse them for something else.
  const described = (nodes) => {
    const alike = new Map();
    return nodes.slice(0, 300).map((node) => {
      const [kind, said] = [signature(node), says(node)];
      const name = `${kind}\n${said}`;
      alike.set(name, (alike.get(name) ?? 0) + 1);
      const key = `${alike.get(name)}\n${name}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      shown[numbers.get(key)] = node;
      return [numbers.get(key), kind, said];
    });
  };

  const look = (urls) => {
    const sizes = new Map();
    const news = { texts: [], links: [], controls: [] };
    let text = 0;
    const moved = here() !== address;
    if (moved) {
      urls.push(here()); // a separate page, which is not read as a part of this one
      if (history.length > entries) history.back();
      else address = here();
      entries = history.length;
    } else {
      text = measured(document.documentElement, sizes, news)[0];
      merge(document.documentElement, sizes);
    }
    for (const url of new Set(urls.map(target))) {
      if (!url || links.has(url) || news.links.includes(url)) continue;
      news.links.push(url);
      const made = page.createElement("a");
      made.href = url;
      made.textContent = clean(shown[clicked]?.textContent ?? "").slice(0, 100);
      insert(made, copies.get(shown[clicked]), page.body);
    }
    news.texts.forEach((each) => texts.add(each));
    news.links.forEach((each) => links.add(each));
    return { moved, links: new Set(news.links).size, text, controls: described(news.controls) };
  };

  let clicked = -1;
  const click = (number) => {
    const node = shown[number];
    clicked = number;
    clicks += 1;
    const how = { bubbles: true, cancelable: true, composed: true, button: 0, view: window };
    for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup"]) {
      node.dispatchEvent(kind[0] === "p" ? new PointerEvent(kind, how) : new MouseEvent(kind, how));
    }
    node.click();
  };

  addEventListener("submit", (event) => event.preventDefault(), true);
  page.documentElement.replaceWith(copy(document.documentElement));
  links.add(address);
  globalThis.states = { page, click, look, copyOf: (node) => copies.get(node) };
  const first = { texts: [], links: [], controls: [] };
  measured(document.documentElement, new Map(), first);
  first.texts.forEach((each) => texts.add(each));
  first.links.forEach((each) => links.add(each));
  return { controls: described(first.controls) };
}
