"""Sphinx's configuration for the website of `make html`: see scripts/website/make.sh, which gathers the pages.

The pages are the same as on a code host such as GitHub; the links that Sphinx treats differently are converted here.
"""

import os
import re

project = "polygraphy in C"
html_title = project
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "README"
exclude_patterns = ["**/node_modules"]

myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # examples of JSON may be incomplete, or contain Infinity
smartquotes = False  # would change the dashes of options

html_theme = "furo"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["website.css"]

FINDING_CAUSES = (
    "finding-the-cause accuracy report searching simplifying verdicts flaky-checks parallel-checks clusters precision "
    "diff-tactics"
)
INSIDE = "architecture adding-a-command engine-layers library tactic-plugins portability benchmarks comparison"


def contents(pages):
    """The lists of the sidebar, as text for the end of the first page. Documents in no list go to the one about usage."""
    finding = ["docs/" + name for name in FINDING_CAUSES.split()]
    inside = ["docs/" + name for name in INSIDE.split()]
    using = sorted(page for page in pages if page.startswith("docs/") and page not in finding + inside)
    lists = {
        "Finding causes": finding,
        "Using it": using,
        "Manuals": sorted(page for page in pages if page.startswith("man/")),
        "Examples": sorted(page for page in pages if page.startswith("examples/")),
        "Inside": inside,
    }
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(names) + "\n```\n"
        for title, names in lists.items()
    )


def link_for_site(folder, match):
    """A link to a folder leads to its README; without one it becomes text, because the website has no lists of files."""
    text, target = match.group(1), match.group(2)
    path = os.path.join(folder, target)
    if "://" in target or target.startswith("#") or not os.path.isdir(path):
        return match.group(0)
    if os.path.exists(os.path.join(path, "README.md")):
        return f"[{text}]({target.rstrip('/')}/README.md)"
    return text


def prepare(app, document, source):
    """Links as this site needs them, and the contents below the first page."""
    folder = os.path.dirname(app.env.doc2path(document))
    text = source[0]
    text = re.sub(r'<a href="([^"]*)"><img src="([^"]*)"[^>]* alt="([^"]*)"></a>', r"[![\3](\2)](\1)", text)
    text = re.sub(r"(?<!!)\[([^]\[]*)\]\(([^)\s]+)\)", lambda match: link_for_site(folder, match), text)
    if document == root_doc:
        text += contents(app.env.found_docs)
    source[0] = text


def setup(app):
    app.connect("source-read", prepare)
