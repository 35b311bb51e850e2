// model.js: a model to walk through, with dagre's layout: scopes fold, bodies open, and what is chosen can be cut out.

const MOST_BOXES = 120; // that are drawn at first
const MOST_SIBLINGS = 40; // in one group; more are put together by their order
const BOX = { width: 140, height: 38 };
const END = { width: 140, height: 24 };

// ---- A graph of the document as a Network ----

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

function networkOf(graph) {
    const numbers = new Map();
    const tensors = [];
    const numberOf = (name) => {
        if (name === null)
            return null;
        if (!numbers.has(name)) {
            numbers.set(name, tensors.length);
            tensors.push({ name });
        }
        return numbers.get(name);
    };
    const describe = (value, facts) => Object.assign(tensors[numberOf(value.name)], { type: value.dtype, shape: shapeText(value) }, facts);
    graph.initializers.forEach((value) => describe(value, { constant: true, statistics: value.statistics }));
    (graph.tensors ?? []).forEach((value) => describe(value, {}));
    [...graph.inputs, ...graph.outputs].forEach((value) => describe(value, {}));
    const nodes = graph.nodes.map((node, i) => ({
        name: node.name || `${node.op} #${i}`, operator: node.op, domain: node.domain, attributes: node.attributes,
        bodies: bodiesOf(node), inputs: node.inputs.map(numberOf), outputs: node.outputs.map(numberOf),
        captures: bodiesOf(node).flatMap(({ graph: body }) => freeNames(body)).map(numberOf),
    }));
    const list = (values) => values.map((value) => numberOf(value.name));
    return new Network({ network: { tensors, nodes, culprits: [], inputs: list(graph.inputs), outputs: list(graph.outputs) } });
}

// ---- Groups ----

// A group is {label, parts, nodes, open, outer}; a part is a group or the number of a node.
function makeGroup(label, parts) {
    const group = { label, parts, open: false, outer: null, nodes: parts.flatMap((part) => part.nodes ?? [part]) };
    parts.forEach((part) => {
        if (part.nodes)
            part.outer = group;
    });
    return group;
}

function joinInOrder(parts) {
    if (parts.length <= MOST_SIBLINGS)
        return parts;
    const joined = [];
    for (let i = 0; i < parts.length; i += MOST_SIBLINGS) {
        const some = parts.slice(i, i + MOST_SIBLINGS);
        joined.push(makeGroup(`nodes ${some[0].nodes?.[0] ?? some[0]} … ${some.at(-1).nodes?.at(-1) ?? some.at(-1)}`, some));
    }
    return joinInOrder(joined);
}

function groupByScope(network, numbers, scope) {
    const scopes = new Map();
    const prefix = scope === "" ? "" : `${scope}/`;
    const parts = [];
    for (const number of numbers) {
        const rest = network.nodes[number].name.slice(prefix.length).replace(/^\/+/, "");
        const end = rest.indexOf("/");
        const next = end < 0 ? null : network.nodes[number].name.slice(0, network.nodes[number].name.length - rest.length + end);
        if (next === null) {
            parts.push(number);
            continue;
        }
        if (!scopes.has(next)) {
            scopes.set(next, []);
            parts.push(next);
        }
        scopes.get(next).push(number);
    }
    if (parts.length === 1 && scopes.size === 1)
        return groupByScope(network, numbers, parts[0]);
    return joinInOrder(parts.map((part) => typeof part === "number" ? part : scopes.get(part).length === 1 ? scopes.get(part)[0] :
        makeGroup(part, groupByScope(network, scopes.get(part), part))));
}

function visibleParts(group) {
    return group.parts.flatMap((part) => part.nodes && part.open ? visibleParts(part) : [part]);
}

// Opens the largest groups first, as long as that does not make too many boxes.
function openAtFirst(root) {
    root.open = true;
    for (let shown = root.parts.length;;) {
        const closed = visibleParts(root).filter((part) => part.nodes && shown - 1 + part.parts.length <= MOST_BOXES);
        if (closed.length === 0)
            return;
        const largest = closed.reduce((a, b) => a.nodes.length >= b.nodes.length ? a : b);
        largest.open = true;
        shown += largest.parts.length - 1;
    }
}

// ---- Layout ----

// From one point to the next with vertical ends, as Graphviz draws them.
function smooth(points) {
    const path = [points[0].x, points[0].y];
    for (let i = 1; i < points.length; i++) {
        const middle = (points[i - 1].y + points[i].y) / 2;
        path.push(points[i - 1].x, middle, points[i].x, middle, points[i].x, points[i].y);
    }
    return path;
}

function layOut(network, root) {
    const boxes = visibleParts(root).map((part) => part.nodes ? { ...BOX, nodes: part.nodes, group: part, label: part.label } :
        { ...BOX, nodes: [part] });
    const boxOf = new Map();
    boxes.forEach((box, i) => box.nodes.forEach((number) => boxOf.set(number, i)));
    const maker = new Map();
    network.nodes.forEach((node, number) => node.outputs.forEach((tensor) => maker.set(tensor, boxOf.get(number))));
    network.inputs.filter((tensor) => network.readers.has(tensor)).forEach((tensor) => {
        maker.set(tensor, boxes.length);
        boxes.push({ ...END, input: tensor });
    });
    const graph = new dagre.graphlib.Graph();
    const connect = (tensor, to) => {
        const from = maker.get(tensor);
        if (from !== undefined && from !== to)
            graph.setEdge(String(from), String(to), {});
    };
    graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30 });
    network.nodes.forEach((node, number) => network.reads(node).forEach((tensor) => connect(tensor, boxOf.get(number))));
    network.outputs.forEach((tensor) => {
        connect(tensor, boxes.length);
        boxes.push({ ...END, output: tensor });
    });
    boxes.forEach((box, i) => graph.setNode(String(i), { width: box.width, height: box.height }));
    dagre.layout(graph);
    boxes.forEach((box, i) => Object.assign(box, { x: graph.node(String(i)).x, y: graph.node(String(i)).y }));
    const lines = graph.edges().map((edge) => ({ from: Number(edge.v), to: Number(edge.w), points: smooth(graph.edge(edge).points) }));
    return { width: graph.graph().width, height: graph.graph().height, boxes, lines };
}

// ---- Cutting out ----

function shellWord(text) {
    return /^[A-Za-z0-9_./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// The command that writes these nodes of the main graph as a model.
function extractCommand(network, path, numbers) {
    const inside = new Set(numbers);
    const names = (tensors, suffix) => [...new Set(tensors)].map((tensor) => ` ${shellWord(network.tensors[tensor].name + suffix)}`).join("");
    const inputs = numbers.flatMap((number) => network.reads(network.nodes[number])).filter((tensor) =>
        !network.tensors[tensor].constant && !inside.has(network.producer.get(network.tensors[tensor].name)));
    const outputs = numbers.flatMap((number) => network.nodes[number].outputs).filter((tensor) => tensor !== null &&
        (network.outputs.includes(tensor) || (network.readers.get(tensor) ?? []).some((number) => !inside.has(number))));
    return `polygraphy surgeon extract ${shellWord(path)} -o part.onnx --inputs${names(inputs, ":auto:auto")} --outputs${names(outputs, ":auto")}`;
}

// ---- The section ----

function button(text, act) {
    const made = make("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
}

class ModelView {
    constructor(report) {
        this.path = report.model.path;
        this.details = make("div", { class: "details", "aria-live": "polite" });
        this.trail = make("p", { class: "trail" });
        this.tools = make("div", { class: "tools" });
        this.place = make("div");
        this.selected = new Set();
        this.filter = make("input", { type: "search", placeholder: "only these operators", "aria-label": "only these operators" });
        this.filter.addEventListener("input", () => this.dim());
        addSection("network", "Network", this.tools, this.trail, make("div", { class: "graph" }, this.place, this.details));
        this.graphs = [];
        this.enter(report.model, "main graph");
    }

    get current() {
        return this.graphs.at(-1);
    }

    // Shows a body or a function; the way back is in the trail.
    enter(graph, title) {
        const network = networkOf(graph);
        const shown = network.nodes.map((_, number) => number).filter((number) => network.nodes[number].operator !== "Constant");
        const root = makeGroup("", groupByScope(network, shown, ""));
        openAtFirst(root);
        this.graphs.push({ graph, network, root, title });
        this.change();
    }

    leaveTo(depth) {
        this.graphs.length = depth;
        this.change();
    }

    change() {
        const { network, graph } = this.current;
        this.selected.clear();
        this.trail.replaceChildren(...this.graphs.flatMap(({ title }, i) => [i > 0 ? " › " : "", i + 1 < this.graphs.length ?
            button(title, () => this.leaveTo(i + 1)) : make("b", {}, title)]), `, ${count(network.nodes.length, "node", "nodes")}; Constant nodes are not drawn. `,
        ...(graph.functions ?? []).map((item) => button(`function ${item.name}`, () => this.enter(item, item.name))));
        this.draw();
        this.tools.replaceChildren(finder(network, (number) => this.point(number), (number) => this.choose(number)), this.filter,
            ...zoomButtons({ zoom: (wanted) => this.drawing.zoom(wanted), get scale() { return this.view.drawing.scale; }, view: this }));
        this.details.replaceChildren(make("p", { class: "note" }, "A click shows a node here; a double click opens a group. With Ctrl, " +
            "more nodes are chosen, for the command that cuts them out."));
    }

    draw() {
        const { network, root } = this.current;
        network.layout = layOut(network, root);
        const scale = this.drawing?.scale;
        this.drawing = new Drawing(network, (numbers, event) => this.tell(numbers, event));
        this.drawing.layout.boxes.forEach((box, i) => this.drawing.groups[i]?.addEventListener("dblclick", () => this.open(box)));
        this.place.replaceChildren(this.drawing.frame);
        this.drawing.zoom(scale ?? Math.max(0.7, Math.min(1, this.drawing.frame.clientWidth / this.drawing.size[0])));
        this.dim();
    }

    // Opens a group, or what a single node contains.
    open(box) {
        const node = this.current.network.nodes[box.nodes[0]];
        if (box.group) {
            box.group.open = true;
            this.draw();
            this.choose(box.nodes[0]);
        } else if (node.bodies.length > 0) {
            this.enter(node.bodies[0].graph, `${node.name}.${node.bodies[0].attribute}`);
        }
    }

    dim() {
        const wanted = this.filter.value.toLowerCase();
        this.drawing.layout.boxes.forEach((box, i) => this.drawing.groups[i]?.classList.toggle("dimmed", wanted !== "" &&
            !box.nodes.some((number) => this.current.network.nodes[number].operator.toLowerCase().includes(wanted))));
    }

    // Chooses the box that a node is in, and opens nothing.
    point(number) {
        const box = this.drawing.boxOf.get(number);
        if (box === undefined) { // a Constant
            this.tell([number]);
            return;
        }
        this.drawing.choose(box);
        this.drawing.show(box);
    }

    // Opens the groups around a node, and chooses it.
    choose(number) {
        const closed = this.around(number).filter((group) => !group.open);
        closed.forEach((group) => {
            group.open = true;
        });
        if (closed.length > 0)
            this.draw();
        this.point(number);
    }

    // The groups that a node is in, innermost last.
    around(number) {
        const groups = [];
        const walk = (group) => group.parts.forEach((part) => {
            if (part.nodes?.includes(number)) {
                groups.push(part);
                walk(part);
            }
        });
        walk(this.current.root);
        return groups;
    }

    fold(group) {
        group.open = false;
        this.draw();
        this.point(group.nodes[0]);
    }

    tell(numbers, event) {
        const { network } = this.current;
        const box = this.drawing.layout.boxes[this.drawing.boxOf.get(numbers[0])];
        const node = network.nodes[numbers[0]];
        if (!event?.ctrlKey && !event?.metaKey)
            this.selected.clear();
        numbers.forEach((number) => this.selected.add(number));
        const actions = [
            box?.group ? button("open the group", () => this.open(box)) : null,
            ...(numbers.length === 1 ? node.bodies.map(({ attribute, graph }) =>
                button(`open ${attribute}`, () => this.enter(graph, `${node.name}.${attribute}`))) : []),
            ...this.around(numbers[0]).filter((group) => group.open).map((group) => button(`fold ${group.label}`, () => this.fold(group))),
        ];
        const cut = this.graphs.length === 1 ? commandLine(extractCommand(network, this.path, [...this.selected])) :
            make("p", { class: "note" }, "Nodes of a body cannot be cut out.");
        this.details.replaceChildren(make("p", { class: "actions" }, ...actions), ...(numbers.length === 1 ? describeNode(network, numbers[0]) :
            describeNodes(network, numbers, (number) => this.choose(number))),
        make("h3", {}, `Cut out ${count(this.selected.size, "node", "nodes")}`), cut);
    }
}
