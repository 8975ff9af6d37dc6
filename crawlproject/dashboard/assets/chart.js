"use strict";

// A line chart as SVG. It contains numbers and class names only, no text from the web.
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function niceStep(span, about) {
  const unit = 10 ** Math.floor(Math.log10(span / about));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((step) => step >= (span / about) * 0.999);
}

// lines: [{points: [[x, y], ...], style: "m0", name: "..."}]; y from 0 to 1.
function lineChart(lines, width = 720, height = 240) {
  const left = 42, right = 12, top = 24, bottom = 42;
  const most = Math.max(10, ...lines.flatMap((line) => line.points.map((point) => point[0])));
  const px = (x) => left + ((width - left - right) * x) / most;
  const py = (y) => height - bottom - (height - bottom - top) * Math.min(Math.max(y, 0), 1);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  chart.append(svg("title", {}, "Harvest rate against pages stored"));
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }));
    chart.append(svg("text", { x: left - 6, y: py(tick) + 4, "text-anchor": "end" }, `${tick * 100}%`));
  }
  const step = niceStep(most, 5);
  for (let tick = 0; tick <= most * 1.0001; tick += step) {
    chart.append(svg("text", { x: px(tick), y: height - bottom + 16, "text-anchor": "middle" }, Math.round(tick).toLocaleString("en")));
  }
  chart.append(svg("text", { x: 4, y: 12 }, "share of pages that are relevant"));
  chart.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "pages stored"));
  for (const line of lines) {
    const points = line.points.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" ");
    const drawn = svg("polyline", { class: `line ${line.style}`, points });
    drawn.append(svg("title", {}, line.name));
    chart.append(drawn);
  }
  return chart;
}
