#!/usr/bin/python3
"""Writes and shows arrays for tests of `run`.

    arrays.py feeds FILE '[{"x": f32([1, 2])}]'                   input data: one dictionary for each iteration
    arrays.py results FILE '[("A", [{"y": f32([nan])}])]'         results: runners with a name and iterations
    arrays.py show FILE                                           the outputs in a results file, one to a line

The expressions are Python with NumPy's names, and f32() for float32 arrays.
"""
import base64
import io
import json
import sys

import numpy


def encode(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray"}


def iteration(name, outputs):
    values = {key: {"values": encode(array), "polygraphy_class": "LazyArray"} for key, array in outputs.items()}
    return {"outputs": values, "runtime": 0.1, "runner_name": name, "polygraphy_class": "IterationResult"}


def show(path):
    with open(path, encoding="utf-8") as file:
        runners = json.load(file)["lst"]
    for number, (_, iterations) in enumerate(runners):
        for index, result in enumerate(iterations):
            for name, output in result["outputs"].items():
                array = numpy.load(io.BytesIO(base64.b64decode(output["values"]["array"])))
                print(f"{number} {index} {name} {array.dtype} {array.tolist()}")


def main():
    kind, path = sys.argv[1:3]
    if kind == "show":
        show(path)
        return
    names = {**vars(numpy), "f32": lambda values: numpy.array(values, numpy.float32)}
    value = eval(sys.argv[3], names)
    if kind == "feeds":
        content = [{name: encode(array) for name, array in feed.items()} for feed in value]
    else:
        runners = [[name, [iteration(name, outputs) for outputs in iterations]] for name, iterations in value]
        content = {"lst": runners, "polygraphy_class": "RunResults"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=4)


main()
