#!/usr/bin/env python3
"""strings.py: lists every text of the program that a user can read, with file and line.

    scripts/strings.py [--tree FOLDER] [TEXT...]       (with TEXT: only files with one of these in their path)

One line per text, `file:line: kind: text`, in the order of files and lines. Kinds:
- the name of a function that formats a message (error_set, log_message, result_add_line, ...): its format string.
  These functions are found by their declarations, `__attribute__((format(printf, N, M)))`, not by a list
- `.member`: the value of a member in a table (.help, .summary, .description, .title, ...)
- `text`: any other string of at least two words, for example one of two alternatives that a message inserts
"""

import argparse
import pathlib
import re
import sys

TOKEN = re.compile(
    r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<char>\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<directive>^[ \t]*#(?:\\\n|[^\n])*)|(?P<name>[A-Za-z_]\w*)|(?P<mark>[^\s\w])", re.S | re.M)
DECLARATION = re.compile(r"\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*__attribute__\(\(format\(printf, (\d+), \d+\)\)\)")
DEFINITION = re.compile(r"__attribute__\(\(format\(printf, (\d+), \d+\)\)\)\s+(\w+)\(")


def find_formatters(sources):
    """Functions with a printf format: name to the position of the format among the arguments, from 0."""
    formatters = {}
    for text in sources.values():
        formatters.update((match[1], int(match[2]) - 1) for match in DECLARATION.finditer(text))
        formatters.update((match[2], int(match[1]) - 1) for match in DEFINITION.finditer(text))
    return formatters


def tokens_of(text):
    """Tokens of a C file without comments and directives; adjacent strings, and macros such as PRIu64 between them, are
    one token: (kind, text, line)."""
    line, position, pending = 1, 0, None
    for match in TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        kind = match.lastgroup
        if kind in ("comment", "directive"):
            continue
        if kind == "string":
            pending = ("string", (pending[1] if pending else "") + match[0][1:-1], pending[2] if pending else line)
            continue
        if pending and kind == "name" and match[0].startswith("PRI"):
            pending = ("string", pending[1] + match[0][3], pending[2])
            continue
        if pending:
            yield pending
            pending = None
        yield kind, match[0], line
    if pending:
        yield pending


def texts_of(source, formatters):
    """(line, kind, text) of each text in a C file."""
    calls = []  # open brackets: (function or None, position among the arguments)
    before = [("", ""), ("", ""), ("", "")]  # tokens before this one, the nearest last
    for kind, text, line in tokens_of(source):
        if text == "(" and kind == "mark":
            calls.append([before[-1][1] if before[-1][0] == "name" else None, 0])
        elif text in ("{", "[") and kind == "mark":
            calls.append([None, 0])
        elif text in (")", "}", "]") and kind == "mark" and calls:
            calls.pop()
        elif text == "," and kind == "mark" and calls:
            calls[-1][1] += 1
        elif kind == "string":
            enclosing = next(([name, at] for name, at in reversed(calls) if name), [None, 0])
            member = before[-1][1] == "=" and before[-2][0] == "name" and before[-3][1] == "."
            if enclosing[0] in formatters and enclosing[1] == formatters[enclosing[0]]:
                yield line, enclosing[0], text
            elif member and re.search(r"[a-z]{2}", text):
                yield line, "." + before[-2][1], text
            elif re.search(r"[A-Za-z]{2,}[^A-Za-z0-9]* [^A-Za-z]*[A-Za-z]{2,}", text):
                yield line, "text", text
        before = before[1:] + [(kind, text)]


def main():
    parser = argparse.ArgumentParser(description="list every text of the program that a user can read")
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("only", nargs="*", metavar="TEXT", help="only files with one of these in their path")
    arguments = parser.parse_args()
    paths = sorted(path for path in (arguments.tree / "src").rglob("*.[ch]"))
    sources = {path.relative_to(arguments.tree): path.read_text(encoding="utf-8") for path in paths}
    formatters = find_formatters(sources)
    for path, source in sources.items():
        if arguments.only and not any(only in str(path) for only in arguments.only):
            continue
        for line, kind, text in texts_of(source, formatters):
            print(f"{path}:{line}: {kind}: " + text.replace('\\"', '"'))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
