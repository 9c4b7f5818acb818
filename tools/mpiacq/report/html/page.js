// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Draws the calls of all ranks and the waits between them. The data is in the element "data":
//   strings   all texts; everything below refers to them by number
//   tree      the calls in columns, parents before their children: parent (-1: none), name, place, path, ranks,
//             rank_count, stacks, kind (0 program, 1 MPI, 2 library, 3 the missing end of a stack)
//   waits     groups of ranks {ranks, count, doing, stuck, inside, first}, and waits between them {from, to, certain, why}
//   ranks     a row for each rank in columns: name (its text), pid, host, doing
// Texts reach the page only as text nodes and attributes, never as HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const text = (number) => data.strings[number];
  const byId = (id) => document.getElementById(id);
  const element = (name, className, content) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  };
  for (const part of document.querySelectorAll(".tools, #about")) part.hidden = false;

  // The theme of the system, until the reader chooses the other one.
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });

  // "0-3,7" and "1:0-3,1:7" as ranges of numbers for each world.
  const rangesOf = (ranks) => ranks.split(",").map((part) => {
    const colon = part.lastIndexOf(":");
    const [first, last] = part.slice(colon + 1).split("-");
    return { world: part.slice(0, Math.max(colon, 0)), first: Number(first), last: Number(last ?? first) };
  });
  const hasRank = (ranks, name) => {
    const wanted = rangesOf(name)[0];
    return rangesOf(ranks).some((range) =>
      range.world === wanted.world && range.first <= wanted.first && wanted.first <= range.last);
  };

  // ---- the calls ----
  const rowHeight = 24, narrowest = 3, mostDrawn = 4000;
  const kinds = ["program", "mpi", "library", "cut"];
  const tree = data.tree;
  const count = tree.parent.length;
  const children = Array.from({ length: count }, () => []);
  const tops = [];
  for (let i = 0; i < count; ++i) (tree.parent[i] < 0 ? tops : children[tree.parent[i]]).push(i);
  // What an MPI call does inside is seldom what the reader looks for.
  const folded = new Set();
  const foldInside = () => {
    const inMpi = new Uint8Array(count);
    folded.clear();
    for (let i = 0; i < count; ++i) {
      const above = tree.parent[i];
      inMpi[i] = tree.kind[i] === 1 || (above >= 0 && inMpi[above]) ? 1 : 0;
      const isOutermost = inMpi[i] && (above < 0 || !inMpi[above]);
      if (isOutermost && children[i].length > 0) folded.add(i);
    }
  };
  foldInside();
  // The ranks to look at first are marked, unless these are all ranks.
  const firstGroups = data.waits.groups.filter((group) => group.first);
  const isMarked = firstGroups.length < data.waits.groups.length;
  const firstRanks = new Set(isMarked ? firstGroups.map((group) => text(group.ranks)) : []);

  const icicle = byId("icicle"), about = byId("about");
  let zoomed = -1, focused = -1, hits = [], hitAt = -1;
  const boxes = new Map();

  const describe = (i) => {
    const ranks = text(tree.ranks[i]);
    const one = tree.rank_count[i] === 1;
    about.textContent = `${text(tree.name[i])}\n${text(tree.path[i])}\n${one ? "rank" : `${tree.rank_count[i]} ranks:`} ${ranks}`;
    about.style.whiteSpace = "pre-line";
  };
  const toggle = (i) => {
    if (children[i].length === 0) return;
    folded.has(i) ? folded.delete(i) : folded.add(i);
    draw();
    boxes.get(i)?.focus();
  };
  const zoom = (i) => {
    zoomed = i;
    draw();
    (boxes.get(i) ?? boxes.values().next().value)?.focus();
  };

  const addBox = (i, x, width, depth) => {
    const box = element("div", `frame ${kinds[tree.kind[i]]}`);
    const ranks = text(tree.ranks[i]), place = text(tree.place[i]);
    const isFolded = folded.has(i);
    box.append(`${isFolded ? "\u25b8 " : ""}${text(tree.name[i])}${place ? " " + place : ""} `);
    box.append(element("span", "ranks", `[${ranks.length > 24 ? tree.rank_count[i] + " ranks" : ranks}]`));
    box.title = `${text(tree.name[i])}\n${text(tree.path[i])}\n${tree.rank_count[i] === 1 ? "rank" : "ranks"} ${ranks}`;
    box.style.left = `${x}px`;
    box.style.width = `${width}px`;
    box.style.top = `${depth * rowHeight}px`;
    box.setAttribute("role", "treeitem");
    box.setAttribute("aria-level", depth + 1);
    if (children[i].length > 0) box.setAttribute("aria-expanded", String(!isFolded));
    box.tabIndex = i === focused ? 0 : -1;
    box.dataset.node = i;
    if (hits.includes(i)) box.classList.add("hit");
    if (firstRanks.has(ranks)) box.classList.add("first");
    icicle.append(box);
    boxes.set(i, box);
  };
  const addMore = (x, width, depth, left) => {
    const box = element("div", "frame more", width > 30 ? `+${left}` : "");
    box.title = `${left} more calls, too narrow to draw. Zoom in, or search.`;
    box.style.left = `${x}px`;
    box.style.width = `${Math.max(width, 1)}px`;
    box.style.top = `${depth * rowHeight}px`;
    icicle.append(box);
  };
  // The width of a call is the share of its stacks. Calls that are too narrow to see share a box.
  const drawRow = (nodes, x, width, weight, depth, waiting) => {
    let at = x, left = 0, leftFrom = x;
    const end = () => {
      if (left > 0) addMore(leftFrom, at - leftFrom, depth, left);
      left = 0;
    };
    for (const i of nodes) {
      const own = width * tree.stacks[i] / weight;
      if (own < narrowest || boxes.size >= mostDrawn) {
        if (left === 0) leftFrom = at;
        ++left;
      } else {
        end();
        addBox(i, at, own, depth);
        if (!folded.has(i)) waiting.push([i, at, own, depth + 1]);
      }
      at += own;
    }
    end();
  };
  const draw = () => {
    icicle.replaceChildren();
    boxes.clear();
    const width = Math.max(icicle.clientWidth - 2, 300);
    const roots = zoomed < 0 ? tops : [zoomed];
    const weight = roots.reduce((sum, i) => sum + tree.stacks[i], 0) || 1;
    if (!roots.includes(focused) && focused < 0) focused = roots[0] ?? -1;
    const waiting = [];
    let deepest = 0;
    drawRow(roots, 0, width, weight, 0, waiting);
    while (waiting.length > 0) {
      const [i, x, own, depth] = waiting.pop();
      deepest = Math.max(deepest, depth);
      drawRow(children[i], x, own, tree.stacks[i], depth, waiting);
    }
    icicle.style.height = `${(deepest + 2) * rowHeight + 4}px`;
    if (!boxes.has(focused) && boxes.size > 0) {
      const first = boxes.values().next().value;
      first.tabIndex = 0;
    }
  };
  const nodeOf = (event) => {
    const box = event.target.closest?.("[data-node]");
    return box ? Number(box.dataset.node) : -1;
  };
  icicle.addEventListener("click", (event) => { const i = nodeOf(event); if (i >= 0) { focused = i; toggle(i); } });
  icicle.addEventListener("dblclick", (event) => { const i = nodeOf(event); if (i >= 0) zoom(i); });
  icicle.addEventListener("mouseover", (event) => { const i = nodeOf(event); if (i >= 0) describe(i); });
  icicle.addEventListener("focusin", (event) => {
    const i = nodeOf(event);
    if (i < 0) return;
    focused = i;
    for (const box of boxes.values()) box.tabIndex = -1;
    boxes.get(i).tabIndex = 0;
    describe(i);
  });
  const moves = {
    ArrowDown: (i) => children[i].find((child) => boxes.has(child)),
    ArrowUp: (i) => tree.parent[i],
    ArrowRight: (i) => sibling(i, 1),
    ArrowLeft: (i) => sibling(i, -1),
  };
  const sibling = (i, step) => {
    const all = (tree.parent[i] < 0 ? tops : children[tree.parent[i]]).filter((node) => boxes.has(node));
    return all[all.indexOf(i) + step];
  };
  icicle.addEventListener("keydown", (event) => {
    const i = nodeOf(event);
    if (i < 0) return;
    if (event.key === "Enter" || event.key === " ") toggle(i);
    else if (event.key === "z") zoom(i);
    else if (event.key === "Escape") zoom(-1);
    else if (moves[event.key]) boxes.get(moves[event.key](i))?.focus();
    else return;
    event.preventDefault();
  });
  byId("open-all").addEventListener("click", () => { folded.clear(); draw(); });
  byId("close-all").addEventListener("click", () => { foldInside(); draw(); });
  byId("whole").addEventListener("click", () => { zoomed = -1; draw(); });
  icicle.hidden = count === 0;
  addEventListener("resize", draw);

  // ---- the search ----
  const search = byId("search"), status = byId("hits");
  const show = (i) => {
    for (let above = tree.parent[i]; above >= 0; above = tree.parent[above]) folded.delete(above);
    if (!boxes.has(i)) { zoomed = -1; draw(); }
    if (!boxes.has(i)) { zoomed = tree.parent[i]; draw(); }
    if (!boxes.has(i)) { zoomed = i; draw(); }
  };
  const isRank = (words) => /^(rank\s*)?[0-9?]+(:[0-9]+)?$/.test(words);
  const find = () => {
    const words = search.value.trim().toLowerCase();
    hits = [];
    hitAt = -1;
    if (isRank(words)) {
      const rank = words.replace(/^rank\s*/, "");
      // Of each path of the rank, the innermost call of the program or of MPI tells the most.
      for (let i = 0; i < count; ++i) {
        if (!hasRank(text(tree.ranks[i]), rank)) continue;
        if (!children[i].some((child) => hasRank(text(tree.ranks[child]), rank))) hits.push(i);
      }
    } else if (words) {
      for (let i = 0; i < count; ++i) {
        if (text(tree.name[i]).toLowerCase().includes(words) || text(tree.path[i]).toLowerCase().includes(words)) hits.push(i);
      }
    }
    status.textContent = words ? `${hits.length} ${hits.length === 1 ? "call" : "calls"}` : "";
    drawTable(words && isRank(words) ? words.replace(/^rank\s*/, "") : "");
    draw();
    for (const i of hits.slice(0, 200)) boxes.get(i)?.classList.add("hit");
  };
  const next = () => {
    if (hits.length === 0) return;
    hitAt = (hitAt + 1) % hits.length;
    show(hits[hitAt]);
    focused = hits[hitAt];
    boxes.get(focused)?.focus();
    status.textContent = `${hitAt + 1} of ${hits.length}`;
  };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") next(); });
  byId("next").addEventListener("click", next);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === search) return;
    search.focus();
    event.preventDefault();
  });

  // ---- the table of ranks ----
  const rowsShown = 256;
  const drawTable = (rank) => {
    const place = byId("rank-table");
    const table = element("table");
    const head = element("tr");
    for (const title of ["rank", "host", "pid", "doing"]) head.append(element("th", "", title));
    table.append(head);
    let shown = 0, left = 0;
    data.ranks.name.forEach((name, i) => {
      if (rank && name !== rank) return;
      if (++shown > rowsShown) { ++left; return; }
      const row = element("tr");
      for (const cell of [name, text(data.ranks.host[i]), data.ranks.pid[i], text(data.ranks.doing[i])]) {
        row.append(element("td", "", String(cell)));
      }
      table.append(row);
    });
    place.replaceChildren(table);
    if (left > 0) place.append(element("p", "", `and ${left} more: search for a rank`));
    place.hidden = false;
  };

  // ---- the waits ----
  const svgOf = (name, attributes, content) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (content !== undefined) made.textContent = content;
    return made;
  };
  // Tarjan: for each group the number of its ring of waits. A ring comes after those that it waits for.
  const ringsOf = (size, edges) => {
    const outgoing = Array.from({ length: size }, () => []);
    for (const { from, to } of edges) outgoing[from].push(to);
    const seen = new Array(size).fill(-1), low = new Array(size).fill(0), ring = new Array(size).fill(-1), open = [];
    let time = 0, rings = 0;
    const visit = (i) => {
      seen[i] = low[i] = time++;
      open.push(i);
      for (const other of outgoing[i]) {
        if (seen[other] < 0) { visit(other); low[i] = Math.min(low[i], low[other]); }
        else if (ring[other] < 0) low[i] = Math.min(low[i], seen[other]);
      }
      if (low[i] !== seen[i]) return;
      for (;;) {
        const member = open.pop();
        ring[member] = rings;
        if (member === i) break;
      }
      ++rings;
    };
    for (let i = 0; i < size; ++i) if (seen[i] < 0) visit(i);
    return { ring, rings };
  };
  const shortened = (words, most) => words.length <= most ? words : words.slice(0, most - 1) + "\u2026";
  const drawGraph = () => {
    const { groups, waits } = data.waits;
    const used = groups.map((group, i) => i).filter((i) =>
      groups[i].inside || waits.some((wait) => wait.from === i || wait.to === i));
    const place = byId("graph");
    if (used.length === 0) return;
    const boxWidth = 300, boxHeight = 46, gapX = 110, gapY = 22;
    const { ring, rings } = ringsOf(groups.length, waits);
    // Those that wait for nobody are on the right, those that wait for them to the left of them.
    const layer = new Array(rings).fill(0);
    for (let r = 0; r < rings; ++r) {
      for (const { from, to } of waits) {
        if (ring[from] === r && ring[to] !== r) layer[r] = Math.max(layer[r], layer[ring[to]] + 1);
      }
    }
    const layers = Math.max(...used.map((i) => layer[ring[i]])) + 1;
    const heights = new Array(layers).fill(0);
    const at = [];
    const members = new Array(rings).fill(0);
    for (const i of used) ++members[ring[i]];
    for (const i of used.toSorted ? used.toSorted((a, b) => ring[a] - ring[b]) : used.slice().sort((a, b) => ring[a] - ring[b])) {
      const column = layers - 1 - layer[ring[i]];
      // The arrows inside a ring need room on its right.
      at[i] = { x: 12 + column * (boxWidth + gapX), y: 12 + heights[column] };
      heights[column] += boxHeight + gapY;
    }
    const width = layers * (boxWidth + gapX) + 12, height = Math.max(...heights) + 12;
    const svg = svgOf("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": "Which ranks wait for which. The text below says the same." });
    const defs = svgOf("defs", {});
    for (const id of ["arrow", "stuck-arrow"]) {
      const marker = svgOf("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 14, markerHeight: 14,
        markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" });
      marker.append(svgOf("path", { d: "M 0 0 L 10 5 L 0 10 z" }));
      defs.append(marker);
    }
    svg.append(defs);
    for (const wait of waits) {
      const a = at[wait.from], b = at[wait.to];
      const inRing = ring[wait.from] === ring[wait.to];
      const y1 = a.y + boxHeight / 2, y2 = b.y + boxHeight / 2;
      const bulge = boxWidth + Math.min(90, 20 + Math.abs(y2 - y1) / 4);
      const d = inRing
        ? `M ${a.x + boxWidth} ${y1 + 6} C ${a.x + bulge} ${y1}, ${b.x + bulge} ${y2}, ${b.x + boxWidth} ${y2 - 6}`
        : `M ${a.x + boxWidth} ${y1} C ${a.x + boxWidth + gapX / 2} ${y1}, ${b.x - gapX / 2} ${y2}, ${b.x} ${y2}`;
      const stuck = inRing && groups[wait.from].stuck && groups[wait.to].stuck;
      const path = svgOf("path", { d, class: `${wait.certain ? "" : "maybe"} ${stuck ? "stuck" : ""}`, "marker-end": stuck ? "url(#stuck-arrow)" : "url(#arrow)" });
      path.append(svgOf("title", {}, text(wait.why)));
      svg.append(path);
    }
    for (const i of used) {
      const group = groups[i], { x, y } = at[i];
      const box = svgOf("g", { class: `${group.stuck ? "stuck" : ""} ${group.first ? "first" : ""}` });
      box.append(svgOf("title", {}, `${group.count === 1 ? "rank" : "ranks"} ${text(group.ranks)}: ${text(group.doing)}`));
      box.append(svgOf("rect", { x, y, width: boxWidth, height: boxHeight, rx: 6 }));
      const inside = group.inside && group.count > 1 ? ", some wait for others of them" : "";
      box.append(svgOf("text", { x: x + 10, y: y + 19, class: "strong" },
        shortened(`${group.count === 1 ? "rank" : "ranks"} ${text(group.ranks)}${inside}`, 36)));
      box.append(svgOf("text", { x: x + 10, y: y + 36 }, shortened(text(group.doing), 36)));
      svg.append(box);
    }
    place.append(svg);
    place.hidden = false;
  };

  draw();
  drawGraph();
  drawTable("");
  document.documentElement.dataset.drawn = "yes";
})();
