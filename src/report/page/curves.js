// curves.js: numbers along the network, or along a search, as curves; histograms.

// Lengths are those of the page, so that letters are as large as elsewhere: a curve is made for the width that it finds.
const CURVE = { height: 220, left: 64, right: 12, top: 26, bottom: 24 };

function widthOf(most) {
    return Math.max(280, Math.min(most, document.getElementById("report").clientWidth));
}

// From values to places, linear or logarithmic, with round marks.
class Scale {
    constructor(values, from, to, logarithmic = false) {
        const known = values.filter((value) => Number.isFinite(value) && (!logarithmic || value > 0));
        this.logarithmic = logarithmic;
        this.low = known.reduce((a, b) => Math.min(a, b), Infinity);
        this.high = known.reduce((a, b) => Math.max(a, b), -Infinity);
        if (known.length === 0)
            [this.low, this.high] = [1, 10];
        if (logarithmic) {
            this.low = 10 ** Math.floor(Math.log10(this.low));
            this.high = 10 ** Math.ceil(Math.log10(this.high));
        } else {
            this.low = Math.min(0, this.low);
        }
        if (this.low === this.high)
            this.high = logarithmic ? this.low * 10 : this.low + 1;
        [this.from, this.to] = [from, to];
    }

    share(value) {
        const log = (number) => Math.log10(Math.max(number, 1e-300));
        const share = this.logarithmic ? (log(value) - log(this.low)) / (log(this.high) - log(this.low)) :
            (value - this.low) / (this.high - this.low);
        return Math.max(0, Math.min(1, share));
    }

    place(value) {
        return this.from + this.share(value) * (this.to - this.from);
    }

    marks() {
        if (this.logarithmic) {
            const [first, last] = [Math.round(Math.log10(this.low)), Math.round(Math.log10(this.high))];
            const step = Math.max(1, Math.ceil((last - first) / 6));
            return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
        }
        const rough = (this.high - this.low) / 5;
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
        const first = Math.ceil(this.low / step);
        return Array.from({ length: Math.floor(this.high / step) - first + 1 }, (_, i) => (first + i) * step);
    }
}

function emptyCurve(label, vertical, width) {
    const picture = drawn("svg", { viewBox: `0 0 ${width} ${CURVE.height}`, width, class: "curve", role: "img", "aria-label": label });
    for (const mark of vertical.marks()) {
        const y = vertical.place(mark);
        picture.append(drawn("line", { class: "grid", x1: CURVE.left, x2: width - CURVE.right, y1: y, y2: y }),
            drawn("text", { class: "mark", x: CURVE.left - 8, y: y + 4 }, digits(Number(mark.toPrecision(6)))));
    }
    return picture;
}

function verticalScale(values, logarithmic) {
    return new Scale(values, CURVE.height - CURVE.bottom, CURVE.top, logarithmic);
}

// A line through the known values; gaps stay gaps.
function path(places) {
    let text = "";
    let open = false;
    for (const place of places) {
        if (place)
            text += `${open ? "L" : "M"}${place[0].toFixed(1)} ${place[1].toFixed(1)}`;
        open = place !== null;
    }
    return text;
}

// ---- Error along the network ----

// The largest finite value of each type, and its smallest normal one.
const LIMITS = {
    float16: [65504, 2 ** -14],
    bfloat16: [3.3895313892515355e38, 2 ** -126],
    float8e4m3fn: [448, 2 ** -6],
    float8e5m2: [57344, 2 ** -14],
    int8: [127, null],
    uint8: [255, null],
    int4: [7, null],
};

const MEASURES = [
    ["signal_to_noise", "signal to noise, dB", false],
    ["absolute_error", "largest absolute error", true],
    ["relative_error", "largest relative error", true],
];

class ErrorCurves {
    constructor(tensors, choose) {
        this.tensors = tensors;
        this.choose = choose;
        this.width = widthOf(1400);
        this.horizontal = new Scale([0, tensors.length - 1], CURVE.left + 6, this.width - CURVE.right - 6);
        this.first = tensors.findIndex((tensor) => tensor.outcome === "differs");
        this.measures = MEASURES.filter(([key]) => tensors.some((tensor) => tensor[key] !== undefined));
        this.reading = make("p", { class: "reading", "aria-live": "polite" });
        this.holder = make("div", { class: "curves", tabindex: "0", role: "group",
            "aria-label": "curves along the network; arrow keys go from tensor to tensor" });
        this.cursor = Math.max(0, this.first);
        this.holder.addEventListener("keydown", (event) => this.key(event));
    }

    draw(measure) {
        const pictures = measure ? [this.errors(...measure)] : [];
        if (this.tensors.some((tensor) => tensor.reference || tensor.suspect))
            pictures.push(this.ranges());
        this.pictures = pictures;
        this.holder.replaceChildren(...pictures);
        this.move(this.cursor);
    }

    places(values, vertical) {
        return values.map((value, i) => Number.isNaN(value) ? null : [this.horizontal.place(i), vertical.place(value)]);
    }

    finish(picture, title) {
        const x = this.horizontal.place(this.first);
        picture.append(drawn("text", { class: "title", x: CURVE.left, y: 14 }, title),
            drawn("text", { class: "axis", x: this.width - CURVE.right, y: CURVE.height - 6 }, "tensors, in topological order →"));
        if (this.first >= 0)
            picture.append(drawn("line", { class: "leaves", x1: x, x2: x, y1: CURVE.top, y2: CURVE.height - CURVE.bottom }));
        picture.append(drawn("line", { class: "cursor", y1: CURVE.top, y2: CURVE.height - CURVE.bottom }));
        picture.addEventListener("pointermove", (event) => this.move(this.tensorAt(picture, event)));
        picture.addEventListener("click", (event) => this.choose(this.tensors[this.tensorAt(picture, event)].name));
        return picture;
    }

    errors(key, title, logarithmic) {
        const values = this.tensors.map((tensor) => valueOf(tensor[key]));
        const tolerances = this.tensors.map((tensor) => valueOf(tensor[key.replace("_error", "_tolerance")]));
        const vertical = verticalScale(logarithmic ? [...values, ...tolerances] : values, logarithmic);
        const picture = emptyCurve(`${title} of each tensor`, vertical, this.width);
        if (logarithmic)
            picture.append(drawn("path", { class: "tolerance", d: path(this.places(tolerances, vertical)) }));
        picture.append(drawn("path", { class: "suspect", d: path(this.places(values, vertical)) }));
        this.places(values, vertical).forEach((place, i) => {
            if (place && (this.tensors[i].outcome === "differs" || this.tensors.length <= 150))
                picture.append(drawn("circle", { class: this.tensors[i].outcome === "differs" ? "differs" : "fine",
                    cx: place[0], cy: place[1], r: 3 }));
            else if (!place && this.tensors[i].outcome === "differs")
                picture.append(drawn("text", { class: "beyond", x: this.horizontal.place(i), y: CURVE.height - CURVE.bottom },
                    "×", drawn("title", {}, "differs, and this measure has no value")));
        });
        return this.finish(picture, logarithmic ? `${title} (dashed: tolerance)` : title);
    }

    ranges() {
        const reference = this.tensors.map((tensor) => magnitude(tensor.reference));
        const suspect = this.tensors.map((tensor) => magnitude(tensor.suspect));
        const types = [...new Set(this.tensors.map((tensor) => tensor.precision ?? tensor.type))].filter((type) => LIMITS[type]);
        const limits = types.flatMap((type) => LIMITS[type].filter((limit) => limit !== null && limit < 1e30 && limit > 1e-30)
            .map((limit) => [type, limit]));
        const vertical = verticalScale([...reference, ...suspect, ...limits.map(([, limit]) => limit)], true);
        const picture = emptyCurve("the largest magnitude of each tensor in both results", vertical, this.width);
        picture.append(drawn("path", { class: "reference", d: path(this.places(reference, vertical)) }),
            drawn("path", { class: "suspect", d: path(this.places(suspect, vertical)) }));
        for (const [type, limit] of limits) {
            const y = vertical.place(limit);
            picture.append(drawn("line", { class: "limit", x1: CURVE.left, x2: this.width - CURVE.right, y1: y, y2: y }),
                drawn("text", { class: "limit", x: CURVE.left + 6, y: y + 13 },
                    `${limit < 1 ? "smallest normal" : "largest"} ${type}: ${digits(limit)}`));
        }
        if ([...reference, ...suspect].includes(Infinity))
            picture.append(drawn("text", { class: "mark", x: CURVE.left - 8, y: CURVE.top + 4 }, "∞"));
        return this.finish(picture, "largest magnitude: reference (wide), suspect (thin)");
    }

    tensorAt(picture, event) {
        const box = picture.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width * this.width;
        const share = (x - this.horizontal.from) / (this.horizontal.to - this.horizontal.from);
        return Math.max(0, Math.min(this.tensors.length - 1, Math.round(share * (this.tensors.length - 1))));
    }

    move(i) {
        const tensor = this.tensors[i];
        const facts = [tensor.outcome];
        this.cursor = i;
        for (const [key, title] of this.measures)
            if (tensor[key] !== undefined)
                facts.push(`${title} ${digits(tensor[key])}`);
        if (tensor.reference || tensor.suspect)
            facts.push(`${range(tensor.reference)} | ${range(tensor.suspect)}`);
        this.reading.replaceChildren(nameOf(tensor.name), ` ${facts.join(" · ")}`);
        for (const picture of this.pictures) {
            const line = picture.querySelector(".cursor");
            line.setAttribute("x1", this.horizontal.place(i));
            line.setAttribute("x2", this.horizontal.place(i));
        }
    }

    key(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) {
            event.preventDefault();
            this.move(Math.max(0, Math.min(this.tensors.length - 1, this.cursor + step)));
        } else if (event.key === "Enter") {
            this.choose(this.tensors[this.cursor].name);
        }
    }
}

function addErrors(report, choose) {
    const curves = new ErrorCurves(report.tensors, choose);
    const buttons = curves.measures.map((measure) => {
        const button = make("button", { type: "button" }, measure[1]);
        button.addEventListener("click", () => press(measure));
        return button;
    });

    function press(measure) {
        buttons.forEach((button, i) => button.setAttribute("aria-pressed", curves.measures[i] === measure));
        curves.draw(measure);
    }

    const first = report.tensors[curves.first];
    addSection("errors", "Error along the network",
        first ? make("p", {}, "The first tensor to leave its tolerance is ", nameOf(first.name),
            `, number ${curves.first + 1} of ${report.tensors.length}.`) : null,
        buttons.length > 1 ? make("div", { class: "tools" }, ...buttons) : null, curves.holder, curves.reading);
    press(curves.measures[0]);
}

// ---- A search ----

function searchCurve(candidates, what) {
    const sizes = candidates.map((candidate) => valueOf(candidate.size));
    const vertical = verticalScale(sizes, Math.max(...sizes) > 200);
    const width = widthOf(1400);
    const horizontal = new Scale([0, candidates.length - 1], CURVE.left + 6, width - CURVE.right - 6);
    const picture = emptyCurve(`${what} in each candidate`, vertical, width);
    let best = NaN;
    const kept = candidates.flatMap((candidate, i) => {
        const before = Number.isNaN(best) ? null : [horizontal.place(i), vertical.place(best)];
        if (candidate.verdict === "failed" && !(sizes[i] >= best))
            best = sizes[i];
        return [before, Number.isNaN(best) ? null : [horizontal.place(i), vertical.place(best)]];
    });
    picture.append(drawn("path", { class: "suspect", d: path(kept) }));
    candidates.forEach((candidate, i) => {
        if (!Number.isNaN(sizes[i]))
            picture.append(drawn("circle", { class: candidate.verdict === "failed" ? "differs" :
                candidate.verdict === "passed" ? "matches" : "fine", cx: horizontal.place(i), cy: vertical.place(sizes[i]), r: 3.5 },
            drawn("title", {}, `candidate ${candidate.number}: ${count(candidate.size, what, what)}, ${candidate.verdict}`)));
    });
    picture.append(drawn("text", { class: "title", x: CURVE.left, y: 14 },
        `${what} in each candidate; line: the smallest that fails`),
    drawn("text", { class: "axis", x: width - CURVE.right, y: CURVE.height - 6 }, "checks →"));
    return picture;
}

// ---- Histograms ----

function histogram(data) {
    const series = [["reference", data.reference], ["suspect", data.suspect]].filter(([, counts]) => counts);
    const bins = series[0][1].length;
    const whole = widthOf(560);
    const horizontal = new Scale([0, bins], CURVE.left, whole - CURVE.right);
    const vertical = verticalScale([1, ...series.flatMap(([, counts]) => counts)], true);
    const picture = emptyCurve(data.title, vertical, whole);
    const width = (horizontal.to - horizontal.from) / bins;
    for (const [name, counts] of series)
        counts.forEach((number, i) => {
            const y = number > 0 ? vertical.place(Math.max(number, vertical.low)) - 2 : vertical.from;
            if (number > 0)
                picture.append(drawn("rect", { class: `bin ${name}`, x: horizontal.place(i) + 1, y, width: Math.max(1, width - 2),
                    height: vertical.from - y }, drawn("title", {}, `${name}: ${digits(number)}`)));
        });
    picture.append(drawn("text", { class: "axis start", x: CURVE.left, y: CURVE.height - 6 }, digits(data.from)),
        drawn("text", { class: "axis", x: whole - CURVE.right, y: CURVE.height - 6 }, digits(data.to)));
    return make("figure", {}, make("figcaption", {}, data.title, series.length > 1 ? " (wide: reference, narrow: suspect)" : ""), picture);
}
