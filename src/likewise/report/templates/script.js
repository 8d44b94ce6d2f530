"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const part of document.querySelectorAll("[data-scripted]")) part.hidden = false;

  // -- checking the certificate ------------------------------------------------------------------------

  const checked = document.getElementById("check");
  const certificate = carried();
  const differing = compare();
  if (checked && certificate) {
    checked.querySelector(".start").addEventListener("click", async () => {
      const differences = await differing;
      likewiseCheck.check(checked, { certificate, expect: checked.dataset.expect }, { nodes: Number(checked.dataset.nodes), inReport: true, differences });
    });
  }

  function carried() {
    const link = checked && checked.querySelector("a[download]");
    try {
      return link ? likewiseCheck.bytesOfBase64(link.href.slice(link.href.indexOf(",") + 1)) : null;
    } catch {
      return null; // not even letters and digits
    }
  }

  // -- comparing the words with the certificate: verdict, claim and digests ----------------------------

  // What differs, as sentences; null where nothing could be compared.
  async function compare() {
    const place = document.getElementById("compared");
    if (!place) return null;
    let differences = ["There is no certificate inside, although this report says so."];
    try {
      if (certificate) differences = await differencesFrom(await headerOf(certificate));
    } catch (error) {
      if (typeof DecompressionStream === "undefined" || !crypto.subtle) {
        say(place, "This browser is too old to compare the words of this report with the certificate inside.");
        return null;
      }
      differences = ["The certificate inside cannot be read."];
    }
    if (differences.length) warn(place, differences);
    else say(place, "The verdict, the claim and the digests in this report are those of the certificate inside. No other words were compared.");
    return differences;
  }

  async function headerOf(bytes) { // its first line; the rest is for the checker
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const longest = 1e6;
    let text = "";
    const decoder = new TextDecoder("utf-8", { fatal: true });
    while (!text.includes("\n") && text.length < longest) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    reader.cancel().catch(() => {});
    return JSON.parse(text.slice(0, text.indexOf("\n") + 1));
  }

  async function differencesFrom(header) {
    const found = [], verdict = { proof: "FAIR", witness: "BIASED" }[header.kind];
    const text = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent.trim());
    const every = (selector, wanted) => { const said = text(selector); return said.length > 0 && said.every((one) => one === wanted); };
    const shown = text("#verdict-title").map((said) => said.split(" ").pop());
    if (shown.length !== 1 || shown[0] !== verdict || !document.getElementById("verdict").classList.contains(verdict.toLowerCase())) {
      found.push("The verdict in this report is " + shown.join(", ") + ", that of the certificate is " + verdict + ".");
    }
    const claim = header.words.charAt(0).toUpperCase() + header.words.slice(1);
    if (!every("#claim-words", claim + ".") && !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(claim)) { // those are shown escaped
      found.push("The claim in this report is another one than the certificate states: " + claim + ".");
    }
    const headline = text(".claim").join().replace(/\.$/, "");
    if (!every("title", shown[0] + ": " + headline)) found.push("The title of this report is about another verdict or claim.");
    const hashed = new Uint8Array(await crypto.subtle.digest("SHA-256", certificate));
    const digests = { ...header.digests, certificate: [...hashed].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
    for (const name of ["certificate", "space", "similarity", "property", "model"]) {
      if (!every('[data-digest="' + name + '"]', digests[name])) found.push("The digest of the " + name + " in this report is not that of the certificate inside.");
    }
    return found;
  }

  function say(place, words) {
    const said = document.createElement("p");
    said.className = "quiet";
    said.textContent = words;
    place.replaceChildren(said);
  }

  function warn(place, differences) {
    const title = document.createElement("h3"), list = document.createElement("ul");
    title.textContent = "This report and the certificate inside do not belong together";
    list.append(...differences.map((words) => Object.assign(document.createElement("li"), { textContent: words })));
    place.className = "verdict rejected";
    place.setAttribute("role", "alert");
    place.replaceChildren(title, list);
  }

  // -- long tables: the first lines, the rest on demand ------------------------------------------------

  for (const table of document.querySelectorAll("table[data-fold]")) folding(table);

  function folding(table) {
    const body = table.tBodies[0], most = Number(table.dataset.fold);
    if (body.rows.length <= most + 3) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more";
    button.setAttribute("aria-expanded", "false");
    const fold = () => {
      let shown = 0;
      const folds = button.getAttribute("aria-expanded") === "false";
      for (const row of body.rows) {
        if (row.hidden) continue;
        row.classList.toggle("folded", folds && !row.classList.contains("differs") && shown >= most);
        shown += 1;
      }
      button.hidden = shown <= most;
      button.textContent = folds ? "Show all " + shown + " lines" : "Show fewer";
    };
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") === "false"));
      fold();
    });
    table.closest(".scroll").after(button);
    table.addEventListener("changed", fold);
    fold();
  }

  // -- sorting -----------------------------------------------------------------------------------------

  for (const table of document.querySelectorAll("table[data-sortable]"))
    for (const head of table.tHead.rows[0].cells) sorting(table, head);

  function sorting(table, head) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const rows = [...table.tBodies[0].rows], at = head.cellIndex, sign = order === "ascending" ? 1 : -1;
      rows.sort((a, b) => compared(a.cells[at], b.cells[at], sign));
      table.tBodies[0].append(...rows);
      table.dispatchEvent(new Event("changed"));
    });
  }

  function compared(a, b, sign) { // what is not known comes last, whatever the order
    const first = a.dataset.key, second = b.dataset.key;
    if (first === "" || second === "") return (first === "") - (second === "");
    if (a.hasAttribute("data-number")) return sign * (Number(first) - Number(second));
    return sign * first.localeCompare(second, undefined, { numeric: true });
  }

  // -- filtering ---------------------------------------------------------------------------------------

  const audit = document.getElementById("audit-table");
  if (audit) {
    const text = document.getElementById("audit-text"), verdict = document.getElementById("audit-verdict");
    const count = document.getElementById("audit-count");
    const filter = () => {
      const wanted = text.value.trim().toLowerCase();
      let shown = 0;
      for (const row of audit.tBodies[0].rows) {
        row.hidden = (verdict.value !== "" && row.dataset.verdict !== verdict.value)
          || !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      count.textContent = shown + " of " + audit.tBodies[0].rows.length + " rows";
      audit.dispatchEvent(new Event("changed"));
    };
    text.addEventListener("input", filter);
    verdict.addEventListener("change", filter);
    filter();
  }

  // -- the map of regions ------------------------------------------------------------------------------

  const MOST_CELLS = 40; // along an axis
  const DENSE = 120; // cells, from which on they have no borders
  const LEAST_LEFT = 40, MOST_LEFT = 132, RIGHT = 434, TOP = 24, BOTTOM = 286;
  const LETTER = 7.4; // units of a wide letter
  let edge = LEAST_LEFT; // as much as the names of the levels need
  const map = data.region_map;
  if (map) {
    const across = document.getElementById("map-across"), up = document.getElementById("map-up");
    for (const select of [across, up])
      map.axes.forEach((axis, i) => select.append(new Option(axis.name, i)));
    up.value = Math.min(1, map.axes.length - 1);
    for (const select of [across, up]) select.addEventListener("change", () => draw(Number(across.value), Number(up.value)));
    draw(0, Number(up.value));
  }

  function cells(i) { // [from, to] of each cell of an axis, in its own units
    const axis = map.axes[i];
    if (axis.levels) return axis.levels.map((_, p) => [p - 0.5, p + 0.5]);
    const [lo, hi] = axis.range, cuts = new Set([lo, hi]);
    for (const box of map.boxes) for (const cut of box[2][i] || []) cuts.add(cut);
    let ends = [...cuts].sort((a, b) => a - b);
    if (ends.length > MOST_CELLS + 1) {
      const most = axis.whole ? Math.min(MOST_CELLS, hi - lo) : MOST_CELLS;
      ends = Array.from({ length: most + 1 }, (_, k) => lo + (hi - lo) * k / most);
    }
    return ends.length < 2 ? [[lo, lo]] : ends.slice(1).map((end, k) => [ends[k], end]);
  }

  function parts(i, own, grid) { // for each cell: which part of a box's range, or of the whole axis, it has
    const axis = map.axes[i];
    if (axis.levels) {
      const within = own || axis.levels.map((_, p) => p);
      return grid.map((_, p) => within.includes(p) ? 1 / within.length : 0);
    }
    const [lo, hi] = own || axis.range;
    if (hi === lo) return grid.map(([from, to], k) => Number(from <= lo && (lo < to || k === grid.length - 1)));
    return grid.map(([from, to]) => Math.max(0, Math.min(hi, to) - Math.max(lo, from)) / (hi - lo));
  }

  function shares(i, j, columns, rows) { // of each kind in each cell
    const wide = parts(i, null, columns), high = parts(j, null, rows);
    const found = rows.map(() => columns.map(() => map.kinds.map(() => 0)));
    for (const [kind, share, box] of map.boxes) {
      const px = parts(i, box[i], columns), py = parts(j, box[j], rows);
      for (let r = 0; r < rows.length; r++)
        for (let c = 0; c < columns.length; c++)
          if (px[c] * py[r] > 0) found[r][c][kind] += share * px[c] * py[r] / (wide[c] * high[r]);
    }
    return found;
  }

  function drawn(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function draw(i, j) {
    const svg = document.getElementById("map"), one = i === j;
    const names = one || !map.axes[j].levels ? ["0000000"] : map.axes[j].levels;
    edge = Math.min(MOST_LEFT, Math.max(LEAST_LEFT, 8 + LETTER * Math.max(...names.map(name => name.length))));
    const columns = cells(i), rows = one ? [[0, 1]] : cells(j);
    const found = one ? alone(i, columns) : shares(i, j, columns, rows);
    const x = place(map.axes[i], columns, edge, RIGHT), y = one ? (k => k ? TOP : BOTTOM) : place(map.axes[j], rows, BOTTOM, TOP);
    svg.replaceChildren();
    rows.forEach((_, r) => columns.forEach((_, c) => {
      const left = x(c), width = x(c + 1) - left, top = y(r + 1), height = y(r) - top;
      const group = drawn("g", {});
      let at = left;
      map.kinds.forEach((kind, k) => {
        const size = found[r][c][k] * width;
        if (size <= 0) return;
        group.append(drawn("rect", { class: kind, x: at, y: top, width: size, height: height }));
        at += size;
      });
      if (columns.length * rows.length < DENSE) group.append(drawn("rect", { class: "cell", x: left, y: top, width: width, height: height }));
      group.append(drawn("title", {}, told(i, columns, c) + (one ? "" : ", " + told(j, rows, r)) + ": "
        + map.kinds.map((kind, k) => kind + " " + (100 * found[r][c][k]).toFixed(2) + "%").join(", ")));
      svg.append(group);
    }));
    labels(svg, map.axes[i], columns, x, true);
    if (!one) labels(svg, map.axes[j], rows, y, false);
    const said = "Regions over " + map.axes[i].name + (one ? "" : " and " + map.axes[j].name) + ", "
      + columns.length * rows.length + " cells; the rules are in the table below";
    svg.setAttribute("aria-label", said);
    document.getElementById("map-said").textContent = said;
  }

  function alone(i, columns) {
    const whole = parts(i, null, columns), found = [columns.map(() => map.kinds.map(() => 0))];
    for (const [kind, share, box] of map.boxes)
      parts(i, box[i], columns).forEach((part, c) => { found[0][c][kind] += share * part / whole[c]; });
    return found;
  }

  function place(axis, grid, start, stop) { // of the k-th border: levels side by side, numbers to scale
    if (axis.levels) return k => start + (stop - start) * k / grid.length;
    const lo = grid[0][0], hi = grid[grid.length - 1][1];
    return k => start + (stop - start) * ((k < grid.length ? grid[k][0] : hi) - lo) / ((hi - lo) || 1);
  }

  function told(i, grid, k) {
    const axis = map.axes[i];
    if (axis.levels) return axis.name + " = " + axis.levels[k];
    const [lo, hi] = grid[k];
    return axis.name + " " + (axis.whole ? Math.ceil(lo) + " to " + Math.floor(hi) : short(lo) + " to " + short(hi));
  }

  function short(value) { return String(Number(value.toPrecision(4))); }

  function labels(svg, axis, grid, at, flat) {
    const room = flat ? 52 : 16;
    let last = -Infinity;
    const put = (place, text) => {
      if (Math.abs(place - last) < room) return;
      last = place;
      const most = flat ? (axis.levels ? Math.max(9, Math.floor(Math.abs(at(1) - at(0)) / LETTER)) : 9) : Math.floor((edge - 8) / LETTER);
      const cut = text.length > most ? text.slice(0, most - 1) + "…" : text;
      const label = drawn("text", flat ? { x: place, y: BOTTOM + 15, "text-anchor": "middle" }
        : { x: edge - 5, y: place + 4, "text-anchor": "end" }, cut);
      if (cut !== text) label.append(drawn("title", {}, text));
      svg.append(label);
    };
    if (axis.levels) grid.forEach((_, k) => put((at(k) + at(k + 1)) / 2, axis.levels[k]));
    else for (let k = 0; k <= grid.length; k++) {
      const value = k < grid.length ? grid[k][0] : grid[k - 1][1];
      put(at(k), axis.whole ? String(k < grid.length ? Math.ceil(value) : Math.floor(value)) : short(value));
    }
    const name = axis.name.length > 40 ? axis.name.slice(0, 39) + "…" : axis.name;
    svg.append(flat ? drawn("text", { x: RIGHT, y: BOTTOM + 36, "text-anchor": "end" }, name + " →")
      : drawn("text", { x: 4, y: TOP - 9, "text-anchor": "start" }, "↑ " + name));
  }
})();
