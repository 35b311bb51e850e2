#!/usr/bin/env python3
"""make_decoder.py: small decoders with a cache, without weights from anywhere.

    python3 make_decoder.py KIND MODEL

KIND is `overflow`: a decoder whose positions times 3700 exceed float16 from position 18 on, which is step 3 behind a
prefill of 16 tokens; `cross`: a decoder that reads the states of an encoder; or `encoder`: that encoder.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "faults"))
from onnx_file import FLOAT, INT64, constant, field, model, node  # noqa: E402

WORDS, WIDTH = 20, 8


def value(name, dims, element_type=FLOAT):
    """ValueInfoProto with numbers and names as dimensions."""
    shape = b"".join(field(1, field(2 if isinstance(size, str) else 1, size)) for size in dims)
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, shape)))


def matrix(name, rows, columns):
    source = random.Random(name)
    return constant(name, [rows, columns], [source.uniform(-1, 1) for _ in range(rows * columns)])


def decoder(nodes, inputs, constants):
    """Logits of `hidden`, which the nodes compute of `words`, and a cache of the words."""
    nodes = [
        node("Gather", ["table", "input_ids"], ["words"], "embed"),
        node("Concat", ["past.0", "words"], ["present.0"], "append", axis=1),
        node("ReduceMean", ["present.0"], ["mean"], "mean", axes=[1]),
        *nodes,
        node("Add", ["hidden", "mean"], ["mixed"], "mix"),
        node("MatMul", ["mixed", "head"], ["logits"], "project"),
    ]
    inputs = [value("input_ids", ["b", "s"], INT64), value("past.0", ["b", "p", WIDTH]), *inputs]
    outputs = [value("logits", ["b", "s", WORDS]), value("present.0", ["b", "p + s", WIDTH])]
    return model("decoder", nodes, inputs, outputs,
                 [matrix("table", WORDS, WIDTH), matrix("head", WIDTH, WORDS), *constants])


def overflow():
    nodes = [
        node("Cast", ["position_ids"], ["position"], "as_float", to=FLOAT),
        node("Mul", ["position", "large"], ["scaled"], "scale"),
        node("Mul", ["scaled", "small"], ["unscaled"], "unscale"),
        node("Unsqueeze", ["unscaled", "last"], ["column"], "column"),
        node("Add", ["words", "column"], ["hidden"], "add_position"),
    ]
    return decoder(nodes, [value("position_ids", ["b", "s"], INT64)],
                   [constant("large", [], [3700.0]), constant("small", [], [1 / 37000]),
                    constant("last", [1], [2], INT64)])


def cross():
    nodes = [
        node("ReduceMean", ["encoder_hidden_states"], ["context"], "context", axes=[1]),
        node("Add", ["words", "context"], ["hidden"], "add_context"),
    ]
    return decoder(nodes, [value("encoder_hidden_states", ["b", "e", WIDTH])], [])


def encoder():
    nodes = [
        node("Gather", ["table", "input_ids"], ["words"], "embed"),
        node("Tanh", ["words"], ["last_hidden_state"], "squash"),
    ]
    return model("encoder", nodes, [value("input_ids", ["b", "e"], INT64)],
                 [value("last_hidden_state", ["b", "e", WIDTH])], [matrix("table", WORDS, WIDTH)])


KINDS = {"overflow": overflow, "cross": cross, "encoder": encoder}


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    with open(sys.argv[2], "wb") as file:
        file.write(KINDS[sys.argv[1]]())
