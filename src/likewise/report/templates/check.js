"use strict";
// Checks certificates in a worker, by the checker that the page carries packed (the element with the id "checker").
const likewiseCheck = (() => {
  const TICK = 250; // milliseconds between two looks at the clock
  const missing = typeof DecompressionStream === "undefined" || typeof Worker === "undefined" || typeof BigInt === "undefined";

  function bytesOfBase64(text) {
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }

  async function checkerUrl() {
    const packed = bytesOfBase64(document.getElementById("checker").textContent.trim());
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type: "text/javascript" }));
  }

  // Starts a check and shows it in `panel`; a check that still runs there is stopped. `nodes`: how many steps the proof says it has; `differences`:
  // what the words of the report say otherwise than the certificate, null if nothing was compared.
  async function check(panel, job, { nodes = 0, inReport = false, differences = null } = {}) {
    if (panel.stopCheck) panel.stopCheck();
    const [stop, running, bar, soFar, outcome] = [".stop", ".running", "progress", ".so-far", ".outcome"].map(name => panel.querySelector(name));
    const begun = performance.now();
    let steps = 0, worker = null, url = null, over = false;
    const tell = () => {
      soFar.textContent = counted(steps, "step") + (nodes ? " of " + nodes.toLocaleString("en") : "") + ", " + secondsSince(begun);
      if (nodes) bar.value = Math.min(steps / nodes, 1);
    };
    const clock = setInterval(tell, TICK);
    const end = message => {
      if (over) return;
      over = true;
      clearInterval(clock);
      if (worker) worker.terminate();
      if (url) URL.revokeObjectURL(url);
      panel.stopCheck = null;
      stop.hidden = running.hidden = true;
      panel.removeAttribute("aria-busy");
      show(outcome, message, { ...job, inReport, differences, took: secondsSince(begun) });
    };
    panel.stopCheck = () => end({ kind: "stopped" });
    stop.onclick = () => panel.stopCheck();
    bar.removeAttribute("value");
    outcome.replaceChildren();
    stop.hidden = running.hidden = false;
    panel.setAttribute("aria-busy", "true");
    tell();
    if (missing) return end({ kind: "missing" });
    try {
      url = await checkerUrl();
      if (over) return URL.revokeObjectURL(url);
      worker = new Worker(url);
      worker.onmessage = ({ data }) => { if (data.kind === "progress") steps = data.nodes; else end(data); };
      worker.onerror = event => { event.preventDefault(); end({ kind: "error", reason: event.message || "the worker did not start" }); };
      worker.postMessage({ ...job, full: true });
    } catch (error) {
      end({ kind: "error", reason: String(error) });
    }
  }

  // -- what is said ------------------------------------------------------------------------------------

  const SIGNS = { fair: "✓", biased: "≠", rejected: "✗", unknown: "?" };

  function show(outcome, message, about) {
    const { look, title, sentences } = verdict(message, about);
    const box = made("div", { class: "verdict " + look });
    box.append(made("h3", {}, made("span", { class: "sign", "aria-hidden": "true" }, SIGNS[look]), " " + title));
    for (const sentence of sentences) box.append(made("p", {}, sentence));
    outcome.append(box);
    if (message.kind !== "report") return;
    if (message.report.claim !== null) {
      outcome.append(made("h4", {}, "In the words of the checker"));
      outcome.append(made("pre", { class: "said", tabindex: "0", role: "region", "aria-label": "What the checker says" }, message.lines.join("\n")));
    }
    if (!message.report.accepted) return;
    outcome.append(made("h4", {}, "What is covered, and what is not"));
    outcome.append(made("ul", { class: "uncovered" }, ...uncovered(message.report, about).map(text => made("li", {}, text))));
  }

  function verdict(message, about) {
    const nothing = "Nothing is proved by it.", neither = "It is neither accepted nor rejected.";
    const command = "The command likewise-check does the same outside of a browser.";
    if (message.kind === "stopped") return { look: "unknown", title: "Stopped", sentences: ["The check was stopped after " + about.took + ". " + neither] };
    if (message.kind === "missing") return { look: "unknown", title: "This browser is too old", sentences: ["It can neither unpack the checker nor run it. " + command] };
    if (message.kind === "wrong-usage") return { look: "unknown", title: "Not checked", sentences: ["A file is not what it was taken for: " + message.reason + "."] };
    if (message.kind === "error") return { look: "unknown", title: "Not checked", sentences: ["The checker failed: " + message.reason + ". " + neither + " " + command] };
    const { report, asExpected } = message;
    const where = report.line ? " (line " + report.line + " of the certificate)" : "";
    if (report.answer === "unfinished") return { look: "unknown", title: "Not finished", sentences: [capital(report.reason) + where + ". " + neither] };
    if (report.answer === "unreadable") return { look: "rejected", title: "Not a certificate", sentences: [capital(report.reason) + ". " + nothing] };
    if (report.answer === "rejected") return { look: "rejected", title: "Rejected", sentences: [capital(report.reason) + where + ".", nothing] };
    return accepted(report, asExpected, about);
  }

  function accepted(report, asExpected, about) {
    const proof = report.kind === "proof";
    const said = [proof
      ? "The proof holds: " + counted(report.nodes, "step") + (report.nodes === 1 ? "" : ", every one of them") + " recomputed in exact arithmetic, in " + about.took + "."
      : "The pair is there, recomputed in exact arithmetic in " + about.took + ": two similar individuals who are not treated alike."];
    if (asExpected === false) {
      const found = proof ? "a proof that the claim holds" : "a pair that breaks the claim";
      return { look: "rejected", title: "Accepted, but not what was expected", sentences: [...said, "This certificate is " + found + (about.inReport ? ", and the report says otherwise." : ".")] };
    }
    if (about.differences && about.differences.length) {
      return { look: "rejected", title: "Accepted, but it is not the certificate of this report", sentences: [...said, ...about.differences] };
    }
    return { look: proof ? "fair" : "biased", title: proof ? "Accepted" : "Accepted: similar individuals are treated differently", sentences: said };
  }

  function uncovered(report, about) {
    const proof = report.kind === "proof", compared = new Set(report.compared), list = [];
    if (!proof) list.push("Rounding: the two scores are those of the model's numbers in exact arithmetic. The program in use was not run here.");
    else if (report.covers_floating_point) list.push("Rounding of the program in use is covered, as far as the certificate describes that program truly.");
    else list.push("Rounding: the proof is about the model's numbers in exact arithmetic. What the program in use makes of them in floating point is not covered.");
    if (!compared.has("model")) list.push("Your model: the numbers in the certificate were not compared with the model in use. The command likewise export writes a file to compare them with.");
    if (compared.size < 4) {
      const open = ["space", "similarity", "property"].filter(name => !compared.has(name));
      list.push("Your claim: " + open.join(", ") + " are those of the certificate, printed above" + (about.inReport ? "; " + comparison(about) : "") + ".");
    } else list.push("The certificate is about the claim and the model in your file. Whether the model in your file is the one in use is not known here.");
    list.push(proof
      ? "Everybody else: who is outside of the printed ranges and levels is not covered, nor are differences that the claim does not allow."
      : "How many there are: one pair says nothing of how often this happens, or whether such people apply.");
    return list;
  }

  function comparison({ differences }) {
    if (differences === null) return "the words elsewhere in this report were not compared with them";
    return differences.length ? "the words of this report say otherwise" : "of the words elsewhere in this report, only the verdict, the claim and the digests were compared with the certificate";
  }

  // -- small parts -------------------------------------------------------------------------------------

  function made(name, attributes, ...inside) { // everything that comes from a file is text
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    element.append(...inside);
    return element;
  }

  function counted(count, what) { return count.toLocaleString("en") + " " + what + (count === 1 ? "" : "s"); }

  function secondsSince(begun) {
    const seconds = (performance.now() - begun) / 1000;
    return (seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)) + " s";
  }

  function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

  return { check, bytesOfBase64 };
})();
