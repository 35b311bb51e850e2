#!/usr/bin/env python3
"""Compares models with their rewritten versions: python3 tests/support/compare_models.py ORIGINALS WRITTEN.

The arguments are folders; each .onnx file in WRITTEN is compared with that of the same name in ORIGINALS. Both have to
be the same protobuf message but for the order of what has names, and for what nothing in the graph uses or what could
not be used in this format: see canonical(). Exits with 0 when all are equal, 1 when not, 77 without the onnx package.
"""

import difflib
import os
import sys

try:
    import onnx
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def names_in(graph):
    """The names of all tensors that nodes, bodies included, and outputs refer to."""
    names = {output.name for output in graph.output}
    for node in graph.node:
        names.update(node.input, node.output)
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                names.update(names_in(subgraph))
    return names


def replace(repeated, elements):
    copies = [type(element).FromString(element.SerializeToString()) for element in elements]
    del repeated[:]
    repeated.extend(copies)


def sorted_by_bytes(elements):
    return sorted(elements, key=lambda element: element.SerializeToString())


def first_of_each_name(elements):
    found = {}
    for element in elements:
        found.setdefault(element.name, element)
    return list(found.values())


def canonical(path):
    """A model without unused tensors and descriptions, without initializers among the inputs, and each name once."""
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    used = names_in(graph)
    annotations = [e for e in graph.quantization_annotation if e.tensor_name in used]
    for annotation in annotations:
        used.update(entry.value for entry in annotation.quant_parameter_tensor_names)
    initializers = [e for e in first_of_each_name(reversed(graph.initializer)) if e.name in used]
    sparse = [e for e in graph.sparse_initializer if e.values.name in used]
    constants = {e.name for e in graph.initializer} | {e.values.name for e in sparse}
    inputs = [e for e in first_of_each_name(graph.input) if e.name not in constants]
    outputs = first_of_each_name(graph.output)
    described = {e.name for e in inputs} | {e.name for e in outputs}
    infos = [e for e in first_of_each_name(graph.value_info) if e.name in used and e.name not in described]
    replace(graph.quantization_annotation, sorted_by_bytes(annotations))
    replace(graph.initializer, sorted_by_bytes(initializers))
    replace(graph.sparse_initializer, sorted_by_bytes(sparse))
    replace(graph.input, inputs)
    replace(graph.output, outputs)
    replace(graph.value_info, sorted_by_bytes(infos))
    return model


def main():
    originals, written = sys.argv[1:3]
    names = [name for name in sorted(os.listdir(written)) if name.endswith(".onnx")]
    status = 0 if names else 1
    for name in names:
        before, after = (canonical(os.path.join(folder, name)) for folder in (originals, written))
        if before != after:
            lines = (str(message).splitlines() for message in (before, after))
            print("\n".join(difflib.unified_diff(*lines, f"{name}, original", f"{name}, written", lineterm="")))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
