"use strict";

// Draws a map on a canvas. One file of over 300 lines, since it is copied into every map. Text from the web is drawn as text or put into text nodes, never parsed as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const canvas = byId("map");
  const pen = canvas.getContext("2d");
  const PAD = 24, CLOSEST = 8; // pixels around the map; limit of the scale at which all of it is shown
  const COVERED = 3, FIRST = 3; // pages that a title may cover; number of best pages whose titles may cover more
  const upright = canvas.clientHeight > canvas.clientWidth; // the map is wide, so on a phone it is rotated
  const turn = (x, y) => (upright ? [y, x] : [x, y]);
  const places = data.nodes.map(([across, down, r, shade, site, parent, seed, relevance, depth, title, url], index) =>
    ({ index, ...Object.fromEntries(turn(across, down).map((at, n) => ["xy"[n], at])), r, shade, site, parent, seed, relevance, depth, title: title || url, url }));
  const SITES = 6; // sites with a colour of their own
  const SHADES = 6; // of relevance
  const SITE_FONT = "600 11px system-ui, sans-serif";
  const byRelevance = [...places].sort((a, b) => a.relevance - b.relevance);

  // ------------------------------------------------------------ the graph

  const near = places.map(() => []);
  const paths = new Path2D();
  const links = new Path2D();
  const join = (path, a, b) => {
    path.moveTo(places[a].x, places[a].y);
    path.lineTo(places[b].x, places[b].y);
    near[a].push(b);
    near[b].push(a);
  };
  for (const place of places) if (place.parent >= 0) join(paths, place.parent, place.index);
  for (let n = 0; n < data.edges.length; n += 2) join(links, data.edges[n], data.edges[n + 1]);

  // ------------------------------------------------------------ the view

  let scale = 1, left = 0, top = 0; // a point p of the map is drawn at p * scale + (left, top)
  let chosen = null, hovered = null, found = null, from = 0, asked = false, whole = true;
  let colours = {};

  function readColours() {
    const style = getComputedStyle(byId("stage"));
    const value = (name) => style.getPropertyValue(name).trim();
    colours = { ink: value("--ink"), soft: value("--soft"), line: value("--line"), card: value("--card"), accent: value("--accent"),
      quiet: value("--quiet"), scale: Array.from({ length: SHADES }, (_, n) => value(`--shade${n}`)),
      sites: Array.from({ length: SITES }, (_, n) => value(`--c${n}`)) };
  }

  function fit() {
    const [[x, y], [width, height]] = [turn(data.box[0], data.box[1]), turn(data.box[2], data.box[3])];
    scale = Math.min((canvas.clientWidth - 2 * PAD) / width, (canvas.clientHeight - 2 * PAD) / height, CLOSEST);
    left = (canvas.clientWidth - width * scale) / 2 - x * scale;
    top = (canvas.clientHeight - height * scale) / 2 - y * scale;
    whole = true;
    ask();
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    whole = false;
    const to = Math.min(40, Math.max(0.02, scale * factor));
    left = x - ((x - left) * to) / scale;
    top = y - ((y - top) * to) / scale;
    scale = to;
    ask();
  }

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  }

  // ------------------------------------------------------------ drawing

  function colourOf(place) {
    if (byId("colour").value === "site") return place.site < SITES ? colours.sites[place.site] : colours.soft;
    return place.shade < 0 ? colours.quiet : colours.scale[place.shade];
  }

  const isFaint = (place) => place.relevance < from || (found !== null && !found.has(place.index));

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(scale * ratio, 0, 0, scale * ratio, left * ratio, top * ratio);
    pen.lineWidth = 0.7 / scale;
    pen.strokeStyle = colours.line;
    if (byId("links").checked) pen.stroke(links);
    pen.strokeStyle = colours.soft;
    pen.globalAlpha = 0.45;
    pen.stroke(paths);
    pen.globalAlpha = 1;
    const centre = hovered ?? chosen;
    if (centre !== null) drawNeighbours(centre);
    drawPlaces(centre);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawLabels(centre);
  }

  function drawNeighbours(centre) {
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1.6 / scale;
    pen.beginPath();
    for (const other of near[centre]) {
      pen.moveTo(places[centre].x, places[centre].y);
      pen.lineTo(places[other].x, places[other].y);
    }
    pen.stroke();
  }

  function drawPlaces(centre) {
    const dot = 0.9 / scale, mark = 2.6 / scale; // smallest radii: of any page, and of a relevant page
    for (const place of byRelevance) {
      pen.globalAlpha = isFaint(place) ? 0.15 : 1;
      pen.fillStyle = colourOf(place);
      pen.beginPath();
      pen.arc(place.x, place.y, Math.max(place.r, place.shade < 0 ? dot : mark), 0, 7);
      pen.fill();
      if (place.seed || place.index === centre || place.index === chosen) {
        pen.strokeStyle = place.seed ? colours.sites[0] : colours.ink;
        pen.lineWidth = Math.max(1.6, 2 / scale);
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  // Labels do not overlap: names of sites first, then titles, the most relevant ones first. Each is drawn at the height where
  // it covers the fewest pages, or left out.
  function drawLabels(centre) {
    const taken = [];
    const free = (box) => !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    const covers = ([x1, y1, x2, y2]) => places.filter((place) => {
      const x = place.x * scale + left, y = place.y * scale + top;
      return Math.hypot(x - Math.max(x1, Math.min(x, x2)), y - Math.max(y1, Math.min(y, y2))) < place.r * scale;
    }).length;
    const put = (text, x, heights, font, colour, most) => {
      pen.font = font;
      const half = pen.measureText(text).width / 2 + 3;
      if (x >= 0 && x <= canvas.clientWidth) x = Math.max(half, Math.min(x, canvas.clientWidth - half));
      const fits = heights.map((y) => ({ y, box: [x - half, y - 13, x + half, y + 4] }))
        .filter(({ box }) => box[2] >= 0 && box[0] <= canvas.clientWidth && box[3] >= 0 && box[1] <= canvas.clientHeight && (most === Infinity || free(box)))
        .map((spot) => ({ ...spot, covered: heights.length > 1 ? covers(spot.box) : 0 }))
        .sort((a, b) => a.covered - b.covered); // of equal ones the first
      if (!fits.length || fits[0].covered > most) return;
      const { y, box } = fits[0];
      taken.push(box);
      pen.lineWidth = 3;
      pen.strokeStyle = colours.card;
      pen.lineJoin = "round";
      pen.strokeText(text, x - half + 3, y);
      pen.fillStyle = colour;
      pen.fillText(text, x - half + 3, y);
    };
    const title = (place, most) => {
      const y = place.y * scale + top, r = Math.max(place.r * scale, 3);
      put(place.title.length > 60 ? `${place.title.slice(0, 59)}…` : place.title, place.x * scale + left,
        [y - r - 4, y + r + 14], "12px system-ui, sans-serif", colours.ink, most);
    };
    if (centre !== null) title(places[centre], Infinity);
    if (found !== null) for (const index of found) if (taken.length < 40) title(places[index], places.length);
    for (const [name, ...at] of data.labels) {
      const [x, y] = turn(at[0], at[1]);
      put(name, x * scale + left, [0, -18, 18, -36, 36, -54, 54].map((off) => y * scale + top + off), SITE_FONT, colours.soft, places.length);
    }
    const many = Math.min(160, Math.max(8, Math.round(14 * scale ** 1.5)));
    for (let n = byRelevance.length - 1, drawn = 0; n >= 0 && drawn < many; n -= 1) {
      const place = byRelevance[n];
      const x = place.x * scale + left, y = place.y * scale + top;
      if (isFaint(place) || x < 0 || y < 0 || x > canvas.clientWidth || y > canvas.clientHeight) continue;
      if (place.shade < 0 && scale < 3) continue;
      drawn += 1;
      title(place, drawn > FIRST ? COVERED : places.length);
    }
  }

  // ------------------------------------------------------------ a page

  function placeAt(x, y) {
    let best = null, nearest = Infinity;
    for (const place of places) {
      const distance = Math.hypot(place.x * scale + left - x, place.y * scale + top - y);
      if (distance < Math.max(place.r * scale, 0) + 6 && distance < nearest) {
        nearest = distance;
        best = place.index;
      }
    }
    return best;
  }

  function make(name, text, parent) {
    const node = document.createElement(name);
    if (text) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  function choose(index, move) {
    chosen = index;
    const about = byId("about");
    about.hidden = index === null;
    about.replaceChildren();
    if (index !== null) describe(places[index], about);
    if (index !== null && move) {
      whole = false;
      left = canvas.clientWidth / 2 - places[index].x * scale;
      top = canvas.clientHeight / 2 - places[index].y * scale;
    }
    ask();
  }

  function describe(place, about) {
    make("bdi", place.title, make("h2", "", about));
    const close = make("button", "×", about);
    close.id = "close";
    close.setAttribute("aria-label", "close");
    close.addEventListener("click", () => choose(null));
    if (/^https?:\/\//i.test(place.url)) {
      const link = make("a", "", make("p", "", about));
      link.href = place.url;
      link.rel = "noreferrer noopener";
      link.target = "_blank";
      make("bdi", place.url, link);
    }
    const depth = place.seed ? "a seed" : `${place.depth} ${place.depth === 1 ? "link" : "links"} from a seed`;
    make("p", `relevance ${place.relevance.toFixed(3)} · ${depth} · ${data.sites[place.site]}`, about);
    const others = [...new Set(near[place.index])].sort((a, b) => places[b].relevance - places[a].relevance);
    make("p", `Linked to or from ${others.length} ${others.length === 1 ? "page" : "pages"} on the map${others.length > 10 ? ", for example" : ""}:`, about);
    const list = make("ul", "", about);
    const shown = place.parent >= 0 ? [place.parent, ...others.filter((other) => other !== place.parent)] : others;
    for (const other of shown.slice(0, 10)) {
      const item = make("li", "", list);
      const button = make("button", "", item);
      make("bdi", places[other].title, button);
      button.addEventListener("click", () => choose(other, true));
      make("span", ` ${places[other].relevance.toFixed(2)}${other === place.parent ? ", linked to this page" : ""}`, item);
    }
  }

  // ------------------------------------------------------------ pointer and keyboard

  const fingers = new Map();
  let moved = 0;

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) {
      const index = placeAt(event.offsetX, event.offsetY);
      if (index !== hovered) {
        hovered = index;
        canvas.style.cursor = index === null ? "grab" : "pointer";
        ask();
      }
      return;
    }
    const now = [event.offsetX, event.offsetY];
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      const distance = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      zoom(distance(now) / distance(before), other[0], other[1]);
    } else {
      whole = false;
      left += now[0] - before[0];
      top += now[1] - before[1];
      ask();
    }
    fingers.set(event.pointerId, now);
  });
  const lift = (event) => {
    if (fingers.delete(event.pointerId) && moved < 6 && event.type === "pointerup") choose(placeAt(event.offsetX, event.offsetY));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => {
    hovered = null;
    ask();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(2, event.offsetX, event.offsetY));
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key in steps) {
      whole = false;
      left += steps[event.key][0];
      top += steps[event.key][1];
      ask();
    } else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  byId("in").addEventListener("click", () => zoom(1.4));
  byId("out").addEventListener("click", () => zoom(1 / 1.4));
  byId("all").addEventListener("click", fit);
  byId("colour").addEventListener("change", ask);
  byId("links").addEventListener("change", ask);
  byId("from").addEventListener("input", (event) => {
    from = Number(event.target.value);
    byId("from-value").textContent = from.toFixed(2);
    ask();
  });
  byId("find").addEventListener("input", (event) => {
    const text = event.target.value.trim().toLowerCase();
    const hits = places.filter((place) => place.title.toLowerCase().includes(text) || place.url.toLowerCase().includes(text));
    hits.sort((a, b) => b.relevance - a.relevance);
    found = text ? new Set(hits.map((place) => place.index)) : null;
    byId("found").textContent = text ? `${hits.length} found` : "";
    ask();
  });
  byId("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found && found.size) choose([...found][0], true);
  });

  window.addEventListener("resize", () => (whole ? fit() : ask()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    ask();
  });
  window.addEventListener("beforeprint", draw);
  readColours();
  fit();
})();
