/* The graph, the search and the tables of a kgroups report.
   Names of nodes are text from elsewhere: they become text nodes, or text on a canvas. */
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { n } = data;

  // Larger graphs start with the graph of their communities.
  const MOST_NODES_FIRST = 1000;
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
  // Communities of one node are one group: the last one, with the number `several`.
  let shownLevel, several, palette, colorOf, communities, links, members;
  function readLevel(at) {
    const level = data.levels[at];
    shownLevel = at;
    ({ several, palette, colorOf, communities, links } = level);
    members = communities.size.map(() => []);
    if (!nodes) return;
    nodes.community = unpacked(level.community, Uint32Array);
    nodes.confidence = unpacked(level.confidence, Uint16Array);
    nodes.runnerUp = unpacked(level.runnerUp, Uint32Array);
    nodes.stability = unpacked(level.stability, Uint16Array);
    for (let i = 0; i < n; i++) members[groupOf(i)].push(i);
    for (const some of members) some.sort((i, j) => nodes.degree[j] - nodes.degree[i] || i - j);
  }
  const groupOf = (i) => Math.min(nodes.community[i], several);
  readLevel(data.returned);

  const number = (value) => value.toLocaleString("en-US");
  const counted = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

  const titleOf = (a) => (a < several ? `Community ${a}` : counted(communities.size[a], "single node", "single nodes"));
  /* How many communities a level has, without those of one node, and how many of these. */
  function phrase(level = data.levels[shownLevel]) {
    const singles = level.k - level.several;
    const parts = level.several || !singles ? [counted(level.several, "community", "communities")] : [];
    return [...parts, ...(singles ? [counted(singles, "single node", "single nodes")] : [])].join(" and ");
  }

  const state = {
    view: nodes && (n <= MOST_NODES_FIRST || several < 2) ? "nodes" : "communities",
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

  function shortened(text, most) {
    return (text.length > most ? `${text.slice(0, most - 1)}…` : text).replace(/\s+/g, " ");
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
  function shownChannels(hex) {
    let rgb = channels(hex);
    while (isDark() && luminance(rgb) < 0.14) rgb = rgb.map((v) => Math.min(255, v + (255 - v) * 0.08 + 1));
    return rgb;
  }
  const shownColor = (hex) => `rgb(${shownChannels(hex).map(Math.round).join(",")})`;
  // The colors of the level that is shown, on the page as it is.
  let shades = [];
  const readColors = () => { shades = palette.map(shownColor); };
  const colorOfGroup = (a) => shades[colorOf[a]];
  /* Black or white text, whichever has more contrast: they are equal at this luminance. */
  const inkOn = (hex) => (luminance(shownChannels(hex)) > 0.19 ? "#10161c" : "#ffffff");

  // --- The graph -----------------------------------------------------------------------------

  const picture = byId("graph");
  const canvas = picture.appendChild(element("canvas"));
  const meanDegree = nodes && n ? Math.max(nodes.degree.reduce((sum, d) => sum + d, 0) / n, 1) : 1;

  /* Names of one or two characters fit into the nodes of a small graph, if these are large enough. */
  const areShort = nodes !== null && n <= 60 && Array.from({ length: n }, (_, i) => nameOf(i)).every((name) => name.length <= 2);
  const namesFit = () => areShort && picture.clientWidth >= 560;

  // The part of the plane that is shown, and how many pixels its unit takes at the start.
  let box = { x: [0, 1], y: [0, 1] };
  let firstScale = 1;
  let moved = false;
  let moving = false;
  const scaleOf = (shown) => picture.clientWidth / (shown.x[1] - shown.x[0]);

  function diameter(i, crowd) {
    const room = Math.min(Math.max(Math.min(picture.clientWidth, picture.clientHeight) / 520, 0.6), 1.4);
    const area = namesFit() ? 240 : Math.min(Math.max(9000 / crowd, crowd > 20000 ? 1.5 : 5), 150);
    const least = namesFit() ? 19 : crowd > 20000 ? 1.5 : 3;
    return Math.max(least, Math.sqrt(area * (0.35 + 0.65 * Math.min(nodes.degree[i] / meanDegree, 4))) * 1.35 * room);
  }

  /* What is drawn in one frame: lines, then marks, then texts. The last marks lie on top. */
  function newScene() {
    return { lines: [], marks: [], texts: [] };
  }
  function addLines(scene, list, color, width, opacity) {
    if (list.length) scene.lines.push({ list, color, width, opacity });
  }
  function addNodes(scene, indices, color, crowd, opacity = 1) {
    const outline = crowd > 2000 ? 0 : crowd > 400 ? 0.5 : 1;
    for (const i of indices) {
      scene.marks.push({ id: i, x: nodes.x[i], y: nodes.y[i], r: diameter(i, crowd) / 2, color, opacity, outline });
    }
  }
  const idOfGroup = (a) => -1 - a;
  const colorOfNode = (i) => colorOfGroup(groupOf(i));

  /* Names on all nodes of a small graph if they fit, else on the node of highest degree of each community. */
  function addNames(scene, indices, crowd) {
    if (indices.length > 120 || picture.clientWidth < 480) return;
    const fit = namesFit();
    const each = state.isolated === null ? 1 : 6;
    const chosen = fit ? indices : [...new Set(indices.map(groupOf))].filter((a) => a < several).slice(0, 12).flatMap((a) => members[a].slice(0, each));
    for (const i of chosen) {
      const inside = { color: inkOn(palette[colorOf[groupOf(i)]]), dy: 0, halo: false };
      const above = { color: theme("ink"), dy: -diameter(i, crowd) / 2 - 8, halo: true };
      scene.texts.push({ x: nodes.x[i], y: nodes.y[i], text: shortened(nameOf(i), 22), ...(fit ? inside : above) });
    }
  }

  const crowdOf = (count) => Math.min(Math.max(count / 400, 1), 60) ** -0.45;
  const communityOfEdge = (e) => nodes.community[edges.source[e]];
  const isInside = (e) => communityOfEdge(e) === nodes.community[edges.target[e]];
  // The edges inside and between communities, by level.
  let inner, outer;
  function splitEdges() {
    inner = Array.from({ length: several }, () => []);
    outer = [];
    if (!edges) return;
    for (let e = 0; e < edges.source.length; e++) {
      if (isInside(e)) inner[communityOfEdge(e)].push(e);
      else outer.push(e);
    }
  }

  function nodeScene() {
    const scene = newScene();
    const all = Array.from({ length: n }, (_, i) => i);
    const insideCount = edges.source.length - outer.length;
    const withBetween = edges.source.length <= MOST_EDGES;
    const withInside = insideCount <= MOST_EDGES;
    const crowd = crowdOf(edges.source.length);
    if (withBetween) addLines(scene, outer, theme("edge"), Math.max(1.1 * crowd, 0.5), 0.42 * crowd + 0.02);
    if (withInside) inner.forEach((some, a) => addLines(scene, some, colorOfGroup(a), Math.max(1.5 * crowd, 0.6), 0.65 * crowd + 0.1));
    members.forEach((some, a) => addNodes(scene, some, colorOfGroup(a), n));
    addNames(scene, all, n);
    const drawn = (withInside ? insideCount : 0) + (withBetween ? outer.length : 0);
    const rest = drawn < edges.total ? ` ${drawn ? counted(drawn, "edge is", "edges are") : "No edges are"} drawn of ${number(edges.total)}; isolate a community to see those inside it.` : "";
    note(`${counted(n, "node", "nodes")}, colored by community; larger with their degree.${rest}`);
    return scene;
  }

  /* Discs keep a distance, so that the links between them are seen. */
  const DISC = 0.62;
  const discRadius = (a, scale) => Math.max(DISC * communities.radius[a] * scale, 3);
  const discOf = (a, look) => ({ id: idOfGroup(a), x: communities.x[a], y: communities.y[a], r: 0, ...look });
  /* A disc that the reader has zoomed to opens: its nodes are drawn in its place. */
  const isOpen = (a, scale) => nodes !== null && scale > 1.4 * firstScale && communities.radius[a] * scale > 0.16 * Math.min(picture.clientWidth, picture.clientHeight);
  function isInView(a) {
    const [x, y, r] = [communities.x[a], communities.y[a], 1.5 * communities.radius[a]];
    return x + r > box.x[0] && x - r < box.x[1] && y + r > box.y[0] && y - r < box.y[1];
  }

  function addLinks(scene, opened) {
    const most = Math.sqrt(links.count[0] || 1);
    // Many links would be one gray area.
    const crowd = Math.min(1, Math.sqrt(40 / Math.max(links.count.length, 1)));
    const strokes = [[], [], [], [], []];
    links.count.forEach((count, at) => strokes[Math.min(4, Math.floor((5 * Math.sqrt(count)) / most))].push(at));
    strokes.forEach((some, strength) => {
      if (!some.length) return;
      const opacity = (0.2 + 0.12 * strength) * Math.max(crowd, 0.35) * (opened ? 0.5 : 1);
      scene.lines.push({ links: some, color: theme("edge"), width: Math.max((0.7 + 1.5 * strength) * crowd, 0.5), opacity });
    });
  }

  function communityScene() {
    const scene = newScene();
    const scale = scaleOf(box);
    const groups = Array.from({ length: several }, (_, a) => a);
    const open = groups.filter((a) => isOpen(a, scale) && isInView(a));
    addLinks(scene, open.length > 0);
    const opened = new Set(open);
    if (!moving) for (const a of open) {
      const crowd = crowdOf(inner[a].length);
      addLines(scene, inner[a], colorOfGroup(a), Math.max(1.3 * crowd, 0.6), 0.6 * crowd + 0.08);
    }
    const room = Math.max((open.reduce((sum, a) => sum + members[a].length, 0) * firstScale) / scale, 60);
    for (const a of groups) {
      if (opened.has(a)) addNodes(scene, members[a], colorOfGroup(a), room);
      else scene.marks.push(discOf(a, { color: colorOfGroup(a), opacity: 1, outline: 1 }));
      if (!opened.has(a) && discRadius(a, scale) >= 9) scene.texts.push({ x: communities.x[a], y: communities.y[a], text: String(a), color: inkOn(palette[colorOf[a]]), dy: 0, halo: false });
    }
    if (nodes && several < communities.size.length) addNodes(scene, members[several], colorOfGroup(several), Math.max(members[several].length, 400));
    if (open.length && room <= 120) addNames(scene, open.flatMap((a) => members[a]), room);
    const shown = links.count.length < links.total ? ` The ${number(links.count.length)} strongest of ${number(links.total)} links are drawn.` : "";
    const how = nodes ? "Zoom in, or click one, to see its nodes." : "Click one to see its numbers.";
    note(`${phrase()}: area by nodes, lines by edges between them. ${how}${shown}`);
    return scene;
  }

  function isolatedScene(a) {
    const scene = newScene();
    const own = members[a];
    const inside = a < several ? inner[a] : [];
    const leaving = outer.filter((e) => (groupOf(edges.source[e]) === a) !== (groupOf(edges.target[e]) === a));
    const among = a < several ? [] : outer.filter((e) => groupOf(edges.source[e]) === a && groupOf(edges.target[e]) === a);
    const color = colorOfGroup(a);
    if (n > MOST_NODES_FIRST) {
      const faint = { color: theme("edge"), opacity: 0.15, outline: 0 };
      for (let b = 0; b < several; b++) if (b !== a) scene.marks.push(discOf(b, faint));
    } else {
      members.forEach((some, b) => { if (b !== a) addNodes(scene, some, theme("edge"), n, 0.22); });
    }
    if (leaving.length <= 3000) addLines(scene, leaving, theme("edge"), 0.7, 0.25 * crowdOf(leaving.length) ** 1.6);
    const crowd = crowdOf(inside.length);
    if (inside.length <= MOST_EDGES) addLines(scene, inside, color, Math.max(1.5 * crowd, 0.6), 0.6 * crowd + 0.06);
    addLines(scene, among, theme("edge"), 1, 0.6);
    const room = Math.max(own.length, 60);
    addNodes(scene, own, color, room);
    addNames(scene, own, room);
    const drawn = inside.length <= MOST_EDGES ? inside.length : 0;
    const part = drawn < communities.inside[a] ? `, of which ${counted(drawn, "is", "are")} drawn` : "";
    const what = a < several ? `Community ${a} alone: ${counted(own.length, "node", "nodes")} and ${counted(communities.inside[a], "edge", "edges")} inside${part}.` : `${counted(own.length, "single node", "single nodes")} alone.`;
    note(`${what} Escape or “Show all” returns.`);
    return scene;
  }

  const note = (text) => { if (byId("drawn").textContent !== text) byId("drawn").textContent = text; };

  /* The part of the plane that all nodes take, or those of a community. */
  function extent(a) {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const take = (x, y, r = 0) => { left = Math.min(left, x - r); right = Math.max(right, x + r); low = Math.min(low, y - r); high = Math.max(high, y + r); };
    if (nodes && a !== null) for (const i of members[a]) take(nodes.x[i], nodes.y[i]);
    else if (nodes) for (let i = 0; i < n; i++) take(nodes.x[i], nodes.y[i]);
    else for (let b = 0; b < several; b++) take(communities.x[b], communities.y[b], DISC * communities.radius[b]);
    if (left > right) [left, right, low, high] = [0, 1, 0, 1];
    const pad = Math.max(0.05 * Math.max(right - left, high - low), 0.012);
    return { x: [left - pad, right + pad], y: [low - pad, high + pad] };
  }
  const viewBox = (a) => fitted(extent(a));

  /* Widen a box to the shape of the picture, so that both axes have one scale. */
  function fitted(wanted) {
    const shape = (picture.clientWidth || 1) / (picture.clientHeight || 1);
    const middle = (range) => (range[0] + range[1]) / 2;
    let [wide, tall] = [wanted.x[1] - wanted.x[0], wanted.y[1] - wanted.y[0]];
    if (wide / tall < shape) wide = tall * shape; else tall = wide / shape;
    return { x: [middle(wanted.x) - wide / 2, middle(wanted.x) + wide / 2], y: [middle(wanted.y) - tall / 2, middle(wanted.y) + tall / 2] };
  }

  /* What a picture of another size shows: the same middle at the same scale. */
  function centered(shown, scale) {
    const about = (range, pixels) => [-0.5, 0.5].map((share) => (range[0] + range[1]) / 2 + (share * pixels) / scale);
    return { x: about(shown.x, picture.clientWidth), y: about(shown.y, picture.clientHeight) };
  }

  /* A graph that is wider than tall gets a lower picture. */
  function fitHeight() {
    picture.style.height = "";
    const { x, y } = extent(null);
    const wanted = (picture.clientWidth * (y[1] - y[0])) / (x[1] - x[0]);
    picture.style.height = `${Math.round(Math.min(picture.clientHeight, Math.max(wanted, 260)))}px`;
  }

  function sceneOfState() {
    let scene;
    if (state.isolated !== null && nodes) scene = isolatedScene(state.isolated);
    else scene = state.view === "nodes" ? nodeScene() : communityScene();
    if (state.selected !== null) scene.ring = state.selected;
    return scene;
  }

  const across = (x) => ((x - box.x[0]) / (box.x[1] - box.x[0])) * picture.clientWidth;
  const down = (y) => ((box.y[1] - y) / (box.y[1] - box.y[0])) * picture.clientHeight;

  function paint(context, scene) {
    for (const { list, links: pairs, color, width, opacity } of scene.lines) {
      context.beginPath();
      for (const e of list || []) {
        const [s, t] = [edges.source[e], edges.target[e]];
        context.moveTo(across(nodes.x[s]), down(nodes.y[s]));
        context.lineTo(across(nodes.x[t]), down(nodes.y[t]));
      }
      for (const at of pairs || []) {
        const [a, b] = [links.a[at], links.b[at]];
        context.moveTo(across(communities.x[a]), down(communities.y[a]));
        context.lineTo(across(communities.x[b]), down(communities.y[b]));
      }
      Object.assign(context, { strokeStyle: color, lineWidth: width, globalAlpha: opacity });
      context.stroke();
    }
    const [wide, tall] = [picture.clientWidth, picture.clientHeight];
    const [surface, scale] = [theme("surface"), scaleOf(box)];
    for (const mark of scene.marks) {
      if (mark.id < 0) mark.r = discRadius(-1 - mark.id, scale);
      const [x, y, r] = [across(mark.x), down(mark.y), mark.r];
      if (x + r < 0 || y + r < 0 || x - r > wide || y - r > tall) continue;
      Object.assign(context, { fillStyle: mark.color, globalAlpha: mark.opacity });
      if (r < 1) { context.fillRect(x - r, y - r, 2 * r, 2 * r); continue; }
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      context.fill();
      if (!mark.outline) continue;
      Object.assign(context, { strokeStyle: surface, lineWidth: mark.outline });
      context.stroke();
    }
    context.globalAlpha = 1;
    if (scene.ring !== undefined) {
      context.beginPath();
      context.arc(across(nodes.x[scene.ring]), down(nodes.y[scene.ring]), 12, 0, 2 * Math.PI);
      Object.assign(context, { strokeStyle: theme("ink"), lineWidth: 3 });
      context.stroke();
    }
    Object.assign(context, { font: `12px ${theme("font")}`, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
    const taken = [];
    for (const { x, y, text, color, dy, halo } of scene.texts) {
      const half = context.measureText(text).width / 2;
      // Names of nodes at the border stay whole; those that would cover another one are left out.
      const [cx, cy] = [halo ? Math.min(Math.max(across(x), half + 2), wide - half - 2) : across(x), down(y) + dy];
      if (Math.abs(cx - across(x)) > half || cy < 0 || cy > tall) continue;
      if (halo && taken.some((other) => Math.abs(other.cx - cx) < other.half + half && Math.abs(other.cy - cy) < 14)) continue;
      taken.push({ cx, cy, half });
      if (halo) {
        Object.assign(context, { strokeStyle: surface, lineWidth: 3 });
        context.strokeText(text, cx, cy);
      }
      context.fillStyle = color;
      context.fillText(text, cx, cy);
    }
  }

  let scene = newScene();
  function repaint() {
    const [wide, tall, dots] = [picture.clientWidth, picture.clientHeight, devicePixelRatio || 1];
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(tall * dots);
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    paint(context, scene);
    picture.shown = { box, scene, place: (id) => scene.marks.filter((mark) => mark.id === id).map((mark) => [across(mark.x), down(mark.y)])[0] };
  }

  function draw({ keepBox = false } = {}) {
    if (!keepBox) [box, moved] = [viewBox(state.isolated), false];
    firstScale = scaleOf(viewBox(null));
    scene = sceneOfState();
    repaint();
    byId("view-nodes").setAttribute("aria-pressed", String(state.view === "nodes" && state.isolated === null));
    byId("view-communities").setAttribute("aria-pressed", String(state.view === "communities" && state.isolated === null));
  }

  // While the reader moves a large picture, its edges are left out.
  let asked = false;
  let settled;
  function moveTo(wanted) {
    [box, moved] = [wanted, true];
    byId("tip").hidden = true;
    moving = edges !== null && edges.source.length > 5000;
    clearTimeout(settled);
    settled = setTimeout(() => { moving = false; redraw(); }, 150);
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; redraw(); });
  }
  function redraw() {
    // What is drawn depends on the zoom where discs are.
    if (state.view === "communities" && state.isolated === null) scene = sceneOfState();
    if (!moving) { repaint(); return; }
    const lines = scene.lines;
    scene.lines = lines.filter((line) => line.links || line.list.length <= 5000);
    repaint();
    scene.lines = lines;
  }

  /* Zoom by a factor about a place of the picture, the middle by default. */
  function zoom(factor, px = picture.clientWidth / 2, py = picture.clientHeight / 2) {
    const scale = scaleOf(box) / factor;
    if (scale < firstScale / 8 || scale > firstScale * 4000) return;
    const about = (range, share) => {
      const fixed = range[0] + share * (range[1] - range[0]);
      return range.map((value) => fixed + (value - fixed) * factor);
    };
    moveTo({ x: about(box.x, px / picture.clientWidth), y: about(box.y, 1 - py / picture.clientHeight) });
  }
  function pan(dx, dy) {
    const unit = (box.x[1] - box.x[0]) / picture.clientWidth;
    moveTo({ x: box.x.map((value) => value - dx * unit), y: box.y.map((value) => value + dy * unit) });
  }

  function savePicture() {
    const [wide, tall] = [picture.clientWidth, picture.clientHeight];
    const copy = element("canvas", { width: 2 * wide, height: 2 * tall });
    const context = copy.getContext("2d");
    context.scale(2, 2);
    context.fillStyle = theme("surface");
    context.fillRect(0, 0, wide, tall);
    paint(context, scene);
    copy.toBlob((blob) => downloadBlob("communities.png", blob));
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
    state.isolated = groupOf(i);
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
    splitEdges();
    readColors();
    listLevels();
    byId("levels").querySelectorAll("button")[at].focus();
    refresh({ keepBox });
  }
  function listLevels() {
    const group = byId("levels");
    group.hidden = data.levels.length < 2;
    group.replaceChildren(element("span", {}, "Level"), ...data.levels.map((level, at) => element("button", {
      type: "button", "data-level": at, "aria-pressed": String(at === shownLevel), onclick: () => setLevel(at),
      "aria-label": phrase(level),
    }, number(level.several || level.k))));
    const returned = phrase(data.levels[data.returned]);
    byId("level").textContent = shownLevel === data.returned ? "" :
      `Picture and table show the level of ${phrase()}. All other parts of the page are about the one of ${returned} that was returned.`;
  }

  const shortTitleOf = (a) => (a < several ? String(a) : titleOf(a));
  function chip(a) {
    return element("button", { type: "button", "data-community": a, "aria-label": `Isolate ${titleOf(a).toLowerCase()}`, onclick: () => isolate(a) },
      element("span", { class: "swatch", color: colorOfGroup(a) }), shortTitleOf(a));
  }
  const nodeChip = (i) => element("button", { type: "button", "data-node": i, onclick: () => selectNode(i) },
    element("span", { class: "swatch", color: colorOfNode(i) }), named(nameOf(i)));
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
      ["community", nodes.community[i] < several ? String(nodes.community[i]) : "none, a single node"],
      ["degree", number(nodes.degree[i])],
      nodes.strength && ["strength", String(nodes.strength[i])],
      nodes.confidence && ["confidence", confidenceOf(i).toFixed(3)],
      nodes.runnerUp && nodes.runnerUp[i] > 0 && ["next best community", nodes.runnerUp[i] <= several ? String(nodes.runnerUp[i] - 1) : "a single node"],
      isStabilityKnown(i) && ["stays in resamples", stabilityOf(i).toFixed(2)],
    ];
  }
  function groupFacts(a) {
    return [
      ["nodes", number(communities.size[a])],
      ["share", percent(communities.size[a] / n)],
      ["edges inside", number(communities.inside[a])],
      ["edges to others", number(communities.leaving[a])],
      communities.conductance[a] !== null && [CONDUCTANCE, communities.conductance[a].toFixed(3)],
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
      const heading = element("h3", { id: "selected-community" }, element("span", { class: "swatch", color: colorOfGroup(a) }), ` ${titleOf(a)}`);
      shown.push(heading, factList(groupFacts(a)));
      if (nodes) {
        shown.push(element("h3", {}, "Nodes by degree"), list(members[a].slice(0, 24).map(nodeChip)));
        if (members[a].length > 24) shown.push(element("p", { class: "note" }, `and ${number(members[a].length - 24)} more`));
      }
      shown.push(back);
    } else {
      const most = Math.min(several, 40);
      const singles = several < communities.size.length ? [several] : [];
      shown.push(element("h3", {}, "Communities"));
      const advice = nodes ? "Choose one to see it alone, here or in the picture. Point at a node for its name." : "Choose one to see its numbers, here or in the picture.";
      shown.push(element("p", { class: "note" }, advice));
      shown.push(list([...Array.from({ length: most }, (_, a) => a), ...singles].map(chip)));
      if (several > most) shown.push(element("p", { class: "note" }, `and ${counted(several - most, "smaller one", "smaller ones")} in the table below`));
    }
    byId("details").replaceChildren(...shown);
  }

  // --- Pointing at the picture ---------------------------------------------------------------

  /* The mark at a place of the picture, or near to it: the one on top. */
  function markAt(px, py) {
    let [best, least] = [null, 10];
    for (const mark of scene.marks) {
      const far = Math.hypot(across(mark.x) - px, down(mark.y) - py) - mark.r;
      if (Math.max(far, 0) <= least) [best, least] = [mark, Math.max(far, 0)];
    }
    return best;
  }
  function placeOf(event) {
    const edge = picture.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  }

  function showTip(mark, event) {
    const { id } = mark;
    const facts = id < 0 ? groupFacts(-1 - id) : nodeFacts(id);
    const lines = facts.filter((pair) => pair).map(([name, value]) => element("div", {}, `${name}: ${value}`));
    const tip = byId("tip");
    tip.replaceChildren(element("strong", { class: "name" }, id < 0 ? titleOf(-1 - id) : nameOf(id)), ...lines);
    tip.hidden = false;
    const { clientX, clientY } = event;
    const wide = tip.offsetWidth, tall = tip.offsetHeight;
    tip.style.left = `${Math.max(4, clientX + 16 + wide > innerWidth ? clientX - wide - 16 : clientX + 16)}px`;
    tip.style.top = `${Math.max(4, clientY + 16 + tall > innerHeight ? clientY - tall - 16 : clientY + 16)}px`;
    picture.style.cursor = "pointer";
  }
  function hideTip() {
    byId("tip").hidden = true;
    picture.style.cursor = "";
  }

  function choose(mark) {
    const { id } = mark;
    if (id < 0) isolate(-1 - id);
    else if (state.isolated === groupOf(id)) selectNode(id);
    else isolate(groupOf(id));
  }

  // Pointers that are down, with their places; two of them zoom.
  const pressed = new Map();
  let travelled = 0;
  const spread = () => { const [p, q] = [...pressed.values()]; return Math.hypot(p[0] - q[0], p[1] - q[1]); };
  picture.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    pressed.set(event.pointerId, placeOf(event));
    // A drag that leaves the picture goes on, and ends wherever the button is released.
    picture.setPointerCapture(event.pointerId);
    travelled = pressed.size > 1 ? Infinity : 0;
    hideTip();
  });
  picture.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    const before = pressed.get(event.pointerId);
    if (!before) {
      const mark = event.pointerType === "touch" ? null : markAt(...place);
      if (mark) showTip(mark, event); else hideTip();
      return;
    }
    const wide = pressed.size === 2 ? spread() : 0;
    travelled += Math.hypot(place[0] - before[0], place[1] - before[1]);
    // A click moves the hand a little.
    if (travelled < 4) return;
    pressed.set(event.pointerId, place);
    if (pressed.size === 2) {
      const [p, q] = [...pressed.values()];
      pan((place[0] - before[0]) / 2, (place[1] - before[1]) / 2);
      zoom(wide / Math.max(spread(), 1), (p[0] + q[0]) / 2, (p[1] + q[1]) / 2);
      return;
    }
    // One finger scrolls the page.
    if (event.pointerType === "touch") return;
    picture.style.cursor = "grabbing";
    pan(place[0] - before[0], place[1] - before[1]);
  });
  picture.addEventListener("pointerup", (event) => {
    const wasPressed = pressed.delete(event.pointerId);
    if (!wasPressed || travelled >= 4) return;
    const mark = markAt(...placeOf(event));
    if (mark) choose(mark);
  });
  // After a release, and after what ends a drag without one.
  picture.addEventListener("lostpointercapture", (event) => {
    pressed.delete(event.pointerId);
    picture.style.cursor = "";
  });
  picture.addEventListener("pointerleave", hideTip);
  picture.addEventListener("dblclick", (event) => { if (!markAt(...placeOf(event))) showAll(); });
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(Math.min(Math.max(event.deltaY * lines, -300), 300) * 0.0015), ...placeOf(event));
  }, { passive: false });

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
    const items = hits.map((i, at) => element("li", { id: `hit-${at}`, role: "option", "aria-selected": String(at === active), onclick: () => chooseHit(at) },
      named(nameOf(i)), element("small", {}, groupOf(i) < several ? `community ${groupOf(i)}` : "single node")));
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
  function chooseHit(at) {
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
    } else if (event.key === "Enter") chooseHit(active);
    else if (event.key === "Escape" && !found.hidden) { event.stopPropagation(); closeHits(); }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".grow")) closeHits(); });

  // --- The table of communities --------------------------------------------------------------

  const columnsOfLevel = () => [
    { name: "community", value: (a) => a, text: shortTitleOf },
    { name: "nodes", value: (a) => communities.size[a] },
    { name: "share", value: (a) => communities.size[a] / n, text: (a) => percent(communities.size[a] / n) },
    { name: "edges inside", value: (a) => communities.inside[a] },
    { name: "edges to others", value: (a) => communities.leaving[a] },
    { name: "mean degree", value: (a) => communities.degree[a], text: (a) => communities.degree[a].toFixed(1) },
    { name: CONDUCTANCE, value: (a) => communities.conductance[a] ?? "", text: (a) => communities.conductance[a]?.toFixed(3) ?? "" },
    communities.confidence && { name: "confidence", value: (a) => communities.confidence[a], text: (a) => communities.confidence[a].toFixed(3) },
    communities.stability && { name: "stability", value: (a) => communities.stability[a] ?? "", text: (a) => communities.stability[a]?.toFixed(3) ?? "" },
    nodes && { name: "members", value: (a) => communities.members[a].join("; "), members: true },
  ].filter((column) => column);
  let columns, order, sorted, rows;
  function startTable() {
    columns = columnsOfLevel();
    order = communities.size.map((_, a) => a);
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
      return element("th", { scope: "row" }, element("button", { type: "button", "aria-label": `Isolate ${titleOf(a).toLowerCase()}`, onclick: open },
        element("span", { class: "swatch", color: colorOfGroup(a) }), shortTitleOf(a)));
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
    byId("more").hidden = shown.length === order.length;
    byId("rows").textContent = shown.length < order.length ? `${number(shown.length)} of ${number(order.length)} rows; the CSV file has all.` : "";
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
  const download = (name, text) => downloadBlob(name, new Blob([text], { type: "text/csv;charset=utf-8" }));
  function downloadBlob(name, blob) {
    const address = URL.createObjectURL(blob);
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
  function communitiesCsv() {
    return csv(columns.map((column) => column.name.replace(/ /g, "_")), order.map((a) => columns.map((column) => (column.name === "community" && a === several ? titleOf(a) : column.value(a)))));
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

  function shape(tag, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  /* Round numbers that divide a range into at most so many steps. */
  function ticks(low, high, most) {
    const rough = Math.max((high - low) / most, 1e-12);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
    const first = Math.ceil(low / step - 1e-9);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, at) => ({ value: (first + at) * step, text: ((first + at) * step).toFixed(digits) }));
  }

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
    const [wide, tall] = [place.clientWidth, place.clientHeight];
    const frame = { left: 52, right: wide - 10, top: 34, bottom: tall - 44 };
    const [least, most] = [Math.min(...values, 1), Math.max(...values, 1)];
    const pad = 0.08 * (most - least || 1);
    const [low, high] = [least - pad, most + pad];
    const ranks = [first - 0.6, first + values.length - 0.4];
    const x = (rank) => frame.left + ((rank - ranks[0]) / (ranks[1] - ranks[0])) * (frame.right - frame.left);
    const y = (value) => frame.bottom - ((value - low) / (high - low)) * (frame.bottom - frame.top);
    const [ink, soft, line] = ["ink", "edge", "line"].map(theme);
    const text = (content, at) => shape("text", { fill: ink, "font-size": 12, "text-anchor": "middle", ...at }, content);
    const parts = [text(`${counted(spectrum.k, "eigenvalue", "eigenvalues")} above the threshold`, { x: 0, y: 16, "text-anchor": "start", "font-size": 14 })];
    for (const tick of ticks(low, high, 6)) {
      parts.push(shape("line", { x1: frame.left, x2: frame.right, y1: y(tick.value), y2: y(tick.value), stroke: line }));
      parts.push(text(tick.text, { x: frame.left - 8, y: y(tick.value) + 4, "text-anchor": "end" }));
    }
    const whole = ticks(first, first + values.length - 1, Math.min(values.length, 10)).filter((tick) => Number.isInteger(tick.value) && tick.value >= first);
    for (const tick of whole) parts.push(text(tick.text, { x: x(tick.value), y: frame.bottom + 16 }));
    parts.push(text("rank", { x: (frame.left + frame.right) / 2, y: tall - 8 }));
    const middle = (frame.top + frame.bottom) / 2;
    const small = shape("tspan", { "font-size": 9, dy: 3 }, "r");
    const named = text("eigenvalue of N", { x: 12, y: middle, transform: `rotate(-90 12 ${middle})` });
    named.append(small);
    parts.push(named);
    values.forEach((value, at) => parts.push(shape("line", { x1: x(first + at), x2: x(first + at), y1: y(1), y2: y(value), stroke: soft })));
    parts.push(shape("line", { x1: frame.left, x2: frame.right, y1: y(1), y2: y(1), stroke: ink, "stroke-width": 1.3, "stroke-dasharray": "6 4" }));
    values.forEach((value, at) => parts.push(shape("circle", {
      cx: x(first + at), cy: y(value), r: values.length > 30 ? 4 : 5.5, fill: at < spectrum.above ? theme("accent") : soft, stroke: theme("surface"),
    }, shape("title", {}, `eigenvalue ${value.toFixed(4)}, rank ${first + at}`))));
    place.replaceChildren(shape("svg", { width: wide, height: tall, "font-family": theme("font") }, ...parts));
  }

  // --- Start ---------------------------------------------------------------------------------

  byId("view-nodes").addEventListener("click", () => setView("nodes"));
  byId("view-communities").addEventListener("click", () => setView("communities"));
  byId("zoom-in").addEventListener("click", () => zoom(0.7));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.7));
  byId("show-all").addEventListener("click", showAll);
  byId("save-picture").addEventListener("click", savePicture);
  byId("save-communities").addEventListener("click", () => download("communities.csv", communitiesCsv()));
  byId("save-nodes").addEventListener("click", () => download("nodes.csv", nodesCsv()));
  byId("more").addEventListener("click", () => { rows += MORE_ROWS; fillTable(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") showAll(); });
  byId("view-nodes").disabled = byId("save-nodes").disabled = search.disabled = !nodes;

  function drawAll() {
    readColors();
    listLevels();
    describe();
    fillTable();
    drawSpectrum();
    draw({ keepBox: true });
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
  requestAnimationFrame(() => setTimeout(() => {
    splitEdges();
    fitHeight();
    box = viewBox(null);
    drawAll();
    let wide = picture.clientWidth;
    new ResizeObserver(() => {
      if (!picture.clientWidth || Math.abs(picture.clientWidth - wide) < 2) return;
      const scale = wide / (box.x[1] - box.x[0]);
      wide = picture.clientWidth;
      fitHeight();
      drawSpectrum();
      if (moved) box = centered(box, scale);
      draw({ keepBox: moved });
    }).observe(picture);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }, 0));
})();
