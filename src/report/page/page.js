// page.js: the sections of the page, in their order.

const report = JSON.parse(document.getElementById("document").textContent);

function commandLine(line) {
    return make("pre", { class: "command", tabindex: "0" }, make("code", {}, line));
}

// One line for each experiment; what follows each other and asks the same has one heading.
function addSteps(steps) {
    const list = make("ol", { class: "steps" });
    let group = null;
    steps.forEach((step, i) => {
        if (i === 0 || step.what !== steps[i - 1].what) {
            group = make("li", {}, make("h3", {}, step.what));
            list.append(group);
        }
        const line = [make("span", { class: "why" }, step.why ?? ""), make("span", {}, step.outcome ?? "not finished"),
            make("span", { class: "time" }, duration(step.seconds))];
        group.append(step.command ? make("details", {}, make("summary", {}, make("span", { class: "step" }, ...line)),
            commandLine(step.command)) : make("p", { class: "step alone" }, ...line));
    });
    addSection("steps", "Steps", list);
}

const COLUMNS = ["number", "tensor", "shape", "type", "outcome", "largest absolute error", "tolerance", "largest relative error",
    "signal to noise, dB", "cosine similarity", "mismatches", "of", "reference", "suspect", "first bad element"];

function addTensors(tensors, choose) {
    const rows = tensors.map((tensor, i) => [i + 1, { show: nameOf(tensor.name), text: tensor.name }, tensor.shape ?? "",
        tensor.precision ?? tensor.type ?? "", { show: make("span", { class: `outcome ${tensor.outcome}` }, tensor.outcome),
            text: tensor.outcome },
        tensor.absolute_error ?? null, tensor.absolute_tolerance ?? null, tensor.relative_error ?? null, tensor.signal_to_noise ?? null,
        tensor.cosine_similarity ?? null, tensor.mismatches ?? null, tensor.elements ?? null,
        { show: range(tensor.reference), text: range(tensor.reference), sort: magnitude(tensor.reference) },
        { show: range(tensor.suspect), text: range(tensor.suspect), sort: magnitude(tensor.suspect) },
        tensor.first_bad ? `${tensor.first_bad.index}: ${digits(tensor.first_bad.reference, 8)} → ${digits(tensor.first_bad.suspect, 8)}` : ""]);
    addSection("tensors", "Tensors", makeTable(COLUMNS, rows, { caption: "tensors", choose: (i) => choose(tensors[i].name) }));
}

function builds(failed, passed) {
    return { show: `${failed} of ${failed + passed}`, text: `${failed} of ${failed + passed}`, sort: failed / (failed + passed) };
}

function addEvidence(evidence) {
    const rows = evidence.map((item, i) => [i + 1, { show: nameOf(item.tactic ?? ""), text: item.tactic ?? "" }, item.layer ?? "",
        builds(item.failed_with, item.passed_with), builds(item.failed_without, item.passed_without),
        item.probability === undefined ? null : withBar(valueOf(item.probability), 1, `${digits(Math.round(item.probability * 1000) / 10)} %`),
        item.finding ?? ""]);
    addSection("evidence", "Tactics under suspicion", make("p", { class: "note" }, "How many builds failed with each tactic, and without it. " +
        "A probability says what to try; what was proven says so."),
    makeTable(["rank", "tactic", "layer", "failed with it", "failed without", "probability", "finding"], rows, { caption: "tactics" }));
}

function addLayers(layers) {
    const longest = Math.max(...layers.map((layer) => layer.seconds ?? 0));
    const total = layers.reduce((sum, layer) => sum + (layer.seconds ?? 0), 0);
    const rows = layers.map((layer, i) => [i, { show: nameOf(layer.name), text: layer.name }, layer.kind ?? "", layer.precision ?? "",
        { show: nameOf(layer.tactic ?? ""), text: layer.tactic ?? "" }, layer.seconds === undefined ? null :
            withBar(layer.seconds, longest, milliseconds(layer.seconds)),
        layer.seconds === undefined ? null : Math.round(layer.seconds / total * 1000) / 10, layer.nodes.length]);
    addSection("layers", "Layers", total > 0 ? make("p", {}, `${digits(layers.length)} layers, ${milliseconds(total)} ms in all.`) : null,
        makeTable(["number", "layer", "kind", "precision", "tactic", "ms", "% of all", "nodes"], rows, { caption: "layers" }));
}

function candidate(item, what) {
    const head = [make("b", {}, String(item.number)), make("span", { class: `outcome ${item.verdict}` }, item.verdict ?? ""),
        item.size === undefined ? null : `${digits(item.size)} ${what}`, item.seconds === undefined ? null : duration(item.seconds)];
    const summary = make("summary", {}, ...head.filter((part) => part !== null).map((part) => make("span", {}, part)));
    return make("details", { class: "candidate" }, summary, item.note ? make("p", {}, item.note) : null,
        item.log ? make("pre", { tabindex: "0" }, item.log) : make("p", { class: "note" }, "no output was kept"));
}

function addSearch(candidates, what) {
    const list = make("div", { class: "candidates" }, ...candidates.slice(0, FIRST_ROWS).map((item) => candidate(item, what)));
    const more = make("button", { type: "button", class: "more" }, `show all ${candidates.length} candidates`);
    more.hidden = candidates.length <= FIRST_ROWS;
    more.addEventListener("click", () => {
        list.append(...candidates.slice(FIRST_ROWS).map((item) => candidate(item, what)));
        more.hidden = true;
    });
    addSection("search", "Search", candidates.some((item) => item.size !== undefined) ? searchCurve(candidates, what) : null, list, more);
}

function picture(item) {
    return make("figure", {}, make("figcaption", {}, item.title ?? ""), make("img", { alt: item.title ?? "", class: "picture",
        src: `data:image/svg+xml,${encodeURIComponent(item.svg)}` }));
}

function addNavigation() {
    const links = [...document.querySelectorAll("main section")].map((section) =>
        make("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
    document.querySelector("header").append(make("nav", { "aria-label": "sections" }, ...links));
}

function addAll() {
    const view = report.network ? new ModelView(report) : null;
    const choose = (tensor) => view?.chooseProducer(tensor);
    document.getElementById("report").append(document.querySelector(".origin"));
    if (report.tensors)
        addErrors(report, choose);
    if (report.steps)
        addSteps(report.steps);
    if (report.tensors)
        addTensors(report.tensors, choose);
    if (report.evidence)
        addEvidence(report.evidence);
    if (report.candidates)
        addSearch(report.candidates, report.search ?? "nodes");
    if (report.layers)
        addLayers(report.layers);
    if (report.histograms)
        addSection("histograms", "Histograms", make("div", { class: "figures" }, ...report.histograms.map(histogram)));
    if (report.pictures)
        addSection("pictures", "Pictures", make("div", { class: "figures" }, ...report.pictures.map(picture)));
    (report.tables ?? []).forEach((table, i) => {
        if (table.rows.length > 0)
            addSection(`table-${i}`, table.title, makeTable(table.columns, table.rows, { caption: table.title }));
    });
    addNavigation();
}

addAll();
