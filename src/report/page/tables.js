// tables.js: tables that sort by any column, with a field to filter them, and no more rows than a browser likes.

const FIRST_ROWS = 100;
const ROWS_WITH_FILTER = 15;
const BRIEF = 24; // letters that stay on one line

// A cell is text, a number, null, or {show: element or text, sort: value, text: for the filter}.
function cellText(cell) {
    return cell !== null && typeof cell === "object" ? cell.text ?? "" : digits(cell);
}

function sortValue(cell) {
    const value = cell !== null && typeof cell === "object" ? cell.sort ?? cell.text : cell;
    return value === "Infinity" || value === "-Infinity" ? Number(value) : value;
}

// What is not there, and NaN, comes last in either direction.
function compareCells(a, b, direction) {
    const missing = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
    if (missing(a) || missing(b))
        return missing(a) - missing(b);
    if (typeof a === "number" && typeof b === "number")
        return (a - b) * direction;
    return String(a).localeCompare(String(b), "en", { numeric: true }) * direction;
}

function isNumeric(rows, column) {
    return rows.some((row) => typeof sortValue(row[column]) === "number") &&
        rows.every((row) => ["number", "undefined"].includes(typeof sortValue(row[column])) || row[column] === null ||
            ["", "NaN"].includes(sortValue(row[column])));
}

function makeCell(cell, numeric, first) {
    const shown = cell !== null && typeof cell === "object" ? cell.show : digits(cell);
    const kind = numeric ? "number" : cellText(cell).length <= BRIEF ? "brief" : null;
    return make(first ? "th" : "td", { class: kind, scope: first ? "row" : null }, shown);
}

// columns: titles; rows: arrays of cells. `choose`, if given, is called with the number of a row that was clicked.
function makeTable(columns, rows, { choose = null, caption = null } = {}) {
    const used = columns.map((_, i) => i).filter((i) => i === 0 || rows.some((row) => cellText(row[i]) !== ""));
    const numeric = used.map((i) => isNumeric(rows, i));
    const body = make("tbody");
    const heads = used.map((column, i) => {
        const button = make("button", { type: "button" }, columns[column]);
        const head = make("th", { scope: "col", class: numeric[i] ? "number" : null }, button);
        button.addEventListener("click", () => sortBy(i));
        return head;
    });
    const more = make("button", { type: "button", class: "more" });
    const filter = make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${caption ?? "rows"}` });
    const order = rows.map((_, i) => i);
    let sorted = null;
    let direction = 1;
    let shown = FIRST_ROWS;

    function draw() {
        const wanted = filter.value.toLowerCase();
        const matching = order.filter((i) => wanted === "" ||
            used.some((column) => cellText(rows[i][column]).toLowerCase().includes(wanted)));
        body.replaceChildren(...matching.slice(0, shown).map((i) => {
            const row = make("tr", {}, ...used.map((column, k) => makeCell(rows[i][column], numeric[k], k === 0)));
            if (choose)
                makeChoosable(row, () => choose(i));
            return row;
        }));
        more.hidden = matching.length <= shown;
        more.textContent = `show all ${matching.length} rows`;
    }

    function sortBy(i) {
        direction = sorted === i ? -direction : numeric[i] ? -1 : 1;
        sorted = i;
        order.sort((a, b) => compareCells(sortValue(rows[a][used[i]]), sortValue(rows[b][used[i]]), direction) || a - b);
        heads.forEach((head, k) => k === i ? head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending") :
            head.removeAttribute("aria-sort"));
        draw();
    }

    filter.addEventListener("input", draw);
    more.addEventListener("click", () => {
        shown = Infinity;
        draw();
    });
    draw();
    return make("div", { class: "table" }, rows.length >= ROWS_WITH_FILTER ? filter : null,
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? "table" },
            make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)), more);
}

function makeChoosable(row, choose) {
    row.classList.add("choosable");
    row.tabIndex = 0;
    row.addEventListener("click", choose);
    row.addEventListener("keydown", (event) => {
        if (event.key === "Enter")
            choose();
    });
}

// A number with a bar that shows it as a part of the largest one.
function withBar(value, largest, text) {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${Math.max(0, Math.min(1, value / largest || 0)) * 4}em`;
    return { show: make("span", { class: "with-bar" }, bar, text), sort: value, text };
}
