#!/usr/bin/env python3
"""count.py: counts lines, functions and names of a tree of the project, to compare two trees.

    scripts/count.py [TREE...]       (default: the tree that this script is in)

With several trees the table has a column for each. The labels and the comments below say what is counted; only
C files and headers below src/ are read.
"""

import pathlib
import re
import sys
from collections import Counter, defaultdict

# The loop of the debug tools, and the modules that replaced it.
LOOP = ("debug/loop", "debug/session", "debug/record", "debug/belief", "debug/experiment")
# Modules that render results: calls of a renderer in them are not counted as rendering by hand.
RENDERERS = ("base", "format", "report", "plot")
# Names that no longer occur when all tools share the loop's modules.
GONE = r"\b(?:enum candidate_turn|given_\w+|describe_given|loop_check_(?:apart|control|confirm))\b"

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
FUNCTION = re.compile(r"^(?!(?:struct|enum|union)\s+\w+\s*\{|typedef)((?:[A-Za-z_][\w \t*,()]*?[ *])?(\w+)\([^;{}]*\))\s*\n\{\n(.*?)^\}",
                      re.S | re.M)
DECLARATION = re.compile(r"^(?!static|typedef|#)[A-Za-z_][\w \t*]*?[ *](\w+)\((?:[^;{}])*\)[^;{}]*;", re.M)


def blank_comment(token, string):
    """The replacement of a comment (blanks and its line breaks) or of a string (itself)."""
    return re.sub(r"[^\n]", " ", token) if token.startswith("/") else string


class Source:
    """A C file: its text without comments (`code`), the same without strings (`bare`), and its lines by kind."""

    def __init__(self, root, path):
        self.path = str(path.relative_to(root / "src"))
        self.header = path.suffix == ".h"
        text = path.read_text(encoding="utf-8", errors="replace")
        self.code = TOKEN.sub(lambda token: blank_comment(token[0], token[0]), text)
        self.bare = TOKEN.sub(lambda token: blank_comment(token[0], '""'), text)
        lines = list(zip(text.splitlines(), self.code.splitlines()))
        self.blank = sum(not line.strip() for line, _ in lines)
        self.code_lines = sum(bool(code.strip()) for _, code in lines)
        self.comment = len(lines) - self.blank - self.code_lines
        self.lines = len(lines)
        self.words = set(re.findall(r"\w+", self.bare))
        self.functions = [(match[1], match[2], match[0]) for match in FUNCTION.finditer(self.bare)]

    def within(self, *folders):
        return any(self.path.startswith(folder + "/") for folder in folders)


def count_callers(table, label, files, calls):
    """Adds the lines of the functions whose body matches `calls`, their number, and the number of files that contain them."""
    callers = [(file, body) for file in files for _, _, body in file.functions if calls(body)]
    table[f"lines of functions that {label}"] = sum(body.count("\n") + 1 for _, body in callers)
    table[f"  {label}: functions"] = len(callers)
    table[f"  {label}: files"] = len({file.path for file, _ in callers})


def count_tree(root):
    """A dictionary from labels to numbers, in the order of the table."""
    files = [Source(root, path) for path in sorted((root / "src").rglob("*.[ch]"))]
    table = {}

    def add_lines(label, chosen):
        table[label] = sum(file.lines for file in chosen)

    add_lines("lines of src", files)
    table["  code"] = sum(file.code_lines for file in files)
    table["  comments alone in their lines"] = sum(file.comment for file in files)
    table["  blank"] = sum(file.blank for file in files)
    table["files of src"] = len(files)
    for layer in ("base", "tensor", "onnx", "format", "backend", "engine", "comparator", "plot", "report", "lint", "search",
                  "blame", "debug", "library", "cli"):
        chosen = [file for file in files if file.within(layer)]
        add_lines(f"lines of {layer}", chosen)
        table[f"  {layer}: code"] = sum(file.code_lines for file in chosen)
        table[f"  {layer}: comments"] = sum(file.comment for file in chosen)
    add_lines("lines of debug and cli/debug", [file for file in files if file.within("debug", "cli/debug")])
    add_lines("lines of backend/tensorrt and format/tensorrt",
              [file for file in files if file.within("backend/tensorrt", "format/tensorrt")])

    # The loop of the debug tools: functions that its headers declare, and those that another folder names.
    loop = [file for file in files if file.within(*LOOP)]
    elsewhere = set().union(*(file.words for file in files if not file.within(*LOOP)))
    declared = {name for file in loop if file.header for name in DECLARATION.findall(file.bare)}
    add_lines("lines of the loop's modules", loop)
    table["functions that the loop's headers declare"] = len(declared)
    table["  used from outside of the loop's modules"] = len(declared & elsewhere)
    table["  in its largest header"] = max([len(DECLARATION.findall(file.bare)) for file in loop if file.header] or [0])
    pointers = r"\(\*\w+(?:\[\w*\])?\)\("
    table["function pointers declared in the loop's headers"] = sum(
        len(re.findall(pointers, file.bare)) for file in loop if file.header)
    table["function pointers declared in all headers of debug"] = sum(
        len(re.findall(pointers, file.bare)) for file in files if file.header and file.within("debug"))
    debug = [file for file in files if file.within("debug", "cli/debug")]
    table["uses of enum candidate_turn, given_*, loop_check_apart and their like"] = sum(
        len(re.findall(GONE, file.bare)) for file in debug)
    table["(void) casts of parameters in debug and cli/debug"] = sum(
        len(re.findall(r"^\s+\(void\)\w+;", file.bare, re.M)) for file in debug)
    subjects = defaultdict(set)
    for file in files:
        folder, _, name = file.path.rpartition("/")
        subjects[folder].add(name[:-2])
    table["most .c and .h pairs in one folder"] = max(len(names) for names in subjects.values())

    # Rendering by hand: functions that call the JSON writer, or what src/report declares, outside of RENDERERS; and those
    # that log, of debug, blame, lint, comparator and cli. A function that does both counts in both lines.
    page = {name for file in files if file.header and file.within("report") for name in DECLARATION.findall(file.bare)}
    outside = [file for file in files if not file.within(*RENDERERS)]
    tools = [file for file in files if file.within("debug", "blame", "lint", "comparator", "cli")]

    count_callers(table, "call the JSON writer", outside, lambda body: "json_writer_" in body)
    count_callers(table, "call the page", outside, lambda body: not page.isdisjoint(re.findall(r"\b(\w+)\(", body)))
    count_callers(table, "log", tools, lambda body: re.search(r"\blog_message\(", body))
    table["json_writer_key() and a value or its beginning in the next statement"] = sum(
        len(re.findall(r"json_writer_key\([^;]*\);\s*json_writer_\w+\(", file.bare)) for file in files)
    table["look-ups of options by type (PARSE_VALUES)"] = sum(
        len(re.findall(r"^(?!#define).*\bPARSE_VALUES\(", file.bare, re.M)) for file in files)

    # Equal names
    structs = Counter(name for file in files for name in re.findall(r"^(?:static |typedef |const )*struct (\w+) \{", file.bare, re.M))
    table["struct names that are defined more than once"] = sum(count > 1 for count in structs.values())
    statics = defaultdict(set)
    for file in files:
        for signature, name, _ in file.functions:
            if signature.startswith("static"):
                statics[name].add(file.path)
    table["static functions"] = sum(len(paths) for paths in statics.values())
    table["  names of theirs in more than one file"] = sum(len(paths) > 1 for paths in statics.values())
    table["  names of theirs in more than three files"] = sum(len(paths) > 3 for paths in statics.values())
    table["  files with the most frequent one"] = max(len(paths) for paths in statics.values())
    return table


def main():
    trees = [pathlib.Path(argument) for argument in sys.argv[1:]] or [pathlib.Path(__file__).resolve().parent.parent]
    tables = [count_tree(tree) for tree in trees]
    for label in tables[0]:
        print(f"{label:72}" + "".join(f"{table[label]:9}" for table in tables))


if __name__ == "__main__":
    main()
