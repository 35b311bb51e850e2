#!/usr/bin/python3
"""Runs the commands of a page and compares what they say with what the page shows.

    guide_page.py PAGE [WORD]

In blocks of code, a line that begins with "$ " is a command (a backslash at its end goes on), and what follows is its
output: each line has to occur, in this order, apart from numbers with a decimal point, the first number of "3 of 96
values" (or elements) and that of "(3 builds)", which depend on the tactics that were the fastest; "..." stands for anything.
Blocks that hold WORD are left out. A command that shows no output has to succeed; of others, the exit code is not
looked at, as a page does not show it.
"""
import re
import subprocess
import sys


def commands(page, left_out):
    """Pairs of a command and the lines that it has to say."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", page, re.MULTILINE | re.DOTALL):
        if left_out and left_out in block:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = re.sub(r"\\\n *", "", part).partition("\n")
            yield command, [line for line in output.splitlines() if line != "..."]


def masked(line):
    return re.sub(r"[0-9]+\.[0-9]+|[0-9]+(?= of [0-9]+ values)|(?<=elements: )[0-9]+|[0-9]+(?= builds\))", "#", line)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pairs = list(commands(file.read(), (sys.argv[2:] or [None])[0]))
    failures = 0 if pairs else 1
    for command, expected in pairs:
        run = subprocess.run(
            ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        said = iter(run.stdout.splitlines())
        for line in expected:
            if not any(masked(line) in masked(other) for other in said):
                print(f"{command}\nexit code {run.returncode}, and not said: {line}\n{run.stdout[-2000:]}")
                failures += 1
                break
        if not expected and run.returncode != 0:
            print(f"{command}\nexit code {run.returncode}\n{run.stdout[-2000:]}")
            failures += 1
    print(f"{len(pairs)} commands, {failures} failures")
    sys.exit(failures > 0)


main()
