// network.js: a graph of the model, what the report has of its nodes and tensors, and a node's details.

// Names that a graph reads and does not define: it has them from the graphs around it.
function freeNames(graph) {
    const defined = new Set([...graph.inputs, ...graph.initializers].map((value) => value.name));
    const read = new Set(graph.outputs.map((value) => value.name));
    for (const node of graph.nodes) {
        node.outputs.forEach((name) => defined.add(name));
        node.inputs.forEach((name) => read.add(name));
        bodiesOf(node).forEach(({ graph: body }) => freeNames(body).forEach((name) => read.add(name)));
    }
    return [...read].filter((name) => name !== null && !defined.has(name));
}

function bodiesOf(node) {
    return Object.entries(node.attributes).flatMap(([attribute, value]) => [value].flat().filter((item) => item?.nodes)
        .map((graph) => ({ attribute, graph })));
}

function shapeText(value) {
    return value.shape ? `(${value.shape.map((size) => size ?? "?").join(", ")})` : undefined;
}

class Network {
    // `results` has the document's tensors, layers and culprits, which are about the main graph.
    constructor(graph, results = {}) {
        this.graph = graph;
        this.tensors = [];
        this.numbers = new Map(); // of tensors, by name
        this.describeTensors();
        this.nodes = graph.nodes.map((node, i) => this.nodeOf(node, i));
        this.inputs = graph.inputs.map((value) => this.numberOf(value.name));
        this.outputs = graph.outputs.map((value) => this.numberOf(value.name));
        this.findNeighbours();
        this.addResults(results);
    }

    numberOf(name) {
        if (name === null)
            return null;
        if (!this.numbers.has(name)) {
            this.numbers.set(name, this.tensors.length);
            this.tensors.push({ name });
        }
        return this.numbers.get(name);
    }

    describeTensors() {
        const describe = (value, facts) =>
            Object.assign(this.tensors[this.numberOf(value.name)], { type: value.dtype, shape: shapeText(value) }, facts);
        this.graph.initializers.forEach((value) => describe(value, { constant: true, statistics: value.statistics }));
        [...this.graph.tensors ?? [], ...this.graph.inputs, ...this.graph.outputs].forEach((value) => describe(value, {}));
    }

    nodeOf(node, i) {
        const bodies = bodiesOf(node);
        return {
            name: node.name || `${node.op} #${i}`, operator: node.op, domain: node.domain, attributes: node.attributes, bodies,
            inputs: node.inputs.map((name) => this.numberOf(name)), outputs: node.outputs.map((name) => this.numberOf(name)),
            captures: bodies.flatMap(({ graph }) => freeNames(graph)).map((name) => this.numberOf(name)),
        };
    }

    findNeighbours() {
        this.readers = new Map(); // of a tensor: nodes
        this.producer = new Map(); // of the name of a tensor: node
        this.byName = new Map();
        this.nodes.forEach((node, number) => {
            if (!this.byName.has(node.name))
                this.byName.set(node.name, number);
            for (const tensor of node.outputs)
                if (tensor !== null)
                    this.producer.set(this.tensors[tensor].name, number);
            for (const tensor of this.reads(node))
                this.readers.set(tensor, [...(this.readers.get(tensor) ?? []), number]);
        });
    }

    addResults({ tensors = [], layers = [], culprits = [] }) {
        const numbersOf = (names) => names.map((name) => this.byName.get(name)).filter((number) => number !== undefined);
        this.results = new Map(tensors.map((tensor) => [tensor.name, tensor]));
        this.layers = layers.map((layer) => ({ ...layer, numbers: numbersOf(layer.nodes) }));
        this.layerOf = new Map(this.layers.flatMap((layer) => layer.numbers.map((number) => [number, layer])));
        this.culprits = new Set(numbersOf(culprits));
        const first = tensors.find((tensor) => tensor.outcome === "differs" && this.producer.has(tensor.name));
        if (this.culprits.size === 0 && first)
            this.culprits.add(this.producer.get(first.name));
    }

    reads(node) {
        return [...new Set([...node.inputs, ...node.captures])].filter((tensor) => tensor !== null);
    }

    // Without nodes that compute constants alone, unless they are culprits, or the graph has no others.
    drawnNodes() {
        const varies = this.tensors.map((tensor) => !tensor.constant && !this.producer.has(tensor.name));
        const computed = new Set();
        for (let before = -1; before < computed.size;) { // twice for nodes in topological order
            before = computed.size;
            this.nodes.forEach((node, number) => {
                if (computed.has(number) || !this.reads(node).some((tensor) => varies[tensor]))
                    return;
                computed.add(number);
                node.outputs.forEach((tensor) => {
                    varies[tensor] = true;
                });
            });
        }
        return [...this.nodes.keys()].filter((number) => computed.size === 0 || computed.has(number) || this.culprits.has(number));
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
    const facts = Object.entries(node.attributes).filter(([, value]) => ![value].flat().some((item) => item?.nodes));
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
            network.culprits.has(number) ? ", the culprit" : ""),
        ...firstBad(network, node),
        attributeList(node),
        layer ? layerLine(layer) : null,
        ...tensors,
    ].filter((part) => part !== null);
}

function describeNodes(network, group, choose) {
    const rows = group.nodes.map((number) => [{ show: nameOf(network.nodes[number].name), text: network.nodes[number].name },
        network.nodes[number].operator, network.judge([number]).state.replace("unknown", "")]);
    return [
        make("h3", {}, nameOf(group.label)),
        make("p", {}, count(group.nodes.length, "node", "nodes"), ", drawn as one box"),
        makeTable(["node", "operator", "outcome"], rows, { choose: (i) => choose(group.nodes[i]), caption: "nodes of the box" }),
    ];
}
