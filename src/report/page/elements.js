// elements.js: how everything on the page is made. Text of the document becomes text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

// An element with attributes; `content` are strings and elements, null for nothing.
function make(name, attributes = {}, ...content) {
    return fill(document.createElement(name), attributes, content);
}

function drawn(name, attributes = {}, ...content) {
    return fill(document.createElementNS(SVG, name), attributes, content);
}

function fill(element, attributes, content) {
    for (const [name, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value);
    element.append(...content.filter((item) => item !== null && item !== undefined));
    return element;
}

// The name of a tensor or node.
function nameOf(text) {
    return make("code", { class: "name" }, text);
}

// A number with as many digits as say something; "NaN" and infinities come as text.
function digits(value, most = 4) {
    if (value === null || value === undefined)
        return "";
    if (value === "Infinity" || value === "-Infinity")
        return value.replace("Infinity", "∞").replace("-", "−");
    if (typeof value !== "number")
        return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e7)
        return String(value).replace("-", "−");
    const size = Math.abs(value);
    const rounded = Number(value.toPrecision(most));
    const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? Number(value.toPrecision(most - 1)).toExponential() : String(rounded);
    return text.replace("e+", "e").replaceAll("-", "−");
}

function milliseconds(seconds) {
    return seconds === undefined ? "" : digits(Number((seconds * 1000).toPrecision(3)));
}

function duration(seconds) {
    if (seconds === undefined)
        return "";
    return seconds >= 120 ? `${digits(Math.round(seconds / 6) / 10)} min` :
        seconds >= 1 ? `${digits(Number(seconds.toPrecision(2)))} s` : `${milliseconds(seconds)} ms`;
}

function count(number, one, many) {
    return `${digits(number)} ${number === 1 ? one : many}`;
}

// A number for sorting and drawing: infinities have theirs, and what is none has none.
function valueOf(number) {
    if (number === "Infinity" || number === "-Infinity" || typeof number === "number")
        return Number(number);
    return NaN;
}

function range(values) {
    if (!values)
        return "";
    const parts = values.minimum === undefined ? [] : [`${digits(values.minimum)} … ${digits(values.maximum)}`];
    if (values.nan > 0)
        parts.push(`${digits(values.nan)} NaN`);
    if (values.infinities > 0)
        parts.push(`${digits(values.infinities)} ∞`);
    return parts.join(", ");
}

// The largest magnitude of a range, infinities included.
function magnitude(values) {
    if (!values)
        return NaN;
    if (values.infinities > 0)
        return Infinity;
    return Math.max(Math.abs(valueOf(values.minimum)), Math.abs(valueOf(values.maximum)));
}

// Adds a section to the page; empty ones are left out.
function addSection(identifier, title, ...content) {
    const section = make("section", { id: identifier }, make("h2", {}, title), ...content);
    document.getElementById("report").append(section);
    return section;
}
