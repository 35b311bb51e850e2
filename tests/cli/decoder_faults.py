#!/usr/bin/env python3
"""decoder_faults.py: a compiler for decoders of tests/models/exported, with faults that show in some steps only.

    python3 decoder_faults.py FAULT MODEL ENGINE

ENGINE is MODEL with other nodes. The prefill of the tests has 16 tokens, so position 15 + N is the one of step N.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "faults"))
import compiler  # noqa: E402
from onnx_file import INT64, Node, constant, field, fields, node, strings  # noqa: E402

POSITIONS, PRESENT = "position_ids", "present.1.value"


def rename(item, edge, old, new):
    """Renames an input (1) or output (2) of a node."""
    parts = fields(item.message)
    item.message = b"".join(field(key, new if key == edge and value == old.encode() else value) for key, value in parts)


def insert(model, position, *nodes):
    model.nodes[position:position] = [Node(node(op_type, inputs, [output], output, **attributes))
                                      for op_type, inputs, output, attributes in nodes]


def read_instead(model, old, new):
    for item in model.readers(old):
        rename(item, 1, old, new)


def has_input(model, name):
    return any(key == 11 and strings(fields(value), 1) == [name] for key, value in model.graph)


def clip_positions(model):
    """A table of 22 positions: the last one is used for all that follow, from step 7 on."""
    if not has_input(model, POSITIONS):
        return
    read_instead(model, POSITIONS, "clipped")
    model.add_constant(constant("last", [], [21], INT64))
    insert(model, 0, ("Min", [POSITIONS, "last"], "clipped", {}))


def shift_positions(model):
    """Positions behind the prefill are one too large."""
    if not has_input(model, POSITIONS):
        return
    read_instead(model, POSITIONS, "shifted")
    model.add_constant(constant("prefill", [], [15], INT64))
    insert(model, 0, ("Greater", [POSITIONS, "prefill"], "is_behind", {}), ("Cast", ["is_behind"], "shift", {"to": INT64}),
           ("Add", [POSITIONS, "shift"], "shifted", {}))


def read_other_layer(model):
    """Layer 1 reads the cache of layer 0."""
    if has_input(model, "past_key_values.0.value"):
        read_instead(model, "past_key_values.1.value", "past_key_values.0.value")


def store_wrongly(model):
    """From step 3 on, values in the cache are stored at one and a half times their size."""
    stored = [i for i, item in enumerate(model.nodes) if PRESENT in item.outputs]
    if not stored or not has_input(model, POSITIONS):
        return
    read_instead(model, PRESENT, "computed")
    rename(model.nodes[stored[0]], 2, PRESENT, "computed")
    model.add_constant(constant("second", [], [17], INT64))
    model.add_constant(constant("half", [], [0.5]))
    model.add_constant(constant("one", [], [1.0]))
    insert(model, stored[0] + 1, ("ReduceMax", [POSITIONS], "position", {"keepdims": 0}),
           ("Greater", ["position", "second"], "is_third", {}), ("Cast", ["is_third"], "third", {"to": 1}),
           ("Mul", ["third", "half"], "more", {}), ("Add", ["more", "one"], "factor", {}),
           ("Mul", ["computed", "factor"], PRESENT, {}))


def add_roots(model):
    """Adds zero times the square root of 21 less the last position to the logits, which is NaN from step 7 on."""
    last = [i for i, item in enumerate(model.nodes) if "logits" in item.outputs]
    if not last or not has_input(model, POSITIONS):
        return
    rename(model.nodes[last[0]], 2, "logits", "computed")
    model.add_constant(constant("last", [], [21], INT64))
    model.add_constant(constant("zero", [], [0.0]))
    insert(model, last[0] + 1, ("ReduceMax", [POSITIONS], "position", {"keepdims": 0}),
           ("Sub", ["last", "position"], "rest", {}), ("Cast", ["rest"], "rest_as_float", {"to": 1}),
           ("Sqrt", ["rest_as_float"], "root", {}), ("Mul", ["root", "zero"], "added", {}),
           ("Add", ["computed", "added"], "logits", {}))


def rename_everything(model):
    """Random words in place of all names: no fault."""
    words, source = {"": ""}, random.Random(11)

    def word(name):
        if name not in words:
            words[name] = "".join(source.choice("bcdfgklmnprstvz") + source.choice("aeiou") for _ in range(4))
        return words[name]

    def renamed(message, keys):
        return b"".join(field(key, word(value.decode()) if key in keys else value) for key, value in fields(message))

    for item in model.nodes:
        item.message = renamed(item.message, (1, 2, 3))
    model.graph = [(key, renamed(value, {5: (8,), 11: (1,), 12: (1,)}[key]) if key in (5, 11, 12) else value)
                   for key, value in model.graph if key not in (13, 14)]


FAULTS = {"clip": clip_positions, "shift": shift_positions, "layer": read_other_layer, "store": store_wrongly,
          "nan": add_roots, "names": rename_everything, "none": lambda model: None}


if __name__ == "__main__":
    compiler.main(FAULTS, __doc__)
