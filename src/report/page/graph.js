// graph.js: the model to walk through: its drawing, and the details of what is chosen. Scopes fold, bodies open, and nodes can be
// cut out.

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

function drawFrame({ layer, left, top, width, height }) {
    const label = [layer.precision, layer.tactic ?? layer.kind].filter((part) => part).join(" · ");
    return drawn("g", { class: "layer" }, drawn("title", {}, layer.name),
        drawn("rect", { x: left, y: top, width, height, rx: 6 }),
        drawn("text", { x: left + 7, y: top + 13 }, shortened(label, width - 10)));
}

class Drawing {
    constructor(network, layout, onChoose) {
        this.network = network;
        this.layout = layout;
        this.onChoose = onChoose;
        this.groups = [];
        this.chosen = null;
        const margin = 12;
        this.size = [this.layout.width + 2 * margin, this.layout.height + 2 * margin];
        this.picture = drawn("svg", { viewBox: `${-margin} ${-margin} ${this.size.join(" ")}`, role: "group",
            "aria-label": "the network; arrow keys go from node to node" });
        this.picture.append(...this.layout.frames.map(drawFrame), ...this.lines(), ...this.boxes());
        this.frame = make("div", { class: "frame" }, this.picture);
        this.groups[0]?.setAttribute("tabindex", "0");
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
        const culprit = box.nodes.some((number) => this.network.culprits.has(number));
        const name = single ? node.name : box.group.label;
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

    // Down and up along the lines, left and right to the next box.
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

function button(text, act, label = null) {
    const made = make("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", act);
    return made;
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
    if (network.culprits.size > 0)
        entries.push(make("span", { class: "key culprit" }, "culprit"));
    if (network.layers.length > 0)
        entries.push(make("span", { class: "key layer" }, "nodes of one layer"));
    return make("p", { class: "legend" }, ...entries);
}

// A field that goes to the nodes whose names or operators contain what is typed, by `point`; Enter to the next one, by `choose`.
function finder(network, point, choose) {
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
    field.addEventListener("input", () => find(-1, point));
    field.addEventListener("keydown", (event) => {
        if (event.key === "Enter")
            find(last, choose);
    });
    return field;
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

class ModelView {
    constructor(report) {
        this.report = report;
        this.details = make("div", { class: "details", "aria-live": "polite" });
        this.trail = make("p", { class: "trail" });
        this.tools = make("div", { class: "tools" });
        this.place = make("div");
        this.selected = new Set();
        this.filter = make("input", { type: "search", placeholder: "only these operators", "aria-label": "only these operators" });
        this.filter.addEventListener("input", () => this.dim());
        this.section = addSection("network", "Network", this.tools, this.trail, make("div", { class: "graph" }, this.place, this.details));
        this.graphs = [];
        this.enter(report.network, "main graph");
        const { culprits } = this.current.network;
        if (culprits.size > 0)
            this.choose([...culprits][0]);
    }

    get current() {
        return this.graphs.at(-1);
    }

    // Shows a body or a function; the way back is in the trail. Results are about the main graph.
    enter(graph, title) {
        const network = new Network(graph, this.graphs.length === 0 ? this.report : {});
        const root = makeGroup("", groupByScope(network, network.drawnNodes(), ""));
        openAtFirst(root, [...network.culprits]);
        this.graphs.push({ graph, network, root, title });
        this.change();
    }

    leaveTo(depth) {
        this.graphs.length = depth;
        this.change();
    }

    change() {
        const { network, root, graph } = this.current;
        const left = network.nodes.length - root.nodes.length;
        this.selected.clear();
        this.trail.replaceChildren(...this.graphs.flatMap(({ title }, i) => [i > 0 ? " › " : "", i + 1 < this.graphs.length ?
            button(title, () => this.leaveTo(i + 1)) : make("b", {}, title)]), `, ${count(network.nodes.length, "node", "nodes")}` +
            `${left > 0 ? `; ${digits(left)} that compute constants alone are not drawn` : ""}. `,
        ...(graph.functions ?? []).map((item) => button(`function ${item.name}`, () => this.enter(item, item.name))));
        this.draw();
        if (this.drawing.layout.boxes.length > 0)
            this.drawing.show(0); // wide graphs have nothing in their corner
        this.tools.replaceChildren(finder(network, (number) => this.point(number), (number) => this.choose(number)), this.filter,
            button("−", () => this.drawing.zoom(this.drawing.scale / 1.25), "smaller"),
            button("+", () => this.drawing.zoom(this.drawing.scale * 1.25), "larger"),
            button("fit", () => this.drawing.zoom(0), "as wide as the frame"), legend(network));
        this.details.replaceChildren(make("p", { class: "note" }, "A click shows a node here; a double click opens a group. With Ctrl, " +
            "more nodes are chosen, for the command that cuts them out."));
    }

    draw() {
        const { network, root } = this.current;
        const scale = this.drawing?.scale;
        this.drawing = new Drawing(network, layOut(network, root), (numbers, event) => this.tell(numbers, event));
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
        const box = this.drawing.layout.boxOf.get(number);
        if (box === undefined) { // it is not drawn
            this.tell([number]);
            return;
        }
        this.drawing.choose(box);
        this.drawing.show(box);
    }

    // Opens the groups around a node, and chooses it.
    choose(number) {
        const closed = groupsAround(this.current.root, number).filter((group) => !group.open);
        closed.forEach((group) => {
            group.open = true;
        });
        if (closed.length > 0)
            this.draw();
        this.point(number);
    }

    // Chooses the node of the main graph that makes a tensor.
    chooseProducer(tensor) {
        const number = this.graphs[0].network.producer.get(tensor);
        if (number === undefined)
            return;
        if (this.graphs.length > 1)
            this.leaveTo(1);
        this.choose(number);
        this.section.scrollIntoView({ block: "nearest" });
    }

    fold(group) {
        group.open = false;
        this.draw();
        this.point(group.nodes[0]);
    }

    tell(numbers, event) {
        const { network, root } = this.current;
        const box = this.drawing.layout.boxes[this.drawing.layout.boxOf.get(numbers[0])];
        const node = network.nodes[numbers[0]];
        if (!event?.ctrlKey && !event?.metaKey)
            this.selected.clear();
        numbers.forEach((number) => this.selected.add(number));
        const actions = [
            box?.group ? button("open the group", () => this.open(box)) : null,
            ...(numbers.length === 1 ? node.bodies.map(({ attribute, graph }) =>
                button(`open ${attribute}`, () => this.enter(graph, `${node.name}.${attribute}`))) : []),
            ...groupsAround(root, numbers[0]).filter((group) => group.open).map((group) => button(`fold ${group.label}`, () => this.fold(group))),
        ];
        this.details.replaceChildren(make("p", { class: "actions" }, ...actions), ...(numbers.length === 1 ? describeNode(network, numbers[0]) :
            describeNodes(network, box.group, (number) => this.choose(number))), ...this.cutOut());
    }

    // How the selected nodes become a model. A report does not name a file if its network is not that of a file.
    cutOut() {
        const { path } = this.report.network;
        if (path === undefined)
            return [];
        return [make("h3", {}, `Cut out ${count(this.selected.size, "node", "nodes")}`), this.graphs.length === 1 ?
            commandLine(extractCommand(this.current.network, path, [...this.selected])) :
            make("p", { class: "note" }, "No command: surgeon extract selects tensors of the main graph only, and these nodes are in a body or a function.")];
    }
}
