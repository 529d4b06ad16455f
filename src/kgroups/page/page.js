/* The graph, the search and the tables of a kgroups report.
   Names of nodes are text from elsewhere: they become text nodes, or go through plain() to plotly. */
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { n } = data;

  // More shapes than this are drawn by WebGL, which is less crisp but much faster.
  const MOST_SVG_NODES = 1500;
  // Larger graphs start with the graph of their communities.
  const MOST_NODES_FIRST = 5000;
  // Edges drawn at once; of a graph with more, those inside communities, or none.
  const MOST_EDGES = 40000;
  // Rows of the table at first, and each time that more are wanted.
  const ROWS = 12;
  const MORE_ROWS = 200;
  const COORDINATE_STEPS = 65535;
  const PROBABILITY_STEPS = 10000;

  // --- Data ----------------------------------------------------------------------------------

  function unpacked(text, Kind) {
    if (text === null) return null;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Kind(bytes.buffer);
  }

  const nodes = data.nodes && {
    x: Float64Array.from(unpacked(data.nodes.x, Uint16Array), (v) => v / COORDINATE_STEPS),
    y: Float64Array.from(unpacked(data.nodes.y, Uint16Array), (v) => v / COORDINATE_STEPS),
    degree: unpacked(data.nodes.degree, Uint32Array),
    strength: data.nodes.strength,
    // Those of the level that is shown.
    community: null,
    confidence: null,
    runnerUp: null,
    stability: null,
  };
  const edges = data.edges && {
    source: unpacked(data.edges.source, Uint32Array),
    target: unpacked(data.edges.target, Uint32Array),
    total: data.edges.total,
  };
  // The numbers of edges beside it do not count weights.
  const CONDUCTANCE = data.weighted ? "conductance by weight" : "conductance";
  const nameOf = (i) => (data.nodes.names ? data.nodes.names[i] : String(i));
  const confidenceOf = (i) => nodes.confidence[i] / PROBABILITY_STEPS;
  const isStabilityKnown = (i) => nodes.stability !== null && nodes.stability[i] <= PROBABILITY_STEPS;
  const stabilityOf = (i) => (isStabilityKnown(i) ? nodes.stability[i] / PROBABILITY_STEPS : "");

  // The level that is shown: its number, and what the file holds of it.
  let shownLevel, k, palette, colorOf, communities, links, members;
  function readLevel(at) {
    const level = data.levels[at];
    shownLevel = at;
    ({ k, palette, colorOf, communities, links } = level);
    members = Array.from({ length: k }, () => []);
    if (!nodes) return;
    nodes.community = unpacked(level.community, Uint32Array);
    nodes.confidence = unpacked(level.confidence, Uint16Array);
    nodes.runnerUp = unpacked(level.runnerUp, Uint32Array);
    nodes.stability = unpacked(level.stability, Uint16Array);
    for (let i = 0; i < n; i++) members[nodes.community[i]].push(i);
    for (const some of members) some.sort((i, j) => nodes.degree[j] - nodes.degree[i] || i - j);
  }
  readLevel(data.returned);

  const number = (value) => value.toLocaleString("en-US");
  const counted = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

  const hasWebGL = n > MOST_SVG_NODES && Boolean(document.createElement("canvas").getContext("webgl"));
  const drawnBy = (count) => (hasWebGL && count > MOST_SVG_NODES ? "scattergl" : "scatter");
  const canDrawNodes = nodes !== null && (hasWebGL || n <= MOST_NODES_FIRST);

  const state = {
    view: canDrawNodes && n <= MOST_NODES_FIRST ? "nodes" : "communities",
    isolated: null,
    selected: null,
  };

  // --- Elements and colors -------------------------------------------------------------------

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") made.addEventListener("click", value);
      else if (key === "color") made.style.setProperty("--color", value);
      else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }
  const named = (text) => element("span", { class: "name" }, text);

  /* Plotly reads some tags and entities in its texts. */
  function plain(text, most) {
    const short = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    return short.replace(/\s+/g, " ").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  const isDark = () =>
    document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  function channels(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }
  function luminance(rgb) {
    const [r, g, b] = rgb.map((v) => (v <= 10 ? v / 3294 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  /* Dark colors are mixed with white on a dark page until they have a contrast of about 3 to 1. */
  function shownColor(hex) {
    let rgb = channels(hex);
    while (isDark() && luminance(rgb) < 0.14) rgb = rgb.map((v) => Math.min(255, v + (255 - v) * 0.08 + 1));
    return `rgb(${rgb.map(Math.round).join(",")})`;
  }
  const colorOfCommunity = (a) => shownColor(palette[colorOf[a]]);
  const inkOn = (hex) => (luminance(channels(hex)) > 0.3 || isDark() ? "#10161c" : "#ffffff");

  // --- The graph -----------------------------------------------------------------------------

  const picture = byId("graph");
  const meanDegree = nodes && n ? Math.max(nodes.degree.reduce((sum, d) => sum + d, 0) / n, 1) : 1;

  /* Names of one or two characters fit into the nodes of a small graph, if these are large enough. */
  const areShort = nodes !== null && n <= 60 && Array.from({ length: n }, (_, i) => nameOf(i)).every((name) => name.length <= 2);
  const namesFit = () => areShort && picture.clientWidth >= 560;

  function diameters(indices, crowd) {
    const room = Math.min(Math.max(Math.min(picture.clientWidth, picture.clientHeight) / 520, 0.6), 1.4);
    const area = namesFit() ? 240 : Math.min(Math.max(9000 / crowd, crowd > 20000 ? 1.5 : 5), 150);
    const least = namesFit() ? 19 : crowd > 20000 ? 1.5 : 3;
    return indices.map((i) => Math.max(least, Math.sqrt(area * (0.35 + 0.65 * Math.min(nodes.degree[i] / meanDegree, 4))) * 1.35 * room));
  }

  function lineTrace(list, color, width, opacity, type) {
    const x = new Array(list.length * 3);
    const y = new Array(list.length * 3);
    list.forEach((e, at) => {
      const [s, t] = [edges.source[e], edges.target[e]];
      x[3 * at] = nodes.x[s]; x[3 * at + 1] = nodes.x[t]; x[3 * at + 2] = null;
      y[3 * at] = nodes.y[s]; y[3 * at + 1] = nodes.y[t]; y[3 * at + 2] = null;
    });
    return { type, mode: "lines", x, y, line: { color, width }, opacity, hoverinfo: "skip" };
  }

  function nodeTrace(indices, color, type, crowd, extra = {}) {
    const { marker = {}, ...rest } = extra;
    const outline = { color: theme("surface"), width: crowd > 2000 ? 0 : crowd > 400 ? 0.5 : 1 };
    return {
      type, mode: "markers", x: indices.map((i) => nodes.x[i]), y: indices.map((i) => nodes.y[i]),
      customdata: indices, hoverinfo: "none",
      marker: { color, size: diameters(indices, crowd), sizemode: "diameter", opacity: 1, line: outline, ...marker },
      ...rest,
    };
  }

  /* Names on all nodes of a small graph if they fit, else on the node of highest degree of each community. */
  function labels(indices, crowd) {
    if (indices.length > 120 || picture.clientWidth < 480) return [];
    const fit = namesFit();
    picture.classList.toggle("outlined", !fit);
    const each = state.isolated === null ? 1 : 6;
    const chosen = fit ? indices : [...new Set(indices.map((i) => nodes.community[i]))].slice(0, 12).flatMap((a) => members[a].slice(0, each));
    const color = fit ? chosen.map((i) => inkOn(palette[colorOf[nodes.community[i]]])) : theme("ink");
    return [{
      type: "scatter", mode: "markers+text", marker: { size: diameters(chosen, crowd), opacity: 0 }, x: chosen.map((i) => nodes.x[i]), y: chosen.map((i) => nodes.y[i]),
      text: chosen.map((i) => plain(nameOf(i), 22)), textposition: fit ? "middle center" : "top center",
      textfont: { family: theme("font"), size: 12, color }, hoverinfo: "skip", cliponaxis: false,
    }];
  }

  function byColor(list, communityOf) {
    const groups = palette.map(() => []);
    for (const each of list) groups[colorOf[communityOf(each)]].push(each);
    return groups;
  }

  function nodeTraces() {
    const type = drawnBy(n);
    const all = Array.from({ length: n }, (_, i) => i);
    const inside = [], between = [];
    for (let e = 0; e < edges.source.length; e++) {
      (nodes.community[edges.source[e]] === nodes.community[edges.target[e]] ? inside : between).push(e);
    }
    const withBetween = edges.source.length <= MOST_EDGES;
    const withInside = inside.length <= MOST_EDGES;
    const crowd = Math.min(Math.max(edges.source.length / 400, 1), 60) ** -0.45;
    const traces = [];
    if (withBetween && between.length) traces.push(lineTrace(between, theme("edge"), Math.max(1.1 * crowd, 0.5), 0.42 * crowd + 0.02, type));
    if (withInside) {
      byColor(inside, (e) => nodes.community[edges.source[e]]).forEach((some, c) => {
        if (some.length) traces.push(lineTrace(some, shownColor(palette[c]), Math.max(1.5 * crowd, 0.6), 0.65 * crowd + 0.1, type));
      });
    }
    byColor(all, (i) => nodes.community[i]).forEach((some, c) => {
      if (some.length) traces.push(nodeTrace(some, shownColor(palette[c]), type, n));
    });
    traces.push(...labels(all, n));
    const drawn = (withInside ? inside.length : 0) + (withBetween ? between.length : 0);
    const rest = drawn < edges.total ? ` ${drawn ? counted(drawn, "edge is", "edges are") : "No edges are"} drawn of ${number(edges.total)}; isolate a community to see those inside it.` : "";
    note(`${counted(n, "node", "nodes")}, colored by community; larger with their degree.${rest}`);
    return traces;
  }

  function communityTraces(faint) {
    const box = viewBox(null);
    const scale = Math.min(picture.clientWidth / (box.x[1] - box.x[0]), picture.clientHeight / (box.y[1] - box.y[0]));
    // In the layout a node takes about one unit of area: discs together fill half of the picture.
    const area = communities.size.reduce((sum, size) => sum + size, 0);
    const unit = Math.sqrt((0.42 * (box.x[1] - box.x[0]) * (box.y[1] - box.y[0])) / Math.max(area, 1)) * scale;
    const size = communities.size.map((count) => Math.min(Math.max(Math.sqrt(count) * unit, 4), 120));
    const all = Array.from({ length: k }, (_, a) => a);
    const traces = [];
    if (!faint) {
      const most = links.count[0] || 1;
      const classes = [[], [], [], [], []];
      links.count.forEach((count, at) => classes[Math.min(4, Math.floor(5 * Math.sqrt(count / most)))].push(at));
      classes.forEach((some, width) => {
        if (!some.length) return;
        traces.push({
          type: "scatter", mode: "lines", hoverinfo: "skip", opacity: 0.16 + 0.11 * width,
          x: some.flatMap((at) => [communities.x[links.a[at]], communities.x[links.b[at]], null]),
          y: some.flatMap((at) => [communities.y[links.a[at]], communities.y[links.b[at]], null]),
          line: { color: theme("edge"), width: 0.6 + 1.7 * width },
        });
      });
      const shown = links.count.length < links.total ? `The ${number(links.count.length)} strongest of ${number(links.total)} links are drawn.` : "";
      note(`${counted(k, "community", "communities")}: area by nodes, lines by edges between them. Click one to see its ${nodes ? "nodes" : "numbers"}. ${shown}`);
    }
    traces.push({
      type: drawnBy(k), mode: "markers+text",
      x: communities.x, y: communities.y, customdata: all.map((a) => -1 - a), hoverinfo: "none",
      marker: { size, color: faint ? theme("edge") : all.map(colorOfCommunity), opacity: faint ? 0.12 : 0.92, line: { width: faint ? 0 : 1, color: theme("surface") } },
      text: all.map((a) => (!faint && size[a] >= 19 ? String(a) : "")),
      textfont: { family: theme("font"), size: 12, color: all.map((a) => inkOn(palette[colorOf[a]])) },
    });
    return traces;
  }

  function isolatedTraces(a) {
    const own = members[a];
    const type = drawnBy(own.length);
    const inside = [], leaving = [];
    for (let e = 0; e < edges.source.length; e++) {
      const [s, t] = [nodes.community[edges.source[e]] === a, nodes.community[edges.target[e]] === a];
      if (s && t) inside.push(e);
      else if (s || t) leaving.push(e);
    }
    const color = colorOfCommunity(a);
    const traces = [];
    if (n > MOST_NODES_FIRST) traces.push(...communityTraces(true));
    else {
      const others = Array.from({ length: n }, (_, i) => i).filter((i) => nodes.community[i] !== a);
      const faint = nodeTrace(others, theme("edge"), drawnBy(others.length), n, { marker: { opacity: 0.22 } });
      if (others.length) traces.push(faint);
    }
    const crowdOf = (some) => Math.min(Math.max(some.length / 400, 1), 60) ** -0.45;
    const crowd = crowdOf(inside);
    if (leaving.length && leaving.length <= 3000) traces.push(lineTrace(leaving, theme("edge"), 0.7, 0.25 * crowdOf(leaving) ** 1.6, type));
    if (inside.length && inside.length <= MOST_EDGES) traces.push(lineTrace(inside, color, Math.max(1.5 * crowd, 0.6), 0.6 * crowd + 0.06, type));
    const room = Math.max(own.length, 60);
    traces.push(nodeTrace(own, color, type, room), ...labels(own, room));
    const drawn = inside.length <= MOST_EDGES ? inside.length : 0;
    const part = drawn < communities.inside[a] ? `, of which ${counted(drawn, "is", "are")} drawn` : "";
    note(`Community ${a} alone: ${counted(own.length, "node", "nodes")} and ${counted(communities.inside[a], "edge", "edges")} inside${part}. Escape or “Show all” returns.`);
    return traces;
  }

  const note = (text) => { byId("drawn").textContent = text; };

  /* The part of the plane that all nodes take, or those of a community. */
  function extent(a) {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const take = (x, y) => { left = Math.min(left, x); right = Math.max(right, x); low = Math.min(low, y); high = Math.max(high, y); };
    if (nodes && a !== null) for (const i of members[a]) take(nodes.x[i], nodes.y[i]);
    else if (nodes) for (let i = 0; i < n; i++) take(nodes.x[i], nodes.y[i]);
    else for (let b = 0; b < k; b++) take(communities.x[b], communities.y[b]);
    if (left > right) [left, right, low, high] = [0, 1, 0, 1];
    const pad = Math.max(0.05 * Math.max(right - left, high - low), 0.012);
    return { x: [left - pad, right + pad], y: [low - pad, high + pad] };
  }
  const viewBox = (a) => fitted(extent(a));

  /* Widen a box to the shape of the picture, so that both axes have one scale. */
  function fitted(box) {
    const shape = (picture.clientWidth || 1) / (picture.clientHeight || 1);
    const middle = (range) => (range[0] + range[1]) / 2;
    let [wide, tall] = [box.x[1] - box.x[0], box.y[1] - box.y[0]];
    if (wide / tall < shape) wide = tall * shape; else tall = wide / shape;
    return { x: [middle(box.x) - wide / 2, middle(box.x) + wide / 2], y: [middle(box.y) - tall / 2, middle(box.y) + tall / 2] };
  }

  /* A graph that is wider than tall gets a lower picture. */
  function fitHeight() {
    picture.style.height = "";
    const { x, y } = extent(null);
    const wanted = (picture.clientWidth * (y[1] - y[0])) / (x[1] - x[0]);
    picture.style.height = `${Math.round(Math.min(picture.clientHeight, Math.max(wanted, 260)))}px`;
  }

  const coarse = matchMedia("(pointer: coarse)").matches;
  function draw({ keepBox = false } = {}) {
    // The layout follows the reader, who may have moved the picture or zoomed.
    const shown = keepBox && picture.layout;
    const box = shown ? { x: shown.xaxis.range, y: shown.yaxis.range } : viewBox(state.isolated);
    let traces;
    picture.classList.remove("outlined");
    if (state.isolated !== null && nodes) traces = isolatedTraces(state.isolated);
    else traces = state.view === "nodes" ? nodeTraces() : communityTraces(false);
    if (state.selected !== null) traces.push(ring(state.selected));
    const axis = (range) => ({ visible: false, range, fixedrange: false, autorange: false });
    const layout = {
      width: picture.clientWidth, height: picture.clientHeight,
      margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, hovermode: "closest", hoverdistance: 14,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: coarse ? false : "pan",
      xaxis: axis([...box.x]), yaxis: { ...axis([...box.y]), scaleanchor: "x" },
    };
    const config = { displayModeBar: false, scrollZoom: !coarse, doubleClick: false };
    const done = Plotly.react(picture, traces, layout, config);
    byId("view-nodes").setAttribute("aria-pressed", String(state.view === "nodes" && state.isolated === null));
    byId("view-communities").setAttribute("aria-pressed", String(state.view === "communities" && state.isolated === null));
    return done;
  }

  function ring(i) {
    return {
      type: "scatter", mode: "markers", x: [nodes.x[i]], y: [nodes.y[i]], customdata: [i], hoverinfo: "none",
      marker: { symbol: "circle-open", size: 24, color: theme("ink"), line: { width: 3, color: theme("ink") } },
    };
  }

  function zoom(factor) {
    const shown = picture.layout;
    const scaled = (range) => {
      const [middle, half] = [(range[0] + range[1]) / 2, (range[1] - range[0]) / 2];
      return [middle - half * factor, middle + half * factor];
    };
    Plotly.relayout(picture, { "xaxis.range": scaled(shown.xaxis.range), "yaxis.range": scaled(shown.yaxis.range) });
  }

  // --- What is selected ----------------------------------------------------------------------

  function isolate(a) {
    state.isolated = state.isolated === a ? null : a;
    state.selected = null;
    refresh();
  }
  function showAll() {
    state.isolated = null;
    state.selected = null;
    refresh();
  }
  function setView(view) {
    state.view = view;
    showAll();
  }
  function selectNode(i) {
    state.isolated = nodes.community[i];
    state.selected = i;
    refresh();
  }
  function refresh(options) {
    byId("tip").hidden = true;
    describe();
    markRow();
    return draw(options);
  }

  /* Another level: the nodes stay where they are, and get its colors and numbers. */
  function setLevel(at) {
    const keepBox = state.isolated === null;
    readLevel(at);
    state.isolated = null;
    state.selected = null;
    startTable();
    fillTable();
    listLevels();
    byId("levels").querySelectorAll("button")[at].focus();
    refresh({ keepBox });
  }
  function listLevels() {
    const group = byId("levels");
    group.hidden = data.levels.length < 2;
    group.replaceChildren(element("span", {}, "Level"), ...data.levels.map((level, at) => element("button", {
      type: "button", "data-level": at, "aria-pressed": String(at === shownLevel), onclick: () => setLevel(at),
      "aria-label": counted(level.k, "community", "communities"),
    }, number(level.k))));
    const returned = counted(data.levels[data.returned].k, "community", "communities");
    byId("level").textContent = shownLevel === data.returned ? "" :
      `Picture and table show the level of ${counted(k, "community", "communities")}. All other parts of the page are about the one of ${returned} that was returned.`;
  }

  function chip(a) {
    return element("button", { type: "button", "data-community": a, "aria-label": `Isolate community ${a}`, onclick: () => isolate(a) },
      element("span", { class: "swatch", color: colorOfCommunity(a) }), `${a}`);
  }
  const nodeChip = (i) => element("button", { type: "button", "data-node": i, onclick: () => selectNode(i) },
    element("span", { class: "swatch", color: colorOfCommunity(nodes.community[i]) }), named(nameOf(i)));
  const list = (items) => element("ul", { class: "chips" }, ...items.map((item) => element("li", {}, item)));
  function factList(pairs) {
    return element("dl", {}, ...pairs.filter((pair) => pair).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  }
  const percent = (value) => `${(100 * value).toFixed(1)} %`;

  function neighbors(i) {
    const found = [];
    for (let e = 0; e < edges.source.length; e++) {
      if (edges.source[e] === i) found.push(edges.target[e]);
      else if (edges.target[e] === i) found.push(edges.source[e]);
    }
    return found.sort((s, t) => nodes.degree[t] - nodes.degree[s] || s - t);
  }

  function nodeFacts(i) {
    return [
      ["community", String(nodes.community[i])],
      ["degree", number(nodes.degree[i])],
      nodes.strength && ["strength", String(nodes.strength[i])],
      nodes.confidence && ["confidence", confidenceOf(i).toFixed(3)],
      nodes.runnerUp && nodes.runnerUp[i] > 0 && ["next best community", String(nodes.runnerUp[i] - 1)],
      isStabilityKnown(i) && ["stays in resamples", stabilityOf(i).toFixed(2)],
    ];
  }
  function communityFacts(a) {
    return [
      ["nodes", number(communities.size[a])],
      ["share", percent(communities.size[a] / n)],
      ["edges inside", number(communities.inside[a])],
      ["edges to others", number(communities.leaving[a])],
      [CONDUCTANCE, communities.conductance[a].toFixed(3)],
      communities.confidence && ["mean confidence", communities.confidence[a].toFixed(3)],
      communities.stability && communities.stability[a] !== null && ["stability", communities.stability[a].toFixed(3)],
    ];
  }

  function describe() {
    const shown = [];
    const back = element("button", { type: "button", onclick: showAll }, "Show all");
    if (state.selected !== null) {
      const near = neighbors(state.selected);
      shown.push(element("h3", { id: "selected-node" }, named(nameOf(state.selected))), factList(nodeFacts(state.selected)));
      shown.push(element("h3", {}, counted(nodes.degree[state.selected], "neighbor", "neighbors")), list(near.slice(0, 24).map(nodeChip)));
      const rest = nodes.degree[state.selected] - Math.min(near.length, 24);
      if (rest > 0) shown.push(element("p", { class: "note" }, `and ${number(rest)} more`));
      shown.push(back);
    } else if (state.isolated !== null) {
      const a = state.isolated;
      const heading = element("h3", { id: "selected-community" }, element("span", { class: "swatch", color: colorOfCommunity(a) }), ` Community ${a}`);
      shown.push(heading, factList(communityFacts(a)));
      if (nodes) {
        shown.push(element("h3", {}, "Nodes by degree"), list(members[a].slice(0, 24).map(nodeChip)));
        if (members[a].length > 24) shown.push(element("p", { class: "note" }, `and ${number(members[a].length - 24)} more`));
      }
      shown.push(back);
    } else {
      const most = Math.min(k, 40);
      shown.push(element("h3", {}, "Communities"));
      const advice = nodes ? "Choose one to see it alone, here or in the picture. Point at a node for its name." : "Choose one to see its numbers, here or in the picture.";
      shown.push(element("p", { class: "note" }, advice));
      shown.push(list(Array.from({ length: most }, (_, a) => chip(a))));
      if (k > most) shown.push(element("p", { class: "note" }, `and ${counted(k - most, "smaller one", "smaller ones")} in the table below`));
    }
    byId("details").replaceChildren(...shown);
  }

  // --- Pointing at the picture ---------------------------------------------------------------

  function showTip(event) {
    const point = event.points.find((each) => each.customdata !== undefined);
    if (!point) return;
    const id = point.customdata;
    const facts = id < 0 ? communityFacts(-1 - id) : nodeFacts(id);
    const lines = facts.filter((pair) => pair).map(([name, value]) => element("div", {}, `${name}: ${value}`));
    const tip = byId("tip");
    tip.replaceChildren(element("strong", { class: "name" }, id < 0 ? `Community ${-1 - id}` : nameOf(id)), ...lines);
    tip.hidden = false;
    const { clientX, clientY } = event.event;
    const wide = tip.offsetWidth, tall = tip.offsetHeight;
    tip.style.left = `${Math.max(4, clientX + 16 + wide > innerWidth ? clientX - wide - 16 : clientX + 16)}px`;
    tip.style.top = `${Math.max(4, clientY + 16 + tall > innerHeight ? clientY - tall - 16 : clientY + 16)}px`;
    picture.style.cursor = "pointer";
  }
  function hideTip() {
    byId("tip").hidden = true;
    picture.style.cursor = "";
  }

  function clicked(event) {
    const point = event.points.find((each) => each.customdata !== undefined);
    if (!point) return;
    const id = point.customdata;
    if (id < 0) isolate(-1 - id);
    else if (state.isolated === nodes.community[id]) selectNode(id);
    else isolate(nodes.community[id]);
  }

  // --- Search --------------------------------------------------------------------------------

  const search = byId("search");
  const found = byId("found");
  let lowered = null;
  let hits = [];
  let active = -1;

  function matches(text) {
    const wanted = text.toLowerCase();
    lowered = lowered || Array.from({ length: n }, (_, i) => nameOf(i).toLowerCase());
    const ranked = [[], [], []];
    for (let i = 0; i < n; i++) {
      const at = lowered[i].indexOf(wanted);
      if (at < 0) continue;
      ranked[lowered[i] === wanted ? 0 : at === 0 ? 1 : 2].push(i);
    }
    return ranked.flat();
  }
  function listHits() {
    const text = search.value.trim();
    const all = text && nodes ? matches(text) : [];
    hits = all.slice(0, 8);
    active = hits.length ? 0 : -1;
    const items = hits.map((i, at) => element("li", { id: `hit-${at}`, role: "option", "aria-selected": String(at === active), onclick: () => choose(at) },
      named(nameOf(i)), element("small", {}, `community ${nodes.community[i]}`)));
    if (text && !hits.length) items.push(element("li", { role: "option", "aria-disabled": "true" }, "No node has this in its name."));
    if (all.length > hits.length) items.push(element("li", { role: "option", "aria-disabled": "true" }, element("small", {}, `and ${number(all.length - hits.length)} more`)));
    found.replaceChildren(...items);
    found.hidden = !text;
    search.setAttribute("aria-expanded", String(!found.hidden));
    markHit();
  }
  function markHit() {
    hits.forEach((_, at) => byId(`hit-${at}`).setAttribute("aria-selected", String(at === active)));
    if (active >= 0) search.setAttribute("aria-activedescendant", `hit-${active}`);
    else search.removeAttribute("aria-activedescendant");
  }
  function choose(at) {
    if (at < 0) return;
    selectNode(hits[at]);
    closeHits();
  }
  function closeHits() {
    found.hidden = true;
    search.setAttribute("aria-expanded", "false");
  }
  search.addEventListener("input", listHits);
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (hits.length) active = (active + (event.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length;
      markHit();
    } else if (event.key === "Enter") choose(active);
    else if (event.key === "Escape" && !found.hidden) { event.stopPropagation(); closeHits(); }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".grow")) closeHits(); });

  // --- The table of communities --------------------------------------------------------------

  const columnsOfLevel = () => [
    { name: "community", value: (a) => a, text: (a) => String(a) },
    { name: "nodes", value: (a) => communities.size[a] },
    { name: "share", value: (a) => communities.size[a] / n, text: (a) => percent(communities.size[a] / n) },
    { name: "edges inside", value: (a) => communities.inside[a] },
    { name: "edges to others", value: (a) => communities.leaving[a] },
    { name: "mean degree", value: (a) => communities.degree[a], text: (a) => communities.degree[a].toFixed(1) },
    { name: CONDUCTANCE, value: (a) => communities.conductance[a], text: (a) => communities.conductance[a].toFixed(3) },
    communities.confidence && { name: "confidence", value: (a) => communities.confidence[a], text: (a) => communities.confidence[a].toFixed(3) },
    communities.stability && { name: "stability", value: (a) => communities.stability[a] ?? "", text: (a) => communities.stability[a]?.toFixed(3) ?? "" },
    nodes && { name: "members", value: (a) => communities.members[a].join("; "), members: true },
  ].filter((column) => column);
  let columns, order, sorted, rows;
  function startTable() {
    columns = columnsOfLevel();
    order = Array.from({ length: k }, (_, a) => a);
    sorted = { column: columns[0], up: true };
    rows = ROWS;
  }
  startTable();

  function sortBy(column) {
    const up = sorted.column === column ? !sorted.up : column.name === "community" || Boolean(column.members);
    sorted = { column, up };
    const sign = up ? 1 : -1;
    const compare = column.members ? (s, t) => s.localeCompare(t, "en") : (s, t) => s - t;
    order.sort((a, b) => sign * compare(column.value(a), column.value(b)) || a - b);
    fillTable();
    byId("communities").querySelectorAll("thead button")[columns.indexOf(column)].focus();
  }

  function headerCell(column) {
    const attributes = { scope: "col" };
    const active = sorted.column === column;
    if (active) attributes["aria-sort"] = sorted.up ? "ascending" : "descending";
    const arrow = element("span", { class: "arrow", "aria-hidden": "true" }, active ? (sorted.up ? "↑" : "↓") : "");
    return element("th", attributes, element("button", { type: "button", onclick: () => sortBy(column) }, column.name, arrow));
  }
  function cell(column, a) {
    if (column.name === "community") {
      const open = () => { isolate(a); byId("graph-title").scrollIntoView(); };
      return element("th", { scope: "row" }, element("button", { type: "button", "aria-label": `Isolate community ${a}`, onclick: open },
        element("span", { class: "swatch", color: colorOfCommunity(a) }), String(a)));
    }
    if (column.members) {
      const rest = communities.size[a] - communities.members[a].length;
      return element("td", {}, named(communities.members[a].join(", ") + (rest > 0 ? ", …" : "")));
    }
    return element("td", {}, column.text ? column.text(a) : number(column.value(a)));
  }
  function fillTable() {
    const shown = order.slice(0, rows);
    byId("communities").replaceChildren(
      element("thead", {}, element("tr", {}, ...columns.map(headerCell))),
      element("tbody", {}, ...shown.map((a) => element("tr", { "data-community": a }, ...columns.map((column) => cell(column, a))))),
    );
    byId("more").hidden = shown.length === k;
    byId("rows").textContent = shown.length < k ? `${number(shown.length)} of ${number(k)} communities; the CSV file has all.` : "";
    markRow();
  }
  function markRow() {
    for (const row of byId("communities").querySelectorAll("tbody tr")) {
      row.classList.toggle("isolated", Number(row.dataset.community) === state.isolated);
    }
  }

  // --- Files ---------------------------------------------------------------------------------

  /* Text is always in quotes, numbers never. */
  function csv(header, lines) {
    const field = (value) => (typeof value === "number" ? String(value) : `"${value.replace(/"/g, '""')}"`);
    return [header.join(","), ...lines.map((line) => line.map(field).join(","))].join("\n") + "\n";
  }
  function download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
  function communitiesCsv() {
    return csv(columns.map((column) => column.name.replace(/ /g, "_")), order.map((a) => columns.map((column) => column.value(a))));
  }
  function nodesCsv() {
    const extra = [["degree", (i) => nodes.degree[i]]];
    if (nodes.strength) extra.push(["strength", (i) => nodes.strength[i]]);
    if (nodes.confidence) extra.push(["confidence", confidenceOf]);
    if (nodes.stability) extra.push(["stability", stabilityOf]);
    const name = data.nodes.names ? nameOf : (i) => i;
    const lines = Array.from({ length: n }, (_, i) => [name(i), nodes.community[i], ...extra.map((column) => column[1](i))]);
    return csv(["node", "community", ...extra.map((column) => column[0])], lines);
  }

  // --- The spectrum --------------------------------------------------------------------------

  function drawSpectrum() {
    const place = byId("spectrum");
    if (!place) return;
    const spectrum = data.spectrum;
    if (!spectrum || !spectrum.eigenvalues.length) {
      place.parentElement.classList.remove("columns");
      place.remove();
      return;
    }
    const values = spectrum.eigenvalues;
    // Eigenvalues far above the threshold may be left out, so that the count starts before 1.
    const first = 1 + Math.max(spectrum.k - spectrum.above, 0);
    const rank = values.map((_, at) => first + at);
    const isAbove = (at) => at < spectrum.above;
    const color = (at) => (isAbove(at) ? theme("accent") : theme("edge"));
    const font = { family: theme("font"), size: 12, color: theme("ink") };
    const axis = (title) => ({ title: { text: title, font }, gridcolor: theme("line"), zeroline: false, tickfont: font, fixedrange: true, linecolor: theme("line") });
    const stems = {
      type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: theme("edge"), width: 1 },
      x: rank.flatMap((at) => [at, at, null]), y: values.flatMap((value) => [1, value, null]),
    };
    const dots = {
      type: "scatter", mode: "markers", x: rank, y: values, hovertemplate: "eigenvalue %{y:.4f}, rank %{x}<extra></extra>",
      marker: { size: values.length > 30 ? 8 : 11, color: values.map((_, at) => color(at)), line: { width: 1, color: theme("surface") } },
    };
    const pad = 0.6;
    Plotly.react(place, [stems, dots], {
      margin: { l: 56, r: 12, t: 30, b: 46 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      hovermode: "closest", hoverlabel: { font: { family: theme("font") } },
      title: { text: `${counted(spectrum.k, "eigenvalue", "eigenvalues")} above the threshold`, x: 0, xref: "container", font: { ...font, size: 14 } },
      xaxis: { ...axis("rank"), range: [rank[0] - pad, rank[rank.length - 1] + pad], tickformat: "d", nticks: Math.min(rank.length + 1, 10) },
      yaxis: axis("eigenvalue of N<sub>r</sub>"),
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: theme("ink"), width: 1.3, dash: "dash" } }],
    }, { displayModeBar: false, responsive: true });
  }

  // --- Start ---------------------------------------------------------------------------------

  byId("view-nodes").addEventListener("click", () => setView("nodes"));
  byId("view-communities").addEventListener("click", () => setView("communities"));
  byId("zoom-in").addEventListener("click", () => zoom(0.7));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.7));
  byId("show-all").addEventListener("click", showAll);
  byId("save-picture").addEventListener("click", () => Plotly.downloadImage(picture, { format: "png", filename: "communities", scale: 2, width: picture.clientWidth, height: picture.clientHeight }));
  byId("save-communities").addEventListener("click", () => download("communities.csv", communitiesCsv()));
  byId("save-nodes").addEventListener("click", () => download("nodes.csv", nodesCsv()));
  byId("more").addEventListener("click", () => { rows += MORE_ROWS; fillTable(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") showAll(); });
  byId("view-nodes").disabled = !canDrawNodes;
  byId("save-nodes").disabled = search.disabled = !nodes;

  function drawAll() {
    listLevels();
    describe();
    fillTable();
    drawSpectrum();
    return draw({ keepBox: true });
  }
  function redrawInPrintColors(light) {
    if (light) document.documentElement.dataset.theme = "light";
    else delete document.documentElement.dataset.theme;
    drawAll();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => redrawInPrintColors(true));
  addEventListener("afterprint", () => redrawInPrintColors(false));

  // Drawn after the text of the page is on the screen.
  requestAnimationFrame(() => setTimeout(async () => {
    fitHeight();
    await drawAll();
    picture.on("plotly_hover", showTip);
    picture.on("plotly_unhover", hideTip);
    picture.on("plotly_click", clicked);
    picture.on("plotly_doubleclick", showAll);
    let wide = picture.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(picture.clientWidth - wide) < 2) return;
      wide = picture.clientWidth;
      fitHeight();
      draw();
    }).observe(picture);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }, 0));
})();
