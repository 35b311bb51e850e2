#!/usr/bin/env python3
"""banned_expressions.py: finds the expressions of banned_expressions.txt in messages, comments and documents.

    scripts/banned_expressions.py [--list FILE] [--count] [FILE...]

Prints "file:line: what" for each. Without FILEs reads the files of the tree that people read: sources (comments and
strings), documents, scripts and the Makefile. --count prints how often each expression occurs instead.

A line of the list is `expression | what to write instead`; `*` at the end of a word stands for any ending, so that
`mend*` finds mended. Upper and lower case are the same. An expression may be broken over lines.
"""

import argparse
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
READ = re.compile(r"^(?:src|include|bench)/.*\.[ch]$|^(?:docs|examples)/.*\.md$|^README\.md$|^Makefile$"
                  r"|^(?:scripts|\.ci|bench)/.*(?:\.sh|\.py|\.awk|/run)$")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', re.S)
CHARACTER = re.compile(r"'(?:\\.|[^'\\\n])'")


def read_list(path):
    """(expression, what to write instead, pattern) for each line of the list."""
    expressions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            expression, _, instead = (part.strip() for part in line.partition(" | "))
            pattern = r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in expression.split())
            ends = r"(?<![\w-])", r"(?![\w-])" if re.search(r"[\w*]$", expression) else ""
            expressions.append((expression, instead, re.compile(ends[0] + pattern + ends[1], re.I)))
    return expressions


def prose_of(path):
    """The text of a file with everything but prose blanked, line by line at the same place."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".c", ".h"):
        text = CHARACTER.sub("   ", text)
        prose, position = [], 0
        for match in COMMENT_OR_STRING.finditer(text):
            prose.append(re.sub(r"[^\n]", " ", text[position:match.start()]))
            prose.append(match[0])
            position = match.end()
        text = "".join(prose)
        text = re.sub(r"^ *\*(?= )", lambda star: " " * len(star[0]), text, flags=re.M)
        text = re.sub(r'"\s*\n\s*"', lambda seam: re.sub(r"[^\n]", " ", seam[0]), text)
    elif path.suffix != ".md":
        text = re.sub(r"^ *#", lambda mark: " " * len(mark[0]), text, flags=re.M)
    return text


def main():
    parser = argparse.ArgumentParser(description="find banned expressions in messages, comments and documents")
    parser.add_argument("--list", type=pathlib.Path, default=FOLDER / "banned_expressions.txt")
    parser.add_argument("--count", action="store_true", help="print how often each occurs")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files
    if not files:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=FOLDER.parent,
                                capture_output=True, text=True, check=True).stdout.split("\n")
        files = [FOLDER.parent / name for name in listed if READ.match(name)]
    expressions = read_list(arguments.list)
    counts = dict.fromkeys((expression for expression, _, _ in expressions), 0)
    for path in files:
        if not path.is_file() or path.name == pathlib.Path(__file__).name:
            continue
        prose = prose_of(path)
        for expression, instead, pattern in expressions:
            for match in pattern.finditer(prose):
                counts[expression] += 1
                if not arguments.count:
                    name = path.resolve().relative_to(FOLDER.parent)
                    print(f"{name}:{prose.count(chr(10), 0, match.start()) + 1}: '{expression}': write {instead}")
    if arguments.count:
        for expression, count in counts.items():
            print(f"{count:6}  {expression}")
    return not arguments.count and any(counts.values())


if __name__ == "__main__":
    sys.exit(main())
