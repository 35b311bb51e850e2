// layout.js: which boxes a graph is drawn as, and where dagre puts them.

const MOST_BOXES = 120; // that are drawn at first
const MOST_SIBLINGS = 40; // in one group; more are put together by their order
const BOX = { width: 140, height: 38 };
const END = { width: 140, height: 24 };

// ---- Groups ----

// A group is {label, parts, nodes, open}; a part is a group or the number of a node.
function makeGroup(label, parts) {
    return { label, parts, open: false, nodes: parts.flatMap((part) => part.nodes ?? [part]) };
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

// The groups that a node is in, innermost last.
function groupsAround(root, number) {
    const group = root.parts.find((part) => part.nodes?.includes(number));
    return group ? [group, ...groupsAround(group, number)] : [];
}

// Opens the groups around the first of `numbers`, then as many others as MOST_BOXES allow: those around the rest of
// `numbers`, then the largest ones.
function openAtFirst(root, numbers) {
    let shown = root.parts.length;
    const open = (group) => {
        group.open = true;
        shown += group.parts.length - 1;
    };
    const fits = (group) => !group.open && shown - 1 + group.parts.length <= MOST_BOXES;
    root.open = true;
    numbers.forEach((number, i) => {
        const closed = groupsAround(root, number).filter((group) => !group.open);
        if (i === 0 || closed.every(fits))
            closed.forEach(open);
    });
    for (;;) {
        const closed = visibleParts(root).filter((part) => part.nodes && fits(part));
        if (closed.length === 0)
            return;
        open(closed.reduce((a, b) => a.nodes.length >= b.nodes.length ? a : b));
    }
}

// ---- Layout ----

// From one point to the next with vertical ends.
function smooth(points) {
    const path = [points[0].x, points[0].y];
    for (let i = 1; i < points.length; i++) {
        const middle = (points[i - 1].y + points[i].y) / 2;
        path.push(points[i - 1].x, middle, points[i].x, middle, points[i].x, points[i].y);
    }
    return path;
}

// Nodes of one layer, as far as they are drawn one by one, stand together.
function frameLayers(network, boxes, boxOf, graph) {
    return network.layers.map((layer, i) => ({ layer, name: `layer ${i}`,
        inside: layer.numbers.filter((number) => network.layerOf.get(number) === layer).map((number) => boxOf.get(number))
            .filter((box) => boxes[box]?.nodes.length === 1) }))
        .filter(({ inside, name }) => {
            if (inside.length > 1) {
                graph.setNode(name, {});
                inside.forEach((box) => graph.setParent(String(box), name));
            }
            return inside.length > 1;
        });
}

// With room for a label above: that of dagre is as wide as the widest line through the frame.
function boundsOf(boxes) {
    const left = Math.min(...boxes.map((box) => box.x - box.width / 2)) - 8;
    const right = Math.max(...boxes.map((box) => box.x + box.width / 2)) + 8;
    const top = Math.min(...boxes.map((box) => box.y - box.height / 2)) - 18;
    const bottom = Math.max(...boxes.map((box) => box.y + box.height / 2)) + 8;
    return { left, top, width: right - left, height: bottom - top };
}

function layOut(network, root) {
    const boxes = visibleParts(root).map((part) => part.nodes ? { ...BOX, nodes: part.nodes, group: part } :
        { ...BOX, nodes: [part] });
    const boxOf = new Map();
    boxes.forEach((box, i) => box.nodes.forEach((number) => boxOf.set(number, i)));
    const maker = new Map();
    network.nodes.forEach((node, number) => node.outputs.forEach((tensor) => maker.set(tensor, boxOf.get(number))));
    network.inputs.filter((tensor) => network.readers.has(tensor)).forEach((tensor) => {
        maker.set(tensor, boxes.length);
        boxes.push({ ...END, input: tensor });
    });
    const graph = new dagre.graphlib.Graph({ compound: true });
    const connect = (tensor, to) => {
        const from = maker.get(tensor);
        if (from !== undefined && to !== undefined && from !== to) // undefined: not drawn
            graph.setEdge(String(from), String(to), {});
    };
    graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30 });
    network.nodes.forEach((node, number) => network.reads(node).forEach((tensor) => connect(tensor, boxOf.get(number))));
    network.outputs.forEach((tensor) => {
        connect(tensor, boxes.length);
        boxes.push({ ...END, output: tensor });
    });
    boxes.forEach((box, i) => graph.setNode(String(i), { width: box.width, height: box.height }));
    const frames = frameLayers(network, boxes, boxOf, graph);
    dagre.layout(graph);
    const across = graph.edges().flatMap((edge) => graph.edge(edge).points.map(({ x }) => x)); // lines may go round all boxes
    const left = across.reduce((least, x) => Math.min(least, x), 0);
    const right = across.reduce((most, x) => Math.max(most, x), graph.graph().width);
    boxes.forEach((box, i) => Object.assign(box, { x: graph.node(String(i)).x - left, y: graph.node(String(i)).y }));
    const lines = graph.edges().map((edge) => ({ from: Number(edge.v), to: Number(edge.w),
        points: smooth(graph.edge(edge).points.map(({ x, y }) => ({ x: x - left, y }))) }));
    return { width: right - left, height: graph.graph().height, boxes, boxOf, lines,
        frames: frames.map(({ layer, inside }) => ({ layer, ...boundsOf(inside.map((box) => boxes[box])) })) };
}
