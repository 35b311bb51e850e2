// The page of a report: draws the document that stands in the page. Text becomes text nodes, never markup.
"use strict";

const report = JSON.parse(document.getElementById("document").textContent);

function element(name, ...children) {
    const made = document.createElement(name);
    made.append(...children);
    return made;
}

const main = document.getElementById("report");
for (const line of report.verdict.proof)
    main.append(element("p", line));
main.append(element("pre", JSON.stringify(report, null, 1)));
