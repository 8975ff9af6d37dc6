"use strict";

// The side panel: the same file in the extension and on the page of the service. Content from the web is put into text nodes.

const EXTENSION = typeof chrome !== "undefined" && Boolean(chrome.storage);
const EVERY = 2000; // milliseconds between two requests
const AN_OFFER = 30; // seconds of reading that a click on the bookmarklet counts as
const byId = (id) => document.getElementById(id);
let place = { base: "", token: "" };
let shown = "";
let busy = false;

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// ---------------------------------------------------------------- where the service is, and the token

async function findPlace() {
  if (EXTENSION) return { base: "", token: "", ...(await chrome.storage.local.get(["base", "token"])) };
  const fragment = location.hash.slice(1);
  if (/^[\w-]{32,}$/.test(fragment)) {
    localStorage.setItem("token", fragment);
    history.replaceState(null, "", "/"); // the token is secret: remove it from the address
  }
  return { base: location.origin, token: localStorage.getItem("token") || "" };
}

// Parses the address as typed: the scheme, the path, and a key that is known may be missing.
function readAddress(typed) {
  const found = /^(?:http:\/\/)?(?:127\.0\.0\.1|localhost):(\d+)(?:\/[^#]*)?(?:#([\w-]{32,}))?$/i.exec(typed.trim());
  return found && { base: `http://127.0.0.1:${found[1]}`, token: found[2] || place.token };
}

async function pair(event) {
  event.preventDefault();
  const found = readAddress(byId("address").value);
  if (!found) return complain("That is not the address: it reads like http://127.0.0.1:8993/# and then a long key.");
  if (!found.token) return complain("The key is missing: paste the whole address, with all that follows #.");
  place = EXTENSION ? found : { ...found, base: location.origin };
  complain("");
  if (EXTENSION) {
    await chrome.permissions.request({ origins: ["http://127.0.0.1/*"] }).catch(() => true); // Firefox asks the person
    await chrome.storage.local.set(place);
  } else {
    localStorage.setItem("token", place.token);
  }
  look();
}

async function ask(path, body) {
  const method = body === undefined ? "GET" : "POST";
  const headers = { "X-Companion-Token": place.token, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const reply = await fetch(place.base + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const answer = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(answer.error || reply.statusText), { status: reply.status });
  return answer;
}

// ---------------------------------------------------------------- what is shown

function complain(text) {
  byId("error").textContent = text;
}

function reason(found, learned) {
  const why = learned ? "like pages you stayed on" : "like this page";
  const clicks = found.clicks === 1 ? "on this page" : `${found.clicks} clicks ahead`;
  return `${why}: ${found.because.join(", ")} · ${clicks}${found.via ? `, by “${found.via}”` : ""}`;
}

function go(event, url) {
  if (!EXTENSION || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  chrome.tabs.update({ url }); // in the current tab
}

function suggestion(found, learned) {
  const judge = (verdict) => () => act("/api/judge", { url: found.url, verdict });
  return make(
    "li",
    {},
    make("a", { href: found.url, target: "_blank", rel: "noreferrer noopener", onclick: (event) => go(event, found.url) }, found.title),
    make("p", { class: "soft" }, reason(found, learned)),
    make(
      "div",
      { class: "row" },
      make("button", { type: "button", "aria-label": `Save ${found.title}`, onclick: judge("saved") }, "Save"),
      make("button", { type: "button", "aria-label": `Dismiss ${found.title}`, onclick: judge("dismissed") }, "Dismiss"),
    ),
  );
}

function word(found) {
  const remove = () => act("/api/interest", { word: found.word, weight: 0 });
  return make("li", {}, make("button", { type: "button", "aria-label": `Remove ${found.word}`, onclick: remove }, `${found.word} ×`));
}

function status(state) {
  if (state.paused) return "Paused: nothing is fetched, and nothing is remembered.";
  if (!state.page) return "No page at hand: open one, or press the bookmarklet on it.";
  return `${state.fetched} of ${state.budget} fetches made to look ahead of this page`;
}

function show(state) {
  const text = JSON.stringify(state);
  if (text === shown) return; // a button under the pointer stays where it is
  shown = text;
  complain(state.error || "");
  byId("status").textContent = status(state);
  byId("pair").hidden = true;
  byId("pause").hidden = false;
  byId("pause").textContent = state.paused ? "Go on" : "Pause";
  byId("pause").dataset.paused = state.paused;
  byId("here").hidden = !state.page;
  byId("ahead").hidden = !state.page;
  byId("known").hidden = false;
  byId("file").textContent = state.file;
  if (state.page) {
    byId("reading").textContent = state.page.title || state.page.url;
    byId("save").setAttribute("aria-pressed", state.saved);
    byId("save").textContent = state.saved ? "Saved" : "Save";
    byId("here").dataset.url = state.page.url;
  }
  byId("suggestions").replaceChildren(...state.suggestions.map((found) => suggestion(found, state.learned)));
  byId("nothing").textContent = state.suggestions.length ? "" : "Nothing yet that you would like.";
  byId("words").replaceChildren(...state.interests.map(word));
}

async function look() {
  if (busy || document.visibilityState !== "visible") return;
  if (!place.token) return unpaired("");
  try {
    show(await ask("/api/panel"));
  } catch (failure) {
    if (failure.status === 403) unpaired("The key is not that of this companion.");
    else unreachable();
  }
}

function unpaired(why) {
  shown = "";
  byId("pair").hidden = false;
  byId("status").textContent = "Not connected.";
  complain(why);
}

function unreachable() {
  shown = "";
  for (const id of ["here", "ahead", "pause"]) byId(id).hidden = true;
  byId("status").textContent = "The companion is not running. Start it: topical companion, or scrapy companion in the folder of the project.";
  if (EXTENSION) byId("pair").hidden = false;
}

async function act(path, body) {
  busy = true;
  try {
    show({ ...(await ask(path, body)), error: "" });
  } catch (failure) {
    if (failure.status) complain(failure.message);
    else unreachable();
  } finally {
    busy = false;
  }
}

// ---------------------------------------------------------------- buttons

function twice(button, question, then) {
  button.addEventListener("click", () => {
    if (button.dataset.sure) {
      delete button.dataset.sure;
      button.textContent = button.dataset.label;
      then();
      return;
    }
    button.dataset.label = button.textContent;
    button.dataset.sure = "1";
    button.textContent = question;
    setTimeout(() => {
      if (!button.dataset.sure) return;
      delete button.dataset.sure;
      button.textContent = button.dataset.label;
    }, 5000);
  });
}

// A page sent by the bookmarklet. Any other page could have opened this one, too, so the person has to agree.
function offered() {
  const found = new URLSearchParams(location.hash.slice(1));
  const url = found.get("page");
  if (EXTENSION || !url || !/^https?:/.test(url)) return;
  byId("offered").textContent = found.get("title") ? `${found.get("title")} (${url})` : url;
  byId("offer").hidden = false;
  byId("offer").onsubmit = (event) => {
    event.preventDefault();
    byId("offer").hidden = true;
    act("/api/page", { url, title: found.get("title") || "", seconds: AN_OFFER });
  };
  history.replaceState(null, "", "/");
}

async function begin() {
  byId("pair").addEventListener("submit", pair);
  byId("pause").addEventListener("click", () => act("/api/pause", { paused: byId("pause").dataset.paused !== "true" }));
  byId("save").addEventListener("click", () =>
    act("/api/judge", { url: byId("here").dataset.url, verdict: byId("save").getAttribute("aria-pressed") === "true" ? "" : "saved" }),
  );
  twice(byId("never"), "Sure?", () => act("/api/never", { url: byId("here").dataset.url }));
  twice(byId("forget"), "Delete all of it?", () => act("/api/forget", {}));
  place = await findPlace();
  if (!EXTENSION) {
    byId("bookmark").hidden = false;
    const target = JSON.stringify(`${location.origin}/#page=`);
    byId("bookmarklet").href =
      `javascript:void open(${target}+encodeURIComponent(location.href)+'&title='+encodeURIComponent(document.title),'companion')`;
    byId("bookmarklet").addEventListener("click", (event) => event.preventDefault());
    addEventListener("hashchange", offered);
    offered();
  }
  look();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
}

begin();
