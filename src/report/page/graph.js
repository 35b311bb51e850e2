// graph.js: the network: what is known of each node, and the drawing in which one is chosen.

// The network of a document, with what belongs together by name found once.
class Network {
    constructor(document) {
        Object.assign(this, document.network);
        this.results = new Map((document.tensors ?? []).map((tensor) => [tensor.name, tensor]));
        this.isCulprit = new Set(this.culprits);
        this.layers = (document.layers ?? []).map((layer) => ({ ...layer, numbers: [] }));
        this.layerOf = new Map();
        this.readers = new Map(); // of a tensor: nodes
        this.producer = new Map(); // of the name of a tensor: node
        const byName = new Map();
        this.nodes.forEach((node, number) => {
            byName.set(node.name, number);
            for (const tensor of node.outputs)
                if (tensor !== null)
                    this.producer.set(this.tensors[tensor].name, number);
            for (const tensor of this.reads(node))
                this.readers.set(tensor, [...(this.readers.get(tensor) ?? []), number]);
        });
        for (const layer of this.layers)
            for (const number of layer.nodes.map((name) => byName.get(name)).filter((number) => number !== undefined)) {
                layer.numbers.push(number);
                this.layerOf.set(number, layer);
            }
    }

    reads(node) {
        return [...new Set([...node.inputs, ...(node.captures ?? [])])].filter((tensor) => tensor !== null);
    }

    resultsOf(node) {
        return node.outputs.filter((tensor) => tensor !== null).map((tensor) => this.results.get(this.tensors[tensor].name))
            .filter((result) => result !== undefined);
    }

    // What the colour of a node, or of several, says: {state, share}, share being how strong the colour is.
    judge(numbers) {
        const results = numbers.flatMap((number) => this.resultsOf(this.nodes[number]));
        const differing = results.filter((result) => result.outcome === "differs");
        if (differing.length > 0)
            return { state: "differs", share: Math.max(...differing.map(severity)) };
        const state = results.some((result) => result.outcome === "matches") ? "matches" : "unknown";
        return { state, share: 1 };
    }
}

// How bad a differing tensor is, 0 to 1: by its noise, else by how far its error is beyond the tolerance.
function severity(tensor) {
    const noise = valueOf(tensor.signal_to_noise);
    const error = valueOf(tensor.absolute_error) / (valueOf(tensor.absolute_tolerance) || 1e-5);
    const share = Number.isNaN(noise) ? Math.log10(error) / 6 : (60 - noise) / 60;
    return Number.isNaN(share) ? 1 : Math.max(0, Math.min(1, share));
}

// ---- What is known of one node ----

function statisticsText(statistics) {
    return statistics ? `${range(statistics)}, mean ${digits(statistics.mean)}, std-dev ${digits(statistics.deviation)}` : "";
}

// A value of an attribute; bodies are opened, not told.
function attributeText(value) {
    if (value === null)
        return "";
    if (value.reference)
        return `that of the function's ${value.reference}`;
    if (value.dtype)
        return `${value.dtype} (${(value.shape ?? []).join(", ")})`;
    return Array.isArray(value) ? `[${value.join(", ")}]` : typeof value === "number" ? digits(value, 8) : String(value);
}

function attributeList(node) {
    const facts = Object.entries(node.attributes ?? {}).filter(([, value]) => ![value].flat().some((item) => item?.nodes));
    return facts.length === 0 ? null : make("dl", { class: "attributes" },
        ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, attributeText(value))]));
}

// A tensor of the node: what the model says of it, then what the two results have.
function describeTensor(network, number, role) {
    const tensor = network.tensors[number];
    const result = network.results.get(tensor.name) ?? {};
    const type = [result.shape ?? tensor.shape, result.type ?? tensor.type].filter((part) => part).join(" ");
    const facts = [
        ["values", statisticsText(tensor.statistics)],
        ["reference", range(result.reference)],
        ["suspect", [range(result.suspect), result.precision ? `in ${result.precision}` : ""].filter((part) => part).join(", ")],
        ["largest error", [result.absolute_error === undefined ? "" : `${digits(result.absolute_error)} absolute`,
            result.relative_error === undefined ? "" : `${digits(result.relative_error)} relative`].filter((part) => part).join(", ")],
        ["signal to noise", result.signal_to_noise === undefined ? "" : `${digits(result.signal_to_noise)} dB`],
        ["mismatches", result.mismatches === undefined ? "" :
            `${digits(result.mismatches)}${result.elements === undefined ? "" : ` of ${digits(result.elements)}`}`],
    ].filter(([, fact]) => fact !== "");
    return make("div", { class: "tensor" },
        make("p", {}, make("span", { class: "role" }, role), nameOf(tensor.name), " ", make("span", { class: "note" }, type),
            result.outcome && result.outcome !== "not compared" ?
                make("span", { class: `outcome ${result.outcome}` }, ` ${result.outcome}`) : null),
        facts.length > 0 ? make("dl", {}, ...facts.flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact)])) : null);
}

function firstBad(network, node) {
    return network.resultsOf(node).filter((result) => result.first_bad).map((result) => make("p", { class: "first-bad" },
        "First bad element of ", nameOf(result.name), ` is ${result.first_bad.index}: `,
        make("b", {}, digits(result.first_bad.suspect, 8)), " where the reference has ",
        make("b", {}, digits(result.first_bad.reference, 8)), "."));
}

function layerLine(layer) {
    const facts = [layer.kind, layer.precision, layer.tactic, layer.seconds === undefined ? null :
        `${milliseconds(layer.seconds)} ms`].filter((fact) => fact);
    return make("p", {}, "Layer ", nameOf(layer.name), facts.length > 0 ? `: ${facts.join(", ")}` : "",
        layer.numbers.length > 1 ? ` (with ${count(layer.numbers.length - 1, "other node", "other nodes")})` : "");
}

function describeNode(network, number) {
    const node = network.nodes[number];
    const read = (constant) => network.reads(node).filter((tensor) => Boolean(network.tensors[tensor].constant) === constant);
    const tensors = [["out", node.outputs.filter((tensor) => tensor !== null)], ["in", read(false)], ["constant", read(true)]]
        .flatMap(([role, numbers]) => numbers.map((tensor) => describeTensor(network, tensor, role)));
    const layer = network.layerOf.get(number);
    return [
        make("h3", {}, nameOf(node.name)),
        make("p", {}, make("b", {}, node.operator), node.domain ? ` of ${node.domain}` : "", `, node ${number}`,
            network.isCulprit.has(number) ? ", the culprit" : ""),
        ...firstBad(network, node),
        attributeList(node),
        layer ? layerLine(layer) : null,
        ...tensors,
    ].filter((part) => part !== null);
}

function describeNodes(network, numbers, choose) {
    const rows = numbers.map((number) => [{ show: nameOf(network.nodes[number].name), text: network.nodes[number].name },
        network.nodes[number].operator, network.judge([number]).state.replace("unknown", "")]);
    return [
        make("h3", {}, nameOf(scopeOf(network, numbers))),
        make("p", {}, count(numbers.length, "node", "nodes"), ", drawn as one box"),
        makeTable(["node", "operator", "outcome"], rows, { choose: (i) => choose(numbers[i]), caption: "nodes of the box" }),
    ];
}

// The beginning that all names share, up to a '/'; without one the first and last number.
function scopeOf(network, numbers) {
    const names = numbers.map((number) => network.nodes[number].name);
    let scope = names[0].slice(0, names[0].lastIndexOf("/"));
    while (scope !== "" && !names.every((name) => name.startsWith(`${scope}/`)))
        scope = scope.slice(0, Math.max(0, scope.lastIndexOf("/")));
    return scope !== "" ? scope : `nodes ${numbers[0]} … ${numbers.at(-1)}`;
}

// ---- The drawing ----

const LETTER = 6.3; // width of one in a box, on average, where a line is cut off; of bold ones
const BOLD = 6.9;

function shortened(text, width, letter = LETTER) {
    const letters = Math.max(2, Math.floor(width / letter));
    return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

// The end of a name tells more than its beginning.
function endOf(text, width) {
    const letters = Math.max(2, Math.floor(width / LETTER));
    return text.length <= letters ? text : `…${text.slice(text.length - letters + 1)}`;
}

function curve(points) {
    let path = `M${points[0]} ${points[1]}`;
    for (let i = 2; i + 5 < points.length; i += 6)
        path += `C${points.slice(i, i + 6).join(" ")}`;
    return path;
}

class Drawing {
    constructor(network, onChoose) {
        this.network = network;
        this.layout = network.layout;
        this.onChoose = onChoose;
        this.boxOf = new Map();
        this.groups = [];
        this.chosen = null;
        const margin = 12;
        this.size = [this.layout.width + 2 * margin, this.layout.height + 2 * margin];
        this.picture = drawn("svg", { viewBox: `${-margin} ${-margin} ${this.size.join(" ")}`, role: "group",
            "aria-label": "the network; arrow keys go from node to node" });
        this.picture.append(...this.clusters(), ...this.lines(), ...this.boxes());
        this.frame = make("div", { class: "frame" }, this.picture);
        this.groups[0]?.setAttribute("tabindex", "0");
    }

    clusters() {
        this.layout.boxes.forEach((box, i) => (box.nodes ?? []).forEach((number) => this.boxOf.set(number, i)));
        return this.network.layers.map((layer) => this.cluster(layer)).filter((cluster) => cluster !== null);
    }

    cluster(layer) {
        const boxes = layer.numbers.map((number) => this.layout.boxes[this.boxOf.get(number)])
            .filter((box) => box?.nodes.length === 1);
        if (boxes.length < 2)
            return null;
        const left = Math.min(...boxes.map((box) => box.x - box.width / 2)) - 8;
        const right = Math.max(...boxes.map((box) => box.x + box.width / 2)) + 8;
        const top = Math.min(...boxes.map((box) => box.y - box.height / 2)) - 20;
        const bottom = Math.max(...boxes.map((box) => box.y + box.height / 2)) + 8;
        const label = [layer.precision, layer.tactic ?? layer.kind].filter((part) => part).join(" · ");
        return drawn("g", { class: "layer" }, drawn("title", {}, layer.name),
            drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: 6 }),
            drawn("text", { x: left + 7, y: top + 13 }, shortened(label, right - left - 10)));
    }

    lines() {
        return this.layout.lines.map((line) => drawn("path", { class: "line", d: curve(line.points) }));
    }

    boxes() {
        return this.layout.boxes.map((box, i) => box.nodes ? this.nodeBox(box, i) : this.endBox(box));
    }

    endBox(box) {
        const name = this.network.tensors[box.input ?? box.output].name;
        return drawn("g", { class: "end" }, drawn("title", {}, `${box.output === undefined ? "input" : "output"} ${name}`),
            drawn("rect", { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height,
                rx: box.height / 2 }),
            drawn("text", { x: box.x, y: box.y + 4 }, endOf(name, box.width - 16)));
    }

    nodeBox(box, i) {
        const node = this.network.nodes[box.nodes[0]];
        const single = box.nodes.length === 1;
        const layer = single ? this.network.layerOf.get(box.nodes[0]) : undefined;
        const { state, share } = this.network.judge(box.nodes);
        const culprit = box.nodes.some((number) => this.network.isCulprit.has(number));
        const name = box.label ?? (single ? node.name : scopeOf(this.network, box.nodes));
        const operators = [...new Set(box.nodes.map((number) => this.network.nodes[number].operator))];
        const above = name.startsWith("nodes ") ? operators.join(", ") : single ? node.operator :
            count(box.nodes.length, "node", "nodes");
        const [x, y] = [box.x - box.width / 2, box.y - box.height / 2];
        const alone = layer?.precision && layer.numbers.length === 1;
        const marks = `${alone ? ` ${layer.precision}` : ""}${state === "differs" ? " ≠" : ""}`;
        const group = drawn("g", {
            class: `node ${state}${single ? "" : " folded"}${culprit ? " culprit" : ""}`, role: "button", tabindex: "-1",
            "aria-label": `${above} ${name}${state === "unknown" ? "" : `, ${state}`}${culprit ? ", culprit" : ""}`,
        }, drawn("title", {}, `${name}${layer ? `\n${layer.name}${layer.tactic ? `\n${layer.tactic}` : ""}` : ""}`),
        single ? null : drawn("rect", { class: "behind", x: x + 3, y: y + 3, width: box.width, height: box.height, rx: 4 }),
        drawn("rect", { x, y, width: box.width, height: box.height, rx: 4 }),
        drawn("rect", { class: "ring", x: x - 4, y: y - 4, width: box.width + 8, height: box.height + 8, rx: 7 }),
        drawn("text", { class: "operator", x: x + 8, y: y + 16 }, shortened(above, box.width - 14 - marks.length * LETTER, BOLD)),
        drawn("text", { class: "mark", x: x + box.width - 8, y: y + 16 }, marks),
        drawn("text", { class: "label", x: x + 8, y: y + 30 }, endOf(name, box.width - 12)));
        group.style.setProperty("--share", `${Math.round(12 + share * 43)}%`);
        group.addEventListener("click", (event) => this.choose(i, null, event));
        group.addEventListener("keydown", (event) => this.key(event, i));
        this.groups[i] = group;
        return group;
    }

    // Marks the box and tells what is in it.
    choose(i, number = null, event = null) {
        this.groups[this.chosen ?? 0].setAttribute("tabindex", "-1");
        this.groups[this.chosen ?? 0].classList.remove("chosen");
        this.chosen = i;
        this.groups[i].setAttribute("tabindex", "0");
        this.groups[i].classList.add("chosen");
        this.onChoose(number !== null ? [number] : this.layout.boxes[i].nodes, event);
    }

    // Scrolls the frame, not the page.
    show(i) {
        const box = this.layout.boxes[i];
        const scale = this.picture.getBoundingClientRect().width / this.size[0];
        this.frame.scrollTo(box.x * scale - this.frame.clientWidth / 2, box.y * scale - this.frame.clientHeight / 2);
    }

    key(event, i) {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            this.choose(i);
            return;
        }
        const next = this.neighbour(i, event.key);
        if (next !== undefined) {
            event.preventDefault();
            this.choose(next);
            this.groups[next].focus();
        }
    }

    // Down and up along the lines, left and right to what stands beside.
    neighbour(i, key) {
        const lines = this.layout.lines.filter((line) => this.groups[line.from] && this.groups[line.to]);
        if (key === "ArrowDown")
            return lines.find((line) => line.from === i)?.to;
        if (key === "ArrowUp")
            return lines.find((line) => line.to === i)?.from;
        const side = { ArrowLeft: -1, ArrowRight: 1 }[key];
        const here = this.layout.boxes[i];
        return this.layout.boxes.map((box, other) => [(box.x - here.x) * side, other, box])
            .filter(([way, other, box]) => way > 0 && this.groups[other] && Math.abs(box.y - here.y) < here.height)
            .sort((a, b) => a[0] - b[0])[0]?.[1];
    }

    // `scale` 1: as large as it was laid out; 0: as wide as the frame.
    zoom(scale) {
        this.scale = scale > 0 ? scale : Math.min(1, (this.frame.clientWidth - 2) / this.size[0]);
        this.picture.style.width = `${this.size[0] * this.scale}px`;
        if (this.chosen !== null)
            this.show(this.chosen);
    }
}

function zoomButtons(drawing) {
    const button = (text, label, act) => {
        const made = make("button", { type: "button", "aria-label": label }, text);
        made.addEventListener("click", act);
        return made;
    };
    return [button("−", "smaller", () => drawing.zoom(drawing.scale / 1.25)),
        button("+", "larger", () => drawing.zoom(drawing.scale * 1.25)), button("fit", "as wide as the frame", () => drawing.zoom(0))];
}

function legend(network) {
    const entries = [];
    const states = new Set(network.nodes.map((_, number) => network.judge([number]).state));
    if (states.has("matches"))
        entries.push(make("span", { class: "key matches" }, "matches"));
    if (states.has("differs"))
        entries.push(make("span", { class: "key differs" }, "differs ≠, the deeper the more"));
    if (states.size > 1 && states.has("unknown"))
        entries.push(make("span", { class: "key" }, "not compared"));
    if (network.culprits.length > 0)
        entries.push(make("span", { class: "key culprit" }, "culprit"));
    if (network.layers.length > 0)
        entries.push(make("span", { class: "key layer" }, "nodes of one layer"));
    return make("p", { class: "legend" }, ...entries);
}

// A field that goes to the nodes whose names or operators hold what is typed; Enter to the next one, with `next` if given.
function finder(network, choose, next = choose) {
    const field = make("input", { type: "search", placeholder: "find a node", "aria-label": "find a node" });
    let last = -1;
    const find = (from, act) => {
        const wanted = field.value.toLowerCase();
        const matches = (node) => `${node.name} ${node.operator}`.toLowerCase().includes(wanted);
        if (wanted === "")
            return;
        last = network.nodes.findIndex((node, i) => i > from && matches(node));
        if (last < 0)
            last = network.nodes.findIndex(matches);
        if (last >= 0)
            act(last);
    };
    field.addEventListener("input", () => find(-1, choose));
    field.addEventListener("keydown", (event) => {
        if (event.key === "Enter")
            find(last, next);
    });
    return field;
}

function nodeTable(network, choose) {
    const rows = network.nodes.map((node, number) => [number, { show: nameOf(node.name), text: node.name }, node.operator,
        network.layerOf.get(number)?.name ?? "", network.judge([number]).state.replace("unknown", "")]);
    return makeTable(["number", "node", "operator", "layer", "outcome"], rows, { choose, caption: "nodes" });
}

// Adds the section. Returns a function that chooses a node by the name of a tensor that it makes.
function addNetwork(report) {
    const network = new Network(report);
    const details = make("div", { class: "details", "aria-live": "polite" });
    const drawing = network.layout ? new Drawing(network, (numbers) => tell(numbers)) : null;

    function tell(numbers) {
        details.replaceChildren(...(numbers.length === 1 ? describeNode(network, numbers[0]) :
            describeNodes(network, numbers, choose)));
    }

    function choose(number) {
        const box = drawing?.boxOf.get(number);
        if (box === undefined) {
            tell([number]);
            return;
        }
        drawing.choose(box, number);
        drawing.show(box);
    }

    const folded = drawing && network.layout.boxes.some((box) => box.nodes?.length > 1);
    const left = drawing ? network.nodes.length - drawing.boxOf.size : 0;
    const section = addSection("network", "Network",
        make("div", { class: "tools" }, finder(network, choose), ...(drawing ? zoomButtons(drawing) : []), legend(network)),
        drawing ? null : make("p", {}, `The graph is not drawn: ${network.no_layout}.`),
        make("p", { class: "note" }, count(network.nodes.length, "node", "nodes"),
            left > 0 ? `; ${digits(left)} that compute constants alone are not drawn` : "",
            folded ? "; a box with another behind it stands for several, which a click shows" : "", "."),
        make("div", { class: "graph" }, drawing ? drawing.frame : nodeTable(network, choose), details));
    drawing?.zoom(Math.max(0.7, Math.min(1, drawing.frame.clientWidth / drawing.size[0])));
    if (network.culprits.length > 0)
        choose(network.culprits[0]);
    else
        details.append(make("p", { class: "note" }, "A node that is chosen shows what is known of it here."));
    return (tensor) => {
        const number = network.producer.get(tensor);
        if (number !== undefined) {
            choose(number);
            section.scrollIntoView({ block: "nearest" });
        }
    };
}
