#!/usr/bin/python3
"""Runs programs on a terminal, and tells what was to be seen there.

    terminal.py run RECORD [COLUMNS=80] [INTERRUPT=TEXT[:TIMES]] -- COMMAND...   ends as the command does; a signal N is -N
    terminal.py screen RECORD            what stands on the screen in the end, scrolled-off lines included
    terminal.py lines RECORD             every state of a progress line, one a line
    terminal.py rate RECORD              its drawings per second

With INTERRUPT, Ctrl-C is typed when TEXT has appeared, so many TIMES.
"""
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
import time

# A program takes two Ctrl-C for one as long as they are no further apart than fingers could type them.
SECONDS_BETWEEN_KEYS = 0.3


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux, when all programs have closed their side
        return b""


def keep_what_was_written():
    """Else Ctrl-C throws away what is on its way to the terminal, and how much that is nobody knows."""
    attributes = termios.tcgetattr(0)
    attributes[3] |= termios.NOFLSH
    termios.tcsetattr(0, termios.TCSANOW, attributes)


def run(path, *arguments):
    split = arguments.index("--")
    options = dict(argument.split("=", 1) for argument in arguments[:split])
    command = arguments[split + 1:]
    text, _, times = options.get("INTERRUPT", "").partition(":")
    times = int(times or 1) if text else 0

    begun = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(options.get("COLUMNS", 80)), 0, 0))
        keep_what_was_written()
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    output = b""
    while data := read(terminal):
        output += data
        while times and text.encode() in output:
            times -= 1
            os.write(terminal, b"\x03")
            if times:
                time.sleep(SECONDS_BETWEEN_KEYS)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(path, "w") as file:
        json.dump({"output": output.decode(), "seconds": time.monotonic() - begun}, file)
    print(status)


def load(path):
    with open(path) as file:
        return json.load(file)


def screen(path):
    rows, column = [""], 0
    for token in re.findall(r"\x1b\[[0-9;]*[a-zA-Z]|.", load(path)["output"], re.DOTALL):
        if token == "\r":
            column = 0
        elif token == "\n":
            rows.append("")
        elif token == "\x1b[K":
            rows[-1] = rows[-1][:column]
        elif token.startswith("\x1b["):
            assert token.endswith("m"), f"what is {token!r}?"
        else:
            rows[-1] = rows[-1][:column].ljust(column) + token + rows[-1][column + 1:]
            column += 1
    print("\n".join(rows).rstrip("\n"))


def drawn(path):
    """A progress line is all that a carriage return and an erasure surround."""
    return [text for text in re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", load(path)["output"])]


def lines(path):
    previous = None
    for line in drawn(path):
        if line != previous:
            print(line)
        previous = line


def rate(path):
    print(len(drawn(path)) / load(path)["seconds"])


if __name__ == "__main__":
    {"run": run, "screen": screen, "lines": lines, "rate": rate}[sys.argv[1]](*sys.argv[2:])
