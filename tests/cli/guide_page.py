#!/usr/bin/python3
"""Runs the commands of a page, in the order of the page and in one shell, and compares what they say with what it shows.

    guide_page.py PAGE [WORD]

In blocks of code, a line that begins with "$ " is a command (a backslash at its end, or an open heredoc, goes on), and
what follows is its output. In a block marked `console` that is all of it, but for "...", which stands for any lines, and
"…", which stands for any text in a line; in a block without a mark each line has to occur, in this order, and may go on.
Numbers with a decimal point, the first number of "3 of 96 values" (or elements), and how many experiments, runs of the
suspect, builds and seconds it took, depend on the machine, and are not compared. A command that shows no output has to succeed; of others, the exit code is not looked at,
as a page does not show it. A block marked `sh` holds commands alone, for the reader to copy: all of it has to succeed.

Left out are blocks that hold WORD, and those that begin with "# not run", which tells the reader, too.
"""
import os
import re
import subprocess
import sys
import tempfile


def first_command(text):
    """The command that a text begins with: a line, with those that it goes on in."""
    heredoc = re.search(r"<<'?(\w+)'?", text.partition("\n")[0])
    return re.match(rf"(?s:.*?)^{heredoc[1]}\n" if heredoc else r"(.*\\\n)*.*\n", text, re.MULTILINE)[0]


def commands(page, left_out):
    """Each command, the lines that it has to say, and whether these are all."""
    for kind, block in re.findall(r"^```(sh|console|)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if block.startswith("# not run") or left_out and left_out in block:
            continue
        if kind == "sh":
            while block:
                command = first_command(block)
                yield command, [], False
                block = block[len(command):]
        elif block.startswith("$ "):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command = first_command(part)
                yield command, part[len(command):].splitlines(), kind == "console"


def masked(line):
    return re.sub(
        r"[0-9]+\.[0-9]+(e[-+][0-9]+)?|[0-9]+(?= of [0-9]+ values)|(?<=elements: )[0-9]+|"
        r"[0-9]+(?= experiments| runs of the suspect| builds| s[,;])", "#", line.rstrip())


def same(shown, said):
    return re.fullmatch(".*".join(re.escape(part) for part in masked(shown).split("…")), masked(said)) is not None


def first_missing(shown, said, whole):
    """The first line of a page that was not said where it should be, or None."""
    at, anywhere = 0, not whole
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        fits = same if whole else lambda line, other: masked(line) in masked(other)
        while anywhere and at < len(said) and not fits(line, said[at]):
            at += 1
        if at == len(said) or not fits(line, said[at]):
            return line
        at, anywhere = at + 1, not whole
    return None if anywhere or at == len(said) else "the end, but: " + said[at]


def run(shown, folder):
    """Exit code and output of each command: files of its number in the folder."""
    script = "".join(
        f"{{\n{command.rstrip()}\n}} >{folder}/{i}.out 2>&1 </dev/null; echo $? >{folder}/{i}.status\n"
        for i, (command, _, _) in enumerate(shown))
    with open(f"{folder}/script", "w", encoding="utf-8") as file:
        file.write(script)
    subprocess.run(["sh", f"{folder}/script"], check=False)
    for i in range(len(shown)):
        if not os.path.exists(f"{folder}/{i}.status"):
            yield 127, "not reached"
            continue
        with open(f"{folder}/{i}.status", encoding="utf-8") as status:
            with open(f"{folder}/{i}.out", encoding="utf-8", errors="replace") as out:
                yield int(status.read()), out.read()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        shown_commands = list(commands(file.read(), (sys.argv[2:] or [None])[0]))
    failures = 0 if shown_commands else 1
    with tempfile.TemporaryDirectory() as folder:
        for (command, shown, whole), (status, said) in zip(shown_commands, run(shown_commands, folder)):
            missing = first_missing(shown, said.splitlines(), whole) if shown else None
            if missing is None and (shown or status == 0):
                continue
            failures += 1
            print(f"{command}exit code {status}" + (f", and not said: {missing}" if missing else ""))
            print(said[-3000:])
    print(f"{sys.argv[1]}: {len(shown_commands)} commands, {failures} failures")
    sys.exit(failures > 0)


main()
