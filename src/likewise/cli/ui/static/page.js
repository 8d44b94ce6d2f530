"use strict";
// The page: asks the server that it came from, shows what it says, and sends what was chosen. Text is put in as text; the one piece of HTML is the
// answer, which the server renders with everything escaped.

const key = location.hash.slice(1);
const at = (id) => document.getElementById(id);
const LIMITED = ["probability", "score"]; // properties with a limit that the page asks for
const chosen = { features: {}, property: {} };
let shown = 0; // points of the progress that were drawn
let points = [];

async function call(path, given) {
  const options = { headers: { "X-Likewise-Key": key } };
  if (given !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(given);
  }
  let found;
  try {
    found = await (await fetch(path, options)).json();
  } catch {
    found = { error: "Likewise does not answer: was it ended?", hint: null };
  }
  return found;
}

function complain(found) {
  const wrong = Boolean(found && found.error);
  at("problem").hidden = !wrong;
  at("problem").textContent = wrong ? found.error + (found.hint ? " (" + found.hint + ")" : "") : "";
  if (wrong) at("problem").scrollIntoView({ block: "nearest" });
  return wrong;
}

async function ask(question, more) {
  document.body.setAttribute("aria-busy", "true");
  const found = await call("/api/ask", { question, ...more });
  document.body.removeAttribute("aria-busy");
  return complain(found) ? null : found.answer;
}

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  return element;
}

function fill(select, names, first) {
  select.replaceChildren(make("option", first, { value: "" }), ...names.map((name) => make("option", name, { value: name })));
}

// -- files ---------------------------------------------------------------------------------------

async function begin() {
  const found = await call("/api/files");
  if (complain(found)) return;
  at("folder").textContent = found.folder;
  at("more").hidden = !found.more;
  fill(at("data"), found.data, found.data.length ? "choose a file" : "no .csv or .parquet file is here");
  fill(at("model"), found.models, found.models.length ? "choose a file" : "no model file is here");
  fill(at("claims"), found.claims, found.claims.length ? "choose a file" : "none is here");
  fill(at("label"), [], "choose data and model first");
}

async function findColumns() {
  const files = { data: at("data").value, model: at("model").value };
  at("draft").disabled = true;
  if (!files.data || !files.model) return;
  const found = await ask("columns", files);
  if (found === null) return;
  fill(at("label"), found.columns, "none of them");
  at("label").value = found.label === null ? "" : found.label;
  at("label").disabled = at("draft").disabled = false;
}

async function draft() {
  const files = { data: at("data").value, model: at("model").value, label: at("label").value };
  showClaim(await ask("draft", files));
}

async function openClaim() {
  const claim = at("claims").value;
  let found = await ask("open", { claim });
  if (found && found.outside) { // nothing of them was read yet
    const files = found.outside;
    const named = files.map((one) => "\n\n" + one.what + ": " + one.shown).join("");
    if (!confirm("This claim file reads files outside of the folder:" + named + "\n\nRead them?")) return;
    found = await ask("open", { claim, allow: files.map((one) => one.file) });
    if (found && found.outside) {
      complain({ error: "the claim file names other files by now", hint: "open it again" });
      return;
    }
  }
  showClaim(found);
  if (claim) at("claim-name").value = claim;
}

// -- the claim -----------------------------------------------------------------------------------

function showClaim(claim) {
  if (claim === null) return;
  chosen.features = {};
  chosen.property = { ...claim.property };
  for (const option of [...at("kind").options]) if (!LIMITED.includes(option.value) && option.value !== "decision") option.remove();
  if (![...at("kind").options].some((option) => option.value === claim.property.kind)) at("kind").append(make("option", "as the claim file says", { value: claim.property.kind }));
  at("kind").value = claim.property.kind;
  if (LIMITED.includes(claim.property.kind)) at("limit").value = claim.property.limit;
  at("limit-field").hidden = !LIMITED.includes(claim.property.kind);
  at("notes").replaceChildren(...claim.notes.map((note) => make("li", note)));
  at("features").tBodies[0].replaceChildren(...claim.features.map(featureRow));
  at("filter-field").hidden = claim.features.length < 15;
  at("filter").value = "";
  for (const id of ["similar", "asking"]) at(id).hidden = false;
  at("keeping").hidden = at("live").hidden = true;
  at("answer").replaceChildren();
  say(claim);
  at("similar").scrollIntoView({ behavior: "smooth", block: "start" });
}

function say(claim) {
  const undecided = !claim.features.some((feature) => feature.relation !== "same");
  at("words").textContent = undecided ? "Mark what may differ: so far nobody is similar to anybody else." : "The claim: " + claim.words + ".";
  at("space").textContent = "About everybody in a space of " + claim.space + ".";
  at("rules").replaceChildren(...claim.rules.map((rule) => make("li", rule)));
  at("text").textContent = claim.text;
  for (const id of ["verify", "measure"]) at(id).disabled = undecided || !at("stop").disabled;
}

function featureRow(feature) {
  const row = make("tr");
  const name = make("th", feature.name, { scope: "row" });
  if (feature.suspect) name.append(make("span", "its name sounds protected", { className: "hint" }));
  const values = make("td");
  const choose = (changed) => {
    chosen.features[feature.name] = { ...chosen.features[feature.name], ...changed };
    refresh();
  };
  if ("lo" in feature) {
    const ends = make("span", undefined, { className: "ends" });
    for (const end of ["lo", "hi"]) {
      const input = make("input", undefined, { value: feature[end], inputMode: "decimal" });
      input.setAttribute("aria-label", feature.name + (end === "lo" ? ": from" : ": to"));
      input.addEventListener("change", () => choose({ [end]: input.value }));
      ends.append(...(end === "hi" ? [make("span", "to")] : []), input);
    }
    values.append(ends, make("span", feature.kind, { className: "quiet" }));
  } else {
    values.append(make("span", feature.values));
  }
  const choice = make("span", undefined, { className: "choice", role: "radiogroup" });
  choice.setAttribute("aria-label", feature.name);
  const amount = make("input", undefined, { className: "amount", value: feature.tolerance, hidden: feature.relation !== "within", placeholder: "2 or 5%" });
  amount.setAttribute("aria-label", feature.name + ": by at most");
  amount.addEventListener("change", () => choose({ relation: "within", tolerance: amount.value }));
  const relations = { same: "are the same", free: "may differ" };
  if ("lo" in feature || feature.kind === "ordinal") relations.within = "may differ by";
  if (feature.relation === "pairs") relations.pairs = "as the claim file says";
  for (const [relation, words] of Object.entries(relations)) {
    const radio = make("input", undefined, { type: "radio", name: "relation of " + feature.name, value: relation, checked: relation === feature.relation });
    radio.addEventListener("change", () => {
      amount.hidden = relation !== "within";
      row.classList.toggle("may", relation !== "same");
      if (relation === "within" && !amount.value) amount.focus();
      else choose({ relation, tolerance: amount.value });
    });
    const label = make("label");
    label.append(radio, words);
    choice.append(label);
  }
  choice.append(amount);
  row.classList.toggle("may", feature.relation !== "same");
  const last = make("td");
  last.append(choice);
  row.append(name, values, last);
  return row;
}

let waiting;
let asked = 0;
function refresh() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const mine = ++asked;
    const claim = await ask("show", { choice: chosen });
    if (claim !== null && mine === asked) say(claim);
  }, 250);
}

function chooseProperty() {
  const kind = at("kind").value;
  at("limit-field").hidden = !LIMITED.includes(kind);
  chosen.property = { kind, limit: LIMITED.includes(kind) ? at("limit").value : 0 };
  refresh();
}

function find() {
  const wanted = at("filter").value.toLowerCase();
  for (const row of at("features").tBodies[0].rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
}

// -- questions -----------------------------------------------------------------------------------

async function start(question, more) {
  const found = await call("/api/start", { question, choice: chosen, budget: at("budget").value, of: at("of").value, ...more });
  if (complain(found)) return null;
  working(true);
  at("live").hidden = false;
  at("stage").textContent = "starting";
  shown = 0;
  points = [];
  draw();
  let state;
  do {
    await new Promise((resolve) => setTimeout(resolve, 300));
    state = await call("/api/job?since=" + shown);
    if (state.progress) {
      shown += state.progress.length;
      for (const point of state.progress) follow(point);
    }
  } while (state.running);
  working(false);
  complain(state);
  return state.answer || null;
}

function working(busy) {
  for (const id of ["verify", "measure", "draft", "open", "save-report"]) at(id).disabled = busy;
  at("draft").disabled = busy || at("label").disabled;
  at("open").disabled = busy || !at("claims").value;
  at("stop").disabled = !busy;
  at("stop").textContent = "Stop";
}

const short = (number) => String(Number(number.toPrecision(5)));

function follow(point) {
  const parts = [point.stage, point.seconds.toFixed(1) + " s"];
  if (point.closed || point.open) parts.push(point.closed + " cells closed, " + point.open + " open");
  if (point.lower !== null && point.upper !== null) parts.push("between " + short(point.lower) + " and " + short(point.upper));
  if (point.share !== null) parts.push(Math.round(100 * point.share) + "%");
  at("stage").textContent = parts.join(" · ");
  if (point.lower !== null && point.upper !== null) {
    points.push(point);
    draw();
  }
}

function draw() {
  const chart = at("chart");
  chart.hidden = points.length < 2;
  if (points.length < 2) return;
  const [left, right, top, bottom] = [60, 630, 10, 150];
  const end = points[points.length - 1].seconds || 1;
  const high = Math.max(...points.map((point) => point.upper));
  const low = Math.min(0, ...points.map((point) => point.lower));
  const x = (seconds) => left + ((right - left) * seconds) / end;
  const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low || 1);
  const line = (end) => points.map((point, place) => (place ? "H" + x(point.seconds) + "V" : "M" + x(point.seconds) + ",") + y(point[end])).join("");
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const corners = [...points.map((point) => [point.seconds, point.upper]), ...points.map((point) => [point.seconds, point.lower]).reverse()];
  chart.replaceChildren(
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("polygon", { class: "band", points: corners.map(([seconds, value]) => x(seconds) + "," + y(value)).join(" ") }),
    svg("path", { class: "upper", d: line("upper") }),
    svg("path", { class: "lower", d: line("lower") }),
    svg("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, short(high)),
    svg("text", { x: left - 6, y: bottom, "text-anchor": "end" }, short(low)),
    svg("text", { x: right, y: bottom + 18, "text-anchor": "end" }, end.toFixed(1) + " s"),
    svg("text", { x: left, y: bottom + 18 }, "at most (dashed), at least: a pair attains it"),
  );
}

async function question(name) {
  at("answer").replaceChildren();
  at("keeping").hidden = true;
  const answer = await start(name);
  at("live").hidden = answer !== null && points.length < 2;
  if (answer === null) return;
  at("stage").textContent = "";
  const told = document.createElement("div");
  told.innerHTML = answer.html; // escaped by the server
  for (const row of told.querySelectorAll("tr")) row.classList.toggle("differs", row.cells.length === 4 && row.cells[3].textContent === "yes");
  const parts = [make("p", answer.title, { className: "verdict " + (answer.verdict || "unknown").toLowerCase() })];
  const summary = document.createElement("p");
  summary.innerHTML = answer.summary;
  at("answer").replaceChildren(...parts, summary, told);
  at("keeping").hidden = false;
  at("certificate-field").hidden = !answer.certified;
  for (const id of ["certificate-saved", "report-saved"]) at(id).textContent = "";
  at("answer").focus({ preventScroll: true });
}

async function stop() {
  at("stop").textContent = "Stop now";
  await call("/api/stop", {});
}

// -- saving --------------------------------------------------------------------------------------

async function saved(place, found) {
  at(place).textContent = "";
  if (found && found.saved) at(place).textContent = "saved as " + found.saved;
  return found;
}

async function overwriting(attempt) {
  const found = await attempt(false);
  if (found.error && /already exists/.test(found.error) && confirm(found.error + ". Overwrite it?")) return attempt(true);
  return found;
}

async function saveClaim() {
  const output = at("claim-name").value;
  const found = await overwriting((overwrite) => call("/api/ask", { question: "save", choice: chosen, output, overwrite }));
  if (!complain(found)) await saved("claim-saved", found.answer);
}

async function saveCertificate() {
  const output = at("certificate-name").value;
  const found = await overwriting((overwrite) => call("/api/certificate", { output, overwrite }));
  if (!complain(found)) await saved("certificate-saved", found);
}

async function saveReport() {
  const output = at("report-name").value;
  at("report-saved").textContent = "";
  const kept = [...at("answer").childNodes];
  const begun = await overwriting((overwrite) => call("/api/start", { question: "report", output, overwrite, budget: at("budget").value }));
  if (complain(begun)) return;
  working(true);
  let state;
  do {
    at("report-saved").textContent = "writing, at most " + at("budget").value + " s …";
    await new Promise((resolve) => setTimeout(resolve, 400));
    state = await call("/api/job");
  } while (state.running);
  working(false);
  at("answer").replaceChildren(...kept);
  at("report-saved").textContent = "";
  if (complain(state) || !state.answer) return;
  await saved("report-saved", state.answer);
  at("report-saved").append(" ", make("a", "look at it", { href: state.answer.view, target: "_blank", rel: "noopener" }));
}

// -- wiring --------------------------------------------------------------------------------------

at("data").addEventListener("change", findColumns);
at("model").addEventListener("change", findColumns);
at("claims").addEventListener("change", () => { at("open").disabled = !at("claims").value; });
at("draft").addEventListener("click", draft);
at("open").addEventListener("click", openClaim);
at("kind").addEventListener("change", chooseProperty);
at("limit").addEventListener("change", chooseProperty);
at("filter").addEventListener("input", find);
at("verify").addEventListener("click", () => question("verify"));
at("measure").addEventListener("click", () => question("measure"));
at("stop").addEventListener("click", stop);
at("save-claim").addEventListener("click", saveClaim);
at("save-certificate").addEventListener("click", saveCertificate);
at("save-report").addEventListener("click", saveReport);
begin();
