"use strict";

// Builds the page. Content from the web is put into text nodes, never parsed as HTML.

const byId = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") node.className = value;
    else if (key === "hue") { if (value !== null) node.style.setProperty("--hue", value); }
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

// A separate colour for each agent: the golden angle keeps the hues of neighbours far apart.
const hueOf = (number) => ((number * 137.508) % 360).toFixed(1);

const count = (n) => (n === null || n === undefined ? "–" : Math.round(n).toLocaleString("en"));
const fixed = (n, digits = 3) => (n === null || n === undefined ? "–" : n.toFixed(digits));
const percent = (n) => (n === null || n === undefined ? "–" : `${(100 * n).toFixed(1)}%`);
const seconds = (n) => (n === null || n === undefined ? "–" : n < 10 ? `${n.toFixed(2)} s` : `${Math.round(n)} s`);

function link(page, text) {
  if (!page.web) return make("bdi", {}, text);
  return make("a", { href: page.url, rel: "noreferrer noopener", target: "_blank" }, make("bdi", {}, text));
}

// Replaces content, and keeps the keyboard focus and the scroll positions.
function redraw(container, nodes) {
  const place = (node) => node && node.dataset && node.dataset.place;
  const focused = container.contains(document.activeElement) ? place(document.activeElement) : null;
  const bars = () => [container, ...container.querySelectorAll(".tree")];
  const places = bars().map((node) => node.scrollTop);
  container.replaceChildren(...nodes);
  bars().forEach((node, index) => { node.scrollTop = places[index] || 0; });
  if (focused) [...container.querySelectorAll("[data-place]")].find((node) => place(node) === focused)?.focus();
}

// A snippet is escaped text with <b> marks. It is parsed in a separate document, which neither runs scripts nor loads resources.
function marked(snippet) {
  const parts = [];
  const walk = (node, bold) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) parts.push(bold ? make("b", {}, child.data) : child.data);
      else walk(child, bold || child.nodeName === "B");
    }
  };
  walk(new DOMParser().parseFromString(snippet || "", "text/html").body, false);
  return parts;
}
