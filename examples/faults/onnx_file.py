"""onnx_file.py: as much of the ONNX format as make.py and compiler.py need, without any package.

An ONNX file is a protobuf message: a sequence of fields, each with a number, and a value that is an integer, some bytes,
or a message of its own. https://github.com/onnx/onnx/blob/main/onnx/onnx.proto has the numbers.
"""

import array
import struct

FLOAT, INT64 = 1, 7  # TensorProto.DataType

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # how a field is written


# --- Protobuf ----------------------------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: an int, a float, a str, or bytes (which a message is, too)."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | FIXED32) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else bytes(value)
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a message: pairs of number and value, which is an int or bytes."""
    at, out = 0, []
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        else:
            if kind == BYTES:
                size, at = read_varint(data, at)
            else:
                size = {FIXED64: 8, FIXED32: 4}[kind]
            value, at = data[at : at + size], at + size
            if len(value) != size:
                raise ValueError("the file is cut off")
        out.append((key >> 3, value))
    return out


def strings(message, number):
    return [value.decode() for key, value in message if key == number]


# --- Writing -----------------------------------------------------------------------------------------------------------


def attribute(name, value):
    """AttributeProto of an int, a float, a str, or a list of int."""
    out = field(1, name)
    if isinstance(value, int):
        return out + field(3, value) + field(20, 2)
    if isinstance(value, float):
        return out + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return out + field(4, value) + field(20, 3)
    return out + b"".join(field(8, item) for item in value) + field(20, 7)


def node(op_type, inputs, outputs, name, **attributes):
    """NodeProto."""
    out = b"".join(field(1, item) for item in inputs) + b"".join(field(2, item) for item in outputs)
    out += field(3, name) + field(4, op_type)
    return out + b"".join(field(5, attribute(key, value)) for key, value in attributes.items())


def constant(name, shape, values, element_type=FLOAT):
    """TensorProto with the values in row-major order."""
    data = struct.pack("<%d%s" % (len(values), "f" if element_type == FLOAT else "q"), *values)
    out = b"".join(field(1, size) for size in shape)
    return out + field(2, element_type) + field(8, name) + field(9, data)


def tensor(name, shape, element_type=FLOAT):
    """ValueInfoProto."""
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, dims)))


def model(name, nodes, inputs, outputs, constants, opset=17):
    """ModelProto."""
    graph = b"".join(field(1, item) for item in nodes) + field(2, name)
    graph += b"".join(field(5, item) for item in constants)
    graph += b"".join(field(11, item) for item in inputs) + b"".join(field(12, item) for item in outputs)
    return field(1, 8) + field(2, "examples/faults") + field(7, graph) + field(8, field(1, "") + field(2, opset))


# --- Reading and changing ----------------------------------------------------------------------------------------------


class Node:
    """What compiler.py looks at in a NodeProto."""

    def __init__(self, message):
        parts = fields(message)
        self.message = message
        self.inputs, self.outputs = strings(parts, 1), strings(parts, 2)
        self.name, self.op_type = "".join(strings(parts, 3)), "".join(strings(parts, 4))


class Weight:
    """A constant of the model: a float32 matrix has `values`, whatever else it is does not."""

    def __init__(self, message):
        parts = fields(message)
        self.name = "".join(strings(parts, 8))
        self.shape = []
        for value in (value for key, value in parts if key == 1):
            while isinstance(value, bytes) and value:  # packed, as newer writers do it
                size, length = read_varint(value, 0)
                self.shape.append(size)
                value = value[length:]
            if isinstance(value, int):
                self.shape.append(value)
        data = [value for key, value in parts if key in (4, 9)]  # float_data, raw_data
        self.values = None
        if (2, FLOAT) in parts and len(self.shape) == 2 and len(data) == 1:
            self.values = array.array("f", data[0])


class Model:
    """A model whose nodes can be replaced, and constants added. Everything else stays as it is, byte for byte."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.parts = fields(file.read())
        graph = fields(next(value for key, value in self.parts if key == 7))
        self.graph = [(key, value) for key, value in graph if key != 1]
        self.nodes = [Node(value) for key, value in graph if key == 1]
        self.weights = {weight.name: weight for weight in (Weight(value) for key, value in graph if key == 5)}
        self.outputs = {strings(fields(value), 1)[0] for key, value in graph if key == 12}

    def readers(self, name):
        """The nodes that read a tensor, once for each time that they do."""
        return [item for item in self.nodes for read in item.inputs if read == name]

    def weight_shape(self, name):
        """[] of a tensor that is computed, as of a scalar."""
        return self.weights[name].shape if name in self.weights else []

    def add_constant(self, message):
        self.graph.append((5, message))

    def write(self, path):
        graph = b"".join(field(1, item.message) for item in self.nodes)
        graph += b"".join(field(key, value) for key, value in self.graph)
        with open(path, "wb") as file:
            file.write(b"".join(field(key, graph if key == 7 else value) for key, value in self.parts))
