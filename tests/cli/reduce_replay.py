#!/usr/bin/python3
"""Reads debug replays by the rules of Polygraphy's decoder: reduce_replay.py PHASES FILE...

Each file has to be what json.dumps(indent=4) writes. Objects are decoded from the inside out; one with a class has to be an
IterationContext with all its members; anything else stays a dictionary, which is never looked at. Then the file is replayed:
for each of the phases, separated by commas, entries are looked up from 0 on, and each has to tell its number of nodes.
Prints the verdicts of each phase.
"""
import json
import sys


class IterationContext:
    def __init__(self, members):
        self.state = members["state"]
        self.iteration_info = members["iteration_info"]
        self.success = members["success"]
        assert isinstance(self.state, dict) and isinstance(self.success, bool)


def decode(members):
    name = members.get("polygraphy_class")
    if name is None:
        return members
    assert name == "IterationContext", f"Could not decode serialized type: {name}"
    return IterationContext(members)


def replay(entries, phase):
    verdicts = ""
    while f"_N{len(verdicts)}_{phase}" in entries:
        context = entries[f"_N{len(verdicts)}_{phase}"]
        assert context.iteration_info["iteration"] == len(verdicts)
        assert context.state["num_nodes"] > 0
        verdicts += "P" if context.success else "F"
    return f"{phase} {verdicts}"


def main():
    for path in sys.argv[2:]:
        with open(path, encoding="ascii") as file:
            content = file.read()
        assert content == json.dumps(json.loads(content), indent=4), f"{path} is laid out differently"
        entries = json.loads(content, object_hook=decode)
        print(*[replay(entries, phase) for phase in sys.argv[1].split(",")])


main()
