#!/usr/bin/env python3
"""scripts/website/check.py FOLDER PAGES: checks the links and the search of the website.

FOLDER is what Sphinx made from PAGES. Every internal link must lead to a file, and to an anchor in it; every
page of PAGES must exist, and the search must find every option of the manuals. Prints the problems found; the exit status
is 1 if there are any.
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken_links(pages):
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path}: '{link}' leads nowhere"
            elif parts.fragment and target in pages and parts.fragment not in pages[target].places:
                yield f"{path}: '{link}' leads to a page without that anchor"


def unknown_options(folder, sources):
    """Options are objects of the search: the index contains their names unchanged."""
    index = (folder / "searchindex.js").read_text()
    index = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    known = {entry[4] for entries in index["objects"].values() for entry in entries}
    count = 0
    for source in sorted((sources / "man").glob("*.md")):
        for names in re.findall(r"^```\{option\} (.*)", source.read_text(), re.M):
            name = re.match(r"\S*[^\s,]", names).group()
            count += 1
            if name not in known:
                yield f"{source}: the search does not know {name}"
    if count == 0:
        yield f"{sources}: no options are in the manuals"


def main():
    folder, sources = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    findings = list(broken_links(pages))
    for source in sorted(sources.rglob("*.md")):
        if (folder / source.relative_to(sources)).with_suffix(".html") not in pages:
            findings.append(f"{source}: is no page of the website")
    findings += unknown_options(folder, sources)
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


sys.exit(main())
