#!/usr/bin/env python3
"""Writes models in which one thing is there many times: growth_models.py KIND COUNT FILE, in the wire format itself.

External data go into files beside FILE.
"""

import os
import struct
import sys

from hostile_models import FLOAT, integer, message, node, tensor

BOOL = 9


def scalars(name, values, extra=b""):
    """An initializer of one dimension."""
    return integer(1, len(values)) + integer(2, FLOAT) + message(8, name) + (extra or message(
        9, struct.pack("<%df" % len(values), *values)))


def model(nodes, inputs=(), outputs=("z",), initializers=(), infos=(), functions=(), domains=()):
    graph = [message(2, "graph")]
    for field, messages in (1, nodes), (5, initializers):
        graph += [message(field, content) for content in messages]
    for field, names in (11, inputs or ["x"]), (12, outputs), (13, infos):
        graph += [message(field, tensor(name, FLOAT, [4])) for name in names]
    imports = message(8, message(1, "") + integer(2, 17))
    imports += b"".join(message(8, message(1, domain) + integer(2, 1)) for domain in domains)
    return integer(1, 8) + message(7, b"".join(graph)) + imports + b"".join(message(25, f) for f in functions)


def names(prefix, count):
    return [prefix + str(i) for i in range(count)]


def chain(operator="Neg", count=0, more=lambda i: [], attributes=b""):
    """Nodes one behind the other, and the names of what lies between."""
    between = ["x"] + names("t", count - 1) + ["z"]
    return [node(operator, [between[i]] + more(i), [between[i + 1]],
                 attributes + message(3, "n%d" % i)) for i in range(count)], between[1:-1]


def nodes(count, folder):
    """A chain."""
    made, between = chain("Neg", count)
    return model(made, infos=between)


def untyped(count, folder):
    """A chain of which nothing says the types."""
    return model(chain("Neg", count)[0])


def unsorted(count, folder):
    """A chain whose last node stands first."""
    made, between = chain("Neg", count)
    return model(made[::-1], infos=between)


def wide(count, folder):
    """A node that reads many inputs."""
    return model([node("Sum", names("x", count), ["z"])], names("x", count))


def inputs(count, folder):
    """Inputs, each with a node of its own, and the sum of them."""
    each = [node("Neg", ["x%d" % i], ["t%d" % i]) for i in range(count)]
    return model(each + [node("Sum", names("t", count), ["z"])], names("x", count), infos=names("t", count))


def unused(count, folder):
    """Inputs that no node reads."""
    return model([node("Neg", ["x"], ["z"])], ["x"] + names("x", count))


def outputs(count, folder):
    """Outputs, each of a node of its own, of one input."""
    return model([node("Neg", ["x"], ["z%d" % i]) for i in range(count)], outputs=names("z", count))


def ends(count, folder):
    """As many inputs as outputs."""
    each = [node("Neg", ["x%d" % i], ["z%d" % i]) for i in range(count)]
    return model(each, names("x", count), names("z", count))


def initializers(count, folder):
    """A chain in which each node has an initializer."""
    made, between = chain("Add", count, lambda i: ["w%d" % i])
    return model(made, infos=between, initializers=[scalars("w%d" % i, [i % 7] * 4) for i in range(count)])


def leftovers(count, folder):
    """Initializers that no node reads."""
    return model([node("Neg", ["x"], ["z"])],
                 initializers=[scalars("w%d" % i, [i % 7] * 4) for i in range(count)])


def external(count, folder):
    """A chain in which each node has an initializer in a file of its own."""
    for i in range(count):
        with open(os.path.join(folder, "w%d.bin" % i), "wb") as out:
            out.write(struct.pack("<4f", *[i % 7] * 4))
    places = [message(13, message(1, "location") + message(2, "w%d.bin" % i)) + integer(14, 1) for i in range(count)]
    made, between = chain("Add", count, lambda i: ["w%d" % i])
    return model(made, infos=between,
                 initializers=[scalars("w%d" % i, [0] * 4, places[i]) for i in range(count)])


def constants(count, folder):
    """Constant nodes, each read by a node of the chain."""
    made, between = chain("Add", count, lambda i: ["w%d" % i])
    value = message(5, message(1, "value") + message(5, scalars("", [1] * 4)) + integer(20, 4))
    both = [part for i in range(count) for part in (node("Constant", [], ["w%d" % i], value), made[i])]
    return model(both, infos=between)


def body(nodes_inside, output):
    inside = b"".join(message(1, content) for content in nodes_inside)
    return inside + message(2, "body") + message(12, tensor(output, FLOAT, [4]))


def branch(condition, output, then, otherwise, name=""):
    attributes = [message(5, message(1, key) + message(6, graph) + integer(20, 5))
                  for key, graph in (("then_branch", then), ("else_branch", otherwise))]
    return node("If", [condition], [output], b"".join(attributes) + message(3, name))


def bodies(count, folder):
    """A chain of Ifs, whose branches have a node each."""
    between = ["x"] + names("t", count - 1) + ["z"]
    made = [branch("c", between[i + 1], body([node("Neg", [between[i]], ["a%d" % i])], "a%d" % i),
                   body([node("Abs", [between[i]], ["b%d" % i])], "b%d" % i), "if%d" % i) for i in range(count)]
    return model_with_condition(made, between[1:-1])


def model_with_condition(made, infos=()):
    graph = [message(2, "graph")] + [message(1, content) for content in made]
    graph += [message(11, tensor("x", FLOAT, [4])), message(11, tensor("c", BOOL, []))]
    graph += [message(12, tensor("z", FLOAT, [4]))] + [message(13, tensor(name, FLOAT, [4])) for name in infos]
    return integer(1, 8) + message(7, b"".join(graph)) + message(8, message(1, "") + integer(2, 17))


def long_body(count, folder):
    """An If with many nodes inside, each of which reads a tensor of the graph outside."""
    inside = [node("Add", ["i%d" % (i - 1) if i else "x", "t%d" % i], ["i%d" % i]) for i in range(count)]
    made, between = chain("Neg", count + 1)
    made = [part.replace(message(2, "z"), message(2, "t%d" % count)) for part in made]
    between.append("t%d" % count)
    made.append(branch("c", "z", body(inside, "i%d" % (count - 1)), body([node("Abs", ["x"], ["b"])], "b"), "if"))
    return model_with_condition(made, between)


def nested(count, folder):
    """Many nodes inside of eight Ifs, of which each lies inside of the one before."""
    inside = [node("Add", ["i%d" % (i - 1) if i else "x", "x"], ["i%d" % i]) for i in range(count)]
    result = "i%d" % (count - 1)
    for i in range(8):
        other = body([node("Abs", ["x"], ["e%d" % i])], "e%d" % i)
        inside, result = [branch("c", "d%d" % i, body(inside, result), other)], "d%d" % i
    return model_with_condition(inside + [node("Neg", [result], ["z"])])


def functions(count, folder):
    """Functions, each called by a node."""
    between = ["x"] + names("t", count - 1) + ["z"]
    made = [node("F%d" % i, [between[i]], [between[i + 1]], message(7, "own")) for i in range(count)]
    inside = message(7, node("Neg", ["a"], ["b"])) + message(9, message(1, "") + integer(2, 17))
    return model(made, infos=between[1:-1], domains=["own"], functions=[
        message(1, "F%d" % i) + message(4, "a") + message(5, "b") + inside + message(10, "own")
        for i in range(count)])


def called(count, folder):
    """Functions that call each other."""
    made = [node("F%d" % (count - 1), ["x"], ["z"], message(7, "own"))]
    imports = message(9, message(1, "") + integer(2, 17)) + message(9, message(1, "own") + integer(2, 1))
    return model(made, domains=["own"], functions=[
        message(1, "F%d" % i) + message(4, "a") + message(5, "b") + imports + message(10, "own") +
        message(7, node("F%d" % (i - 1), ["a"], ["b"], message(7, "own")) if i else node("Neg", ["a"], ["b"]))
        for i in range(count)])


def operators(count, folder):
    """A chain of operators that no runtime knows, no two alike."""
    between = ["x"] + names("t", count - 1) + ["z"]
    return model([node("Op%d" % i, [between[i]], [between[i + 1]], message(7, "own")) for i in range(count)],
                 domains=["own"])


def attributes(count, folder):
    """A node with many attributes."""
    made = node("Op", ["x"], ["z"], message(7, "own") + b"".join(
        message(5, message(1, "a%d" % i) + integer(3, i) + integer(20, 2)) for i in range(count)))
    return model([made], domains=["own"])


def imports(count, folder):
    """Imports of operator sets, from which nothing is used."""
    return model([node("Neg", ["x"], ["z"])], domains=names("own", count))


def twins(count, folder):
    """A chain whose nodes all have the same name."""
    between = ["x"] + names("t", count - 1) + ["z"]
    return model([node("Neg", [between[i]], [between[i + 1]], message(3, "n")) for i in range(count)],
                 infos=between[1:-1])


def split(count, folder):
    """A node with many outputs, and as many that read them."""
    made = [node("Op", ["x"], names("t", count), message(7, "own"))]
    made += [node("Neg", ["t%d" % i], ["z%d" % i]) for i in range(count)]
    return model(made, outputs=names("z", count), domains=["own"], infos=names("t", count))


def fused(count, folder):
    """A chain in which products, sums and activations take turns, so that an engine makes layers of them."""
    made, between = chain("Neg", count, lambda i: [["w"], ["v"], []][i % 3])
    kinds = "MatMul", "Add", "Relu"
    made = [content.replace(message(4, "Neg"), message(4, kinds[i % 3])) for i, content in enumerate(made)]
    square = integer(1, 4) + integer(1, 4) + integer(2, FLOAT) + message(8, "w") + message(
        9, struct.pack("<16f", *[1, 0, 0, 0, 0] * 3 + [1]))
    return model(made, infos=between, initializers=[square, scalars("v", [1] * 4)])


KINDS = {function.__name__: function for function in (
    nodes, untyped, unsorted, wide, inputs, unused, outputs, ends, initializers, leftovers, external, constants, bodies,
    long_body, nested, functions, called, operators, attributes, imports, twins, split, fused)}


def write(kind, count, path):
    content = KINDS[kind](count, os.path.dirname(path) or ".")
    with open(path, "wb") as out:
        out.write(content)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
