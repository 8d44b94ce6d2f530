(function () {
  const KINDS = ["certificate", "claim", "model"];
  const LINE_FEED = 10;
  const panel = document.getElementById("check"), zone = document.getElementById("drop"), taken = document.getElementById("taken");
  const start = panel.querySelector(".start"), again = panel.querySelector(".again"), expect = document.getElementById("expect");
  const fields = Object.fromEntries(KINDS.map(kind => [kind, document.getElementById(kind)]));
  for (const part of document.querySelectorAll("[data-scripted]")) part.hidden = false;

  let runs = 0;
  async function run() {
    const own = ++runs;
    const files = KINDS.map(kind => fields[kind].files[0]);
    if (!files[0]) return;
    const job = {};
    try {
      for (let i = 0; i < KINDS.length; i++) if (files[i]) job[KINDS[i]] = new Uint8Array(await files[i].arrayBuffer());
    } catch (error) {
      taken.textContent = "A file cannot be read: " + error.message;
      return;
    }
    if (own !== runs) return; // other files were chosen while these were read
    if (expect.value) job.expect = expect.value;
    likewiseCheck.check(panel, job);
  }

  function changed() {
    const some = KINDS.some(kind => fields[kind].files.length > 0);
    start.disabled = fields.certificate.files.length === 0;
    again.hidden = !some;
    if (fields.claim.files.length || fields.model.files.length) document.getElementById("compared").open = true;
    if (panel.stopCheck) panel.stopCheck();
    panel.querySelector(".outcome").replaceChildren(); // it was about other files
    run();
  }

  for (const field of [...KINDS.map(kind => fields[kind]), expect]) field.addEventListener("change", () => { taken.textContent = ""; changed(); });
  start.addEventListener("click", run);
  again.addEventListener("click", () => {
    for (const kind of KINDS) fields[kind].value = "";
    expect.value = taken.textContent = "";
    changed();
  });

  // -- dropped files: told apart by what is in them ----------------------------------------------------

  async function kindOf(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] !== 0x7b) return "certificate"; // "{" begins claims and models; what is no certificate is told by the checker
    const end = bytes.indexOf(LINE_FEED);
    return end < 0 || end === bytes.length - 1 ? "model" : "claim";
  }

  function put(kind, file) {
    const transfer = new DataTransfer();
    transfer.items.add(file);
    fields[kind].files = transfer.files;
  }

  async function take(files) {
    const said = [];
    for (const file of files) {
      let kind;
      try {
        kind = await kindOf(file);
      } catch (error) {
        said.push(file.name + " cannot be read.");
        continue;
      }
      put(kind, file);
      said.push(file.name + " is taken as the " + kind + (kind === "certificate" ? "" : " to compare with") + ".");
    }
    taken.textContent = said.join(" ");
    if (files.length) changed();
  }

  // Anywhere on the page: a file that is dropped beside the field must not take the page's place.
  let inside = 0;
  const mark = () => zone.classList.toggle("over", inside > 0);
  document.addEventListener("dragenter", event => { event.preventDefault(); inside += 1; mark(); });
  document.addEventListener("dragleave", () => { inside -= 1; mark(); });
  document.addEventListener("dragover", event => { event.preventDefault(); event.dataTransfer.dropEffect = "copy"; });
  document.addEventListener("drop", event => { event.preventDefault(); inside = 0; mark(); take([...event.dataTransfer.files]); });
})();
