#!/usr/bin/env python3
"""run.py: makes the faults, has `polygraphy debug accuracy` look for the causes, and says which it has found.

    python3 run.py [-o FOLDER] [--make-only] [--seed SEED] [NETWORK ...]

FOLDER (default: faults) gets the networks, the plug-ins and the compiler, and for each network a folder and a .json file
of what was found. What is right stands in README.md, and is read when all is done. Program and plug-ins are those
of build/, where `make examples` leaves them; POLYGRAPHY names another program.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../..", os.environ.get("BUILD", "build"))


class Expected:
    """A line of the table under "What has to be found"."""

    def __init__(self, cells, compiler):
        def code(cell):
            return re.findall("`([^`]+)`", cell)

        self.network = cells[0]
        self.suspect = code(cells[1])[0].replace("COMPILER", compiler)
        self.kinds = re.sub("`[^`]+`", "", cells[2]).strip()
        self.tactic = "".join(code(cells[2]))
        self.nodes, self.others = code(cells[3]), code(cells[4])

    def faults_of(self, found):
        """What is wrong with what was found, in a few words; "" when nothing is."""
        if self.kinds == "nothing fails":
            return "" if found["outcome"] == "nothing-fails" else "nothing is wrong there"
        cause = found.get("cause") or {}
        if found["outcome"] != "cause":
            return "no cause"
        if cause["kind"] not in [kind.strip() for kind in self.kinds.split(" or ")]:
            return "another kind"
        nodes = cause.get("nodes") or []
        missing = [node for node in self.nodes if node not in nodes]
        if missing:
            return "without " + ", ".join(missing)
        strangers = [node for node in nodes if not any(fnmatch.fnmatch(node, it) for it in self.nodes + self.others)]
        if strangers:
            return "with " + ", ".join(strangers)
        if cause["kind"] == "tactic" and self.tactic not in (cause.get("tactic") or ""):
            return "another tactic"
        return ""


def read_table():
    with open(os.path.join(HERE, "README.md")) as file:
        text = file.read().split("## What has to be found")[1].split("\n## ")[0]
    compiler = text.split("```\n")[1].strip()
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [Expected([cell.strip() for cell in row], compiler) for row in rows[2:]]


def make(folder, seed):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, "-B", os.path.join(HERE, "make.py"), folder, seed], check=True)
    for name in "compiler.py", "onnx_file.py":
        shutil.copy(os.path.join(HERE, name), folder)
    for name in os.listdir(HERE):
        if name.endswith(".c"):
            shutil.copy(os.path.join(BUILD, "examples/faults", name[:-2] + ".so"), folder)


def look(expected, folder, program):
    """Runs the command; returns what it has written, and for how long it ran."""
    command = f"{program} debug accuracy {expected.network}.onnx --onnxrt {expected.suspect}"
    print("\n$ " + command, flush=True)
    words = shlex.split(command) + ["-o", expected.network, "--json", expected.network + ".json"]
    shutil.rmtree(os.path.join(folder, expected.network), ignore_errors=True)
    path = os.path.join(folder, expected.network + ".json")
    if os.path.exists(path):
        os.remove(path)
    start = time.monotonic()
    subprocess.run(words, cwd=folder, check=False)
    seconds = time.monotonic() - start
    if not os.path.exists(path):
        return {"outcome": "it failed"}, seconds
    with open(path) as file:
        return json.load(file), seconds


def summary(found):
    cause = found.get("cause")
    if not cause:
        return found["outcome"]
    nodes = cause.get("nodes") or []
    return " ".join([cause["kind"]] + nodes[:2] + (["..."] if len(nodes) > 2 else []))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="faults", metavar="FOLDER")
    parser.add_argument("--make-only", action="store_true", help="look for nothing")
    parser.add_argument("--seed", default="", help="other weights: any word")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    arguments = parser.parse_args()

    make(arguments.output, arguments.seed)
    if arguments.make_only:
        return 0
    program = os.path.abspath(os.environ.get("POLYGRAPHY", os.path.join(BUILD, "polygraphy")))
    os.environ["PATH"] = os.path.dirname(program) + ":" + os.environ["PATH"]  # the compiler's engines run in it, too
    os.environ["POLYGRAPHY_TRT"] = "builtin"  # plug-ins are for the built-in engine
    lines, wrong = [], 0
    for expected in read_table():
        if arguments.networks and expected.network not in arguments.networks:
            continue
        found, seconds = look(expected, arguments.output, program)
        faults = expected.faults_of(found)
        wrong += faults != ""
        lines.append(
            f"{expected.network:22} {summary(found):56} {found.get('checks', '-'):>6} {found.get('builds', '-'):>6}"
            f" {seconds:7.1f}  {'right' if not faults else 'WRONG: ' + faults}"
        )
    print(f"\n{'network':22} {'cause':56} checks builds seconds", *lines, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
