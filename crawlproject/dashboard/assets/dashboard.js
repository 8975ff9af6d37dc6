"use strict";

// Polls the crawls and shows them. One file of over 300 lines: one page, served without a build step.

const TOKEN = document.querySelector("meta[name=token]").content;
const PROGRAM = document.querySelector("meta[name=program]").content;
const MARKS = 6; // colours
const MOST = 6; // crawls side by side
const EVERY = 1000; // milliseconds between two requests
const WINDOW = 100; // pages of the latest harvest rate
const READING = 100; // milliseconds, while a long history is being read

let shown = []; // names of the crawls that are shown
let states = [];
let chosenByHand = false;
const opened = new Set(); // crawls whose details are open
const seen = new Set(); // best pages that were shown before

async function ask(path, body) {
  const options = body
    ? { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-Dashboard-Token": TOKEN } }
    : {};
  const reply = await fetch(path, options);
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error || `HTTP ${reply.status}`);
  return answer;
}

const crawlQuery = (name) => `crawl=${encodeURIComponent(name)}`;

// One colour for each agent when one crawl is shown, one for each crawl when several are.
function markOf(index, page, more = "") {
  if (states.length === 1 && page.agent !== null && page.agent !== undefined) return { class: `of-agent${more}`, hue: hueOf(page.agent) };
  return { class: `m${index % MARKS}${more}` };
}

function badge(index, page) {
  if (states.length > 1) return make("span", { class: `badge m${index % MARKS}` }, labelOf(states[index]));
  return page.agent === null || page.agent === undefined ? "" : make("span", { class: "badge" }, `agent ${page.agent}`);
}

// A page that several crawls found is listed once, with a badge of each crawl.
function together(found) {
  const groups = new Map();
  for (const one of found) {
    const group = groups.get(one.page.url);
    if (group) group.push(one);
    else groups.set(one.page.url, [one]);
  }
  return [...groups.values()];
}

function labelOf(state) {
  const same = states.filter((other) => other.ordering === state.ordering).length > 1;
  return same || !state.ordering ? state.name : state.ordering;
}

// ------------------------------------------------------------ the list of crawls

function drawList(crawls) {
  const list = byId("list");
  if (!list) return;
  const items = crawls.map((crawl) => {
    const box = make("input", {
      type: "checkbox", value: crawl.name, "data-place": crawl.name, checked: shown.includes(crawl.name),
      onchange: (event) => choose(crawl.name, event.target.checked),
    });
    const what = [crawl.topic, crawl.ordering].filter(Boolean).join(" · ");
    const pages = crawl.pages ? ` · ${count(crawl.pages)} pages` : "";
    return make("li", {}, make("label", {}, box,
      make("span", { class: `status ${crawl.status}` }, crawl.status),
      make("span", {}, make("bdi", {}, crawl.name), make("span", { class: "soft small" }, ` ${what}${pages}`))));
  });
  if (!items.length) items.push(make("li", { class: "soft" }, "None yet."));
  redraw(list, items);
}

function choose(name, on) {
  chosenByHand = true;
  shown = shown.filter((other) => other !== name);
  if (on) shown = [...shown, name].slice(-MOST);
  location.hash = shown.map(encodeURIComponent).join("&");
  look();
}

// ------------------------------------------------------------ a crawl

function tiles(pairs) {
  const entries = pairs.filter((pair) => pair[1] !== undefined);
  return make("dl", { class: "tiles" }, ...entries.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function drawRun(state, index) {
  const live = ["running", "paused", "stopping"].includes(state.status);
  const button = (action, text, enabled) =>
    make("button", { onclick: () => control(state.name, action), disabled: !enabled, "data-action": action, "data-place": `${index} ${text}` }, text);
  const path = `?${crawlQuery(state.name)}`;
  const head = make("h2", {},
    make("bdi", {}, state.topic || state.name),
    states.length > 1 ? badge(index, state) : "",
    !state.ordering || (states.length > 1 && labelOf(state) === state.ordering) ? "" : make("span", { class: "soft small" }, state.ordering),
    make("span", { class: `status ${state.status}` }, state.status === "ended" && state.reason ? `ended: ${state.reason}` : state.status),
    state.status === "ended" && state.ending ? make("span", { class: "soft small" }, state.ending) : "",
    lost ? "" : make("span", { class: "buttons" },
      state.status === "paused" ? button("resume", "Resume", true) : button("pause", "Pause", state.status === "running"),
      button("stop", "Stop", state.status === "running" || state.status === "paused"),
      state.resumable ? button("resume", "Resume", true) : "",
      state.fetches ? make("a", { href: `/report${path}`, target: "_blank" }, "Report") : "",
      state.fetches ? make("a", { href: `/map${path}`, target: "_blank" }, "Map") : ""));
  const where = lost && state.folder ? make("p", {}, "Its report is ", make("code", {}, `${state.folder}/report.html`),
    "; this page comes back with ", make("code", {}, `${PROGRAM} dashboard ${state.folder.replace(/[/][^/]*$/, "") || "."}`), ".") : "";
  const keywords = make("p", { class: "soft small" }, make("bdi", {}, (state.keywords || []).join(", ")));
  const problem = state.problem ? make("p", { class: "warn" }, state.problem) : "";
  const starting = state.status === "starting" ? make("div", {}, make("progress", { "aria-label": "starting" }),
    make("p", { class: "soft small" }, `For ${state.starting} s: the crawler is loaded, and asks the hosts of the seeds for their robots.txt.`)) : "";
  const output = state.output ? make("pre", { class: "warn" }, state.output) : "";
  const bar = state.budget && live ? make("progress", { max: state.budget, value: state.pages, "aria-label": "pages of the budget" }) : "";
  const numbers = state.pages === undefined ? "" : tiles([
    ["pages stored", count(state.pages)],
    ["harvest rate", percent(state.harvest)],
    ["harvest rate, latest 100", state.pages > WINDOW ? percent(state.recent) : undefined],
    ["mean relevance", fixed(state.mean_relevance)],
    ["pages per second", live ? fixed(state.speed, 1) : undefined],
    ["fetches", count(state.fetches)],
    ["hosts visited", count(state.hosts)],
    [`URLs waiting, on ${count(state.hosts_waiting)} ${state.hosts_waiting === 1 ? "host" : "hosts"}`, live ? count(state.waiting) : undefined],
    ["seconds without network", live && state.offline ? count(Math.round(state.offline)) : undefined],
    ["links refused", count(state.refused_total)],
    ["failed fetches", count(state.failed)],
    ["sitemaps and feeds read", state.listings ? count(state.listings) : undefined],
    ["duplicates", state.duplicates ? count(state.duplicates) : undefined],
  ]);
  const reading = state.reading ? make("p", { class: "soft small" }, "reading the history …") : "";
  return make("section", { class: `card run m${index % MARKS}`, "data-crawl": state.name }, head, where, keywords, problem, starting, output, bar, numbers, reading);
}

async function control(crawl, action) {
  try {
    await ask("/api/control", { crawl, action });
  } catch (problem) {
    say(problem.message, true);
  }
  setTimeout(look, 150);
}

// ------------------------------------------------------------ judgments

// The two buttons that judge a page of one or more crawls. A second click on a button removes its judgment.
function judging(group, place) {
  const crawls = group.map((one) => states[one.index]).filter((state) => state && state.judgeable);
  const { page } = group[0];
  if (lost || !crawls.length || !page.web) return "";
  const now = crawls[0].judged[page.url];
  const button = (says, text) => make("button", {
    type: "button", class: says ? "yes" : "no", "aria-pressed": String(now === says), "data-place": `${place} ${says} ${page.url}`,
    "aria-label": `${text}: ${page.title || page.url}`, onclick: () => judge(crawls.map((state) => state.name), page.url, now === says ? null : says),
  }, text);
  return make("div", { class: "judge" }, button(true, "Relevant"), button(false, "Not relevant"));
}

async function judge(crawls, url, relevant) {
  try {
    await Promise.all(crawls.map((name) => ask("/api/judge", { crawl: name, url, relevant })));
  } catch (problem) {
    say(problem.message, true);
    return;
  }
  for (const state of states) {
    if (!crawls.includes(state.name)) continue;
    if (relevant === null) delete state.judged[url];
    else state.judged[url] = relevant;
  }
  drawBest();
  drawHits();
}

function learns(open) {
  const learning = open.find((state) => typeof state.learning === "number");
  if (learning) return `The crawl learns from it: ${percent(learning.learning)} of its pages are read again.`;
  return open.some((state) => state.learns) ? "A running crawl learns from it within seconds." : "A crawl learns from it when it is started again.";
}

function drawJudgedNote() {
  const open = states.filter((state) => state.judgeable);
  const judged = new Set(open.flatMap((state) => Object.keys(state.judged))).size;
  byId("judged-note").textContent = open.length && !lost
    ? `${judged ? `${count(judged)} judged by you.` : "Say which pages are relevant."} ${learns(open)}`
    : "";
}

// ------------------------------------------------------------ together

function drawCurve() {
  const lines = [];
  states.forEach((state, index) => {
    const points = state.curve || [];
    if (points.length < 2) return;
    const name = labelOf(state);
    lines.push({ points: points.map((point) => [point[0], point[1]]), style: `whole m${index % MARKS}`, name: `${name}, all so far` });
    lines.push({ points: points.map((point) => [point[0], point[2]]), style: `m${index % MARKS}`, name });
  });
  byId("curve-section").hidden = !lines.length;
  const legend = states.length > 1
    ? make("ul", { class: "legend" }, ...states.map((state, index) => make("li", { class: `m${index % MARKS}` }, make("bdi", {}, labelOf(state)))))
    : "";
  byId("curve").replaceChildren(...(lines.length ? [lineChart(lines, Math.max(320, Math.min(1100, byId("curve").clientWidth || 720))), legend] : []));
}

function drawBest() {
  drawJudgedNote();
  const found = states.flatMap((state, index) => (state.best || []).map((page) => ({ page, index })));
  found.sort((a, b) => b.page.relevance - a.page.relevance || a.page.at - b.page.at);
  byId("best-section").hidden = !found.length;
  const first = seen.size === 0;
  redraw(byId("best"), together(found).slice(0, 60).map((group) => {
    const [{ page, index }] = group;
    const key = page.url;
    const fresh = !first && !seen.has(key) ? " fresh" : "";
    seen.add(key);
    return make("li", markOf(index, page, fresh),
      make("div", { class: "name" }, link(page, page.title || page.url)),
      make("div", { class: "url" }, make("bdi", {}, page.url)),
      make("div", { class: "small" }, ...group.flatMap((one) => [badge(one.index, one.page), " "]),
        `relevance ${fixed(page.relevance)} · fetch ${group.map((one) => count(one.page.number)).join(", ")}`,
        page.depth ? ` · ${page.depth} ${page.depth === 1 ? "link" : "links"} from a seed` : " · a seed"),
      judging(group, "best"));
  }));
}

function drawChanges() {
  const found = states.flatMap((state, index) => (state.changes || []).map((page) => ({ page, index })));
  found.sort((a, b) => b.page.at - a.page.at);
  byId("changes-section").hidden = !found.length;
  redraw(byId("changes"), found.slice(0, 60).map(({ page, index }) => make("li", { class: `m${index % MARKS}` },
    make("div", { class: "name" }, link(page, page.title || page.url)),
    make("div", { class: "url" }, make("bdi", {}, page.url)),
    make("div", { class: "small" }, badge(index, page), ` ${page.change}`,
      page.target ? make("span", {}, " to ", make("bdi", {}, page.target)) : page.change === "changed" ? `, ${Math.round(100 * page.novelty)}% new` : "",
      ` · seen ${new Date(page.at * 1000).toLocaleString()}`),
    page.added ? make("div", { class: "small" }, make("ins", {}, page.added)) : "",
    page.removed ? make("div", { class: "small" }, make("del", {}, page.removed)) : "")));
}

function table(heading, titles, rows, numeric, kind = false) {
  if (!rows.length) return "";
  const cell = (name, value, column) => make(name, { class: numeric.includes(column) ? "n" : false }, typeof value === "string" ? make("bdi", {}, value) : value);
  return make("section", { class: "card" }, make("h2", {}, heading), make("div", { class: "scroll" }, make("table", { class: kind },
    make("tr", {}, ...titles.map((title, column) => cell("th", title, column))),
    ...rows.map((row) => make("tr", {}, ...row.map((value, column) => cell("td", value, column)))))));
}

function politeness(state) {
  const kept = state.politeness;
  if (!kept || !kept.gaps) return "";
  const verdict = kept.too_soon
    ? make("p", { class: "warn" }, `${count(kept.too_soon)} of ${count(kept.gaps)} fetches came too soon.`)
    : make("p", {}, `Kept: none of ${count(kept.gaps)} repeated fetches of a host came too soon.`);
  return make("section", { class: "card" }, make("h2", {}, "Politeness"), verdict, make("p", { class: "soft small" },
    `Shortest pause: ${seconds(kept.smallest)}. Required: the longest of ${kept.min_delay} s, ${kept.factor} times the last fetch, and what the host asks for.`));
}

function drawDetails() {
  const blocks = states.flatMap((state, index) => {
    if (state.pages === undefined) return [];
    const several = states.length > 1;
    const open = several ? opened.has(state.name) : true;
    const toggled = (event) => (event.target.open ? opened.add(state.name) : opened.delete(state.name));
    const title = make("summary", { "data-place": state.name }, make("h2", {}, "Hosts, refusals, politeness of ", make("span", { class: `badge m${index % MARKS}` }, labelOf(state))));
    const wrap = (blocks) => (several ? make("details", { open, ontoggle: toggled }, title, blocks) : make("div", {}, blocks));
    return [wrap(make("div", { class: "blocks" },
      table("Frontier by host", ["host", "waiting", "best score", "next fetch in"],
        (state.frontier_hosts || []).map((host) => [host.host, count(host.waiting), fixed(host.best), host.leased ? "in flight" : host.blocked > host.rests ? `${seconds(host.blocked)}, ${host.why_waits}` : host.why_waits || (host.rests ? seconds(host.rests) : "–")]), [1, 2, 3], "hosts"),
      table("Hosts visited", ["host", "pages", "relevance", "fetches", "shortest pause"],
        (state.busiest || []).map((host) => [host.host, count(host.pages), fixed(host.relevance), count(host.fetches), seconds(host.gap)]), [1, 2, 3, 4], "hosts"),
      table("Links refused, by reason", ["reason", "links"], (state.refused || []).map(([reason, n]) => [reason, count(n)]), [1]),
      table("Failed fetches", ["outcome", "fetches"], (state.failures || []).map(([kind, n]) => [kind, count(n)]), [1]),
      politeness(state),
      table("Latest fetches", ["page", "relevance"],
        (state.latest || []).map((page) => [link(page, page.title || page.url), page.outcome ? make("span", { class: "soft" }, page.outcome) : fixed(page.relevance)]), [1])))];
  });
  redraw(byId("details"), blocks);
}

// ------------------------------------------------------------ agents

// The family tree of the agents of a crawl: the parent of each, its success, and what it found.
function drawAgents() {
  redraw(byId("agents"), states.filter((state) => (state.agents || []).length).map((state) => {
    const found = new Map(state.agents.map((agent) => [agent.number, agent]));
    const lives = new Map((state.family || []).map((life) => [life.number, life]));
    for (const number of found.keys()) if (!lives.has(number)) lives.set(number, { number, parent: null });
    const children = new Map();
    for (const life of [...lives.values()].sort((a, b) => a.number - b.number)) {
      const parent = lives.has(life.parent) ? life.parent : null;
      children.set(parent, [...(children.get(parent) || []), life]);
    }
    const known = [...lives.values()].filter((life) => life.born !== undefined);
    const alive = known.filter((life) => life.died === null).length;
    const branch = (parent) => (children.get(parent) || []).map((life) => drawAgent(state, life, found.get(life.number), branch(life.number)));
    return make("section", { class: "card" },
      make("h2", {}, "Agents", ...(states.length > 1 ? [" of ", make("span", { class: `badge m${states.indexOf(state) % MARKS}` }, labelOf(state))] : [])),
      make("p", { class: "soft small" }, known.length ? `${count(alive)} ${alive === 1 ? "lives" : "live"}, ${count(known.length - alive)} dead are shown. ` : "",
        "Offspring are below their parent; energy comes from relevant pages, each fetch costs some. Open an agent to see its best pages."),
      make("ul", { class: "tree" }, ...branch(null)));
  }));
}

function drawAgent(state, life, found, offspring) {
  const place = `agent ${state.name} ${life.number}`;
  const story = [
    life.born === undefined ? "" : life.parent >= 0 ? `born at page ${count(life.born)}, of agent ${life.parent}` : "of a seed",
    life.keyword ? `new word: ${life.keyword}` : "",
    life.died === null || life.died === undefined ? "" : `died at page ${count(life.died)}`,
    life.waiting ? `${count(life.waiting)} links waiting` : "",
  ].filter(Boolean).join(" · ");
  const did = found ? `${count(found.pages)} ${found.pages === 1 ? "page" : "pages"}, ${count(found.relevant)} relevant` : "no page yet";
  const energy = life.died === null ? make("meter", { min: 0, max: 1, value: life.energy, title: `energy: ${percent(life.energy)} of what it needs for offspring` }) : "";
  const pages = ((found && found.best) || []).map((page) => make("li", {},
    make("div", { class: "name" }, link(page, page.title || page.url)),
    make("div", { class: "small soft" }, `relevance ${fixed(page.relevance)} · fetch ${count(page.number)}${page.depth ? "" : " · a seed"}`)));
  const details = make("details", {
    open: opened.has(place), ontoggle: (event) => (event.target.open ? opened.add(place) : opened.delete(place)),
  }, make("summary", { "data-place": place }, make("span", { class: "badge" }, `agent ${life.number}`), " ", energy, ` ${did} `, make("span", { class: "soft small" }, make("bdi", {}, story))),
    pages.length ? make("ol", { class: "pages" }, ...pages) : make("p", { class: "soft small" }, "Nothing found yet."));
  return make("li", { class: life.died === null || life.died === undefined ? "of-agent" : "of-agent dead", hue: hueOf(life.number), "data-agent": life.number },
    details, offspring.length ? make("ul", {}, ...offspring) : "");
}

// ------------------------------------------------------------ search

let hits = []; // of the latest search, grouped by page
let searched = ""; // the crawls that it covered
const namesShown = () => states.map((state) => state.name).join("\n");

async function search(event) {
  event.preventDefault();
  const query = byId("search-query").value.trim();
  const note = byId("search-note");
  if (!query || !states.length) return;
  note.textContent = "searching …";
  const crawls = namesShown();
  const answers = await Promise.all(states.map(async ({ name }, index) => {
    try {
      return { index, ...(await ask(`/api/search?${crawlQuery(name)}&q=${encodeURIComponent(query)}`)) };
    } catch (problem) {
      return { index, total: 0, hits: [], problem: problem.message };
    }
  }));
  hits = byRank(answers);
  searched = crawls;
  const total = answers.reduce((sum, answer) => sum + answer.total, 0);
  const problems = answers.map((answer) => answer.problem).filter(Boolean);
  const remark = answers.map((answer) => answer.note).find(Boolean);
  note.textContent = problems[0] || (remark ? `${remark}. ` : "") + (total ? `${count(total)} pages found; the best ${hits.length}:` : "No stored page matches.");
  drawHits();
}

// Scores of two crawls cannot be compared: BM25 depends on the other pages of an index, and with vectors a score is at most 1.
// So pages are sorted by their best rank in any crawl. If these are equal, the page that more crawls found comes first.
function byRank(answers) {
  const found = answers.flatMap(({ hits: pages, index }) => pages.map((page, rank) => ({ page, index, rank })));
  const groups = together(found.sort((a, b) => a.rank - b.rank));
  return groups.sort((a, b) => a[0].rank - b[0].rank || b.length - a.length);
}

function drawHits() {
  if (hits.length && searched !== namesShown()) { // the hits are of other crawls
    hits = [];
    byId("search-note").textContent = "";
  }
  redraw(byId("hits"), hits.map((group) => make("li", { class: `m${group[0].index % MARKS}` },
    make("div", { class: "name" }, link(group[0].page, group[0].page.title || group[0].page.url)),
    make("div", { class: "url" }, make("bdi", {}, group[0].page.url)),
    make("div", { class: "small" }, ...marked(group[0].page.snippet)),
    make("div", { class: "small soft" }, ...group.flatMap((one) => [badge(one.index, one.page), " "]), `relevance ${fixed(group[0].page.relevance)}`),
    judging(group, "hit"))));
}

// ------------------------------------------------------------ start

async function start(event) {
  event.preventDefault();
  const problem = byId("start-problem");
  const button = byId("start-button");
  problem.textContent = "";
  drawSeeds(null);
  button.disabled = true;
  if (!byId("seeds").value.trim()) byId("found-seeds").textContent = "looking for seeds …";
  try {
    const form = {
      query: byId("query").value, seeds: byId("seeds").value, pages: Number(byId("pages").value),
      orderings: [...document.querySelectorAll("#orderings :checked")].map((box) => box.value),
    };
    const answer = await ask("/api/start", form);
    drawSeeds(answer);
    shown = answer.started.slice(0, MOST);
    chosenByHand = true;
    location.hash = shown.map(encodeURIComponent).join("&");
    look();
    setTimeout(() => byId("list-section").scrollIntoView({ behavior: "smooth" }), EVERY); // the new crawl is below the form
  } catch (wrong) {
    problem.textContent = wrong.message;
    drawSeeds(null);
  }
  button.disabled = false;
}

// Fills in the seeds that the query finds. The person can edit them before the crawl.
async function findSeeds() {
  const problem = byId("start-problem");
  problem.textContent = "";
  byId("found-seeds").textContent = "looking for seeds …";
  byId("find-button").disabled = true;
  try {
    const answer = await ask("/api/seeds", { query: byId("query").value });
    byId("seeds").value = answer.seeds.map((seed) => seed.url).join("\n");
    drawSeeds(answer);
  } catch (wrong) {
    problem.textContent = wrong.message;
    drawSeeds(null);
  }
  byId("find-button").disabled = false;
}

function drawSeeds(answer) {
  const seeds = (answer && answer.seeds) || [];
  const items = seeds.map((seed) => make("li", {}, link(seed, seed.title || seed.url), make("span", { class: "soft" }, ` ${seed.source}`)));
  const notes = ((answer && answer.notes) || []).map((note) => make("p", { class: "soft" }, make("bdi", {}, note)));
  byId("found-seeds").replaceChildren(...(items.length ? [make("p", {}, `${count(items.length)} seeds were found:`), make("ul", {}, ...items)] : []), ...notes);
}

// ------------------------------------------------------------ polling

function say(text, bad) {
  byId("connection").textContent = text;
  byId("connection").className = bad ? "warn" : "soft";
}

let looking = false;
let drawn = "";
let pressing = false; // a button is held down: if it were redrawn before it is released, the click would be lost
let lost = false; // the server no longer answers

async function look() {
  if (looking) return;
  looking = true;
  try {
    const { crawls } = await ask("/api/crawls");
    lost = false;
    const names = crawls.map((crawl) => crawl.name);
    if (!chosenByHand) {
      const running = crawls.filter((crawl) => ["running", "paused", "starting"].includes(crawl.status));
      shown = (running.length ? running : crawls.slice(0, 1)).slice(0, MOST).map((crawl) => crawl.name);
    }
    shown = shown.filter((name) => names.includes(name));
    drawList(crawls);
    states = shown.length ? (await ask(`/api/state?${shown.map(crawlQuery).join("&")}`)).states : [];
    const now = JSON.stringify(states);
    if (now !== drawn && !pressing) {
      drawn = now;
      redraw(byId("runs"), states.map(drawRun));
      drawCurve();
      drawAgents();
      drawBest();
      drawHits();
      drawChanges();
      drawDetails();
      byId("search-section").hidden = !states.some((state) => state.pages);
    }
    say(states.some((state) => state.status === "running") ? "live" : "up to date");
  } catch (problem) {
    if (problem instanceof TypeError) end(); // the server no longer answers
    else say(problem.message, true);
  }
  looking = false;
  if (states.some((state) => state.reading)) setTimeout(look, READING);
}

// The process that served this page has ended: keep the last state, without controls that need the server.
function end() {
  say("ended");
  if (lost) return;
  lost = true;
  drawn = "";
  for (const state of states) if (state.status !== "ended") Object.assign(state, { status: "ended", reason: "" });
  redraw(byId("runs"), states.map(drawRun));
  drawBest();
  drawHits();
  byId("search-section").hidden = true;
  if (byId("start-section")) byId("start-section").hidden = true;
}

function fromHash() {
  const names = location.hash.slice(1).split("&").filter(Boolean).map(decodeURIComponent);
  if (names.length) {
    shown = names.slice(0, MOST);
    chosenByHand = true;
  }
}

fromHash();
if (byId("start")) {
  byId("start").addEventListener("submit", start);
  byId("find-button").addEventListener("click", findSeeds);
}
byId("search").addEventListener("submit", search);
window.addEventListener("resize", drawCurve);
look();
setInterval(() => {
  if (!document.hidden) look();
}, EVERY);
document.addEventListener("pointerdown", () => { pressing = true; });
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => { pressing = false; });
document.addEventListener("visibilitychange", () => document.hidden || look());
