"""written_json.py FILE.json: holds what --json says of a model that was read, and of one that was written, against the
files themselves. Prints what is left for the test to judge: the members that the command itself has added."""
import json
import os
import sys

import onnx


def fail(what, said, found):
    sys.exit(f"{what}: the file says {said!r}, the model has {found!r}")


def expect(what, said, found):
    if said != found:
        fail(what, said, found)


def dimension(dim):
    return dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None


def shape(info):
    tensor = info.type.tensor_type
    return [dimension(d) for d in tensor.shape.dim] if tensor.HasField("shape") else None


def describe(info):
    dtype = onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type).lower()
    return {"name": info.name, "dtype": {"float": "float32", "double": "float64"}.get(dtype, dtype), "shape": shape(info)}


def compare_description(said, model, path):
    graph = model.graph
    weights = {t.name for t in graph.initializer}
    locations = sorted({e.value for t in graph.initializer for e in t.external_data if e.key == "location"})
    folder = os.path.dirname(os.path.abspath(path))

    expect("bytes", said["bytes"], os.path.getsize(path))
    expect("opset", said["opset"], next(o.version for o in model.opset_import if o.domain == ""))
    expect("nodes", said["nodes"], len(graph.node))
    expect("initializers", said["initializers"], len(graph.initializer))
    expect("inputs", said["inputs"], [describe(i) for i in graph.input if i.name not in weights])
    expect("outputs", said["outputs"], [describe(o) for o in graph.output])
    expect("external data", sorted((e["location"], e["bytes"]) for e in said["external_data"]),
           [(l, os.path.getsize(os.path.join(folder, l))) for l in locations])


def nodes_by_output(model):
    return {n.output[0]: n for n in model.graph.node}


def compare_changes(said, read, written):
    before, after = nodes_by_output(read), nodes_by_output(written)
    weights_before = {t.name: t for t in read.graph.initializer}
    weights_after = {t.name: t for t in written.graph.initializer}

    def operators(model, outputs):
        return [n.op_type for n in model.graph.node if n.output[0] in outputs]

    expect("removed", [n["op"] for n in said["nodes_removed"]], operators(read, before.keys() - after.keys()))
    expect("added", [n["op"] for n in said["nodes_added"]], operators(written, after.keys() - before.keys()))
    rewritten = {o for o in before.keys() & after.keys() if before[o] != after[o]}
    expect("rewritten", [n["op"] for n in said["nodes_rewritten"]], operators(written, rewritten))
    expect("weights removed", set(said["initializers_removed"]), weights_before.keys() - weights_after.keys())
    expect("weights added", set(said["initializers_added"]), weights_after.keys() - weights_before.keys())
    expect("weights rewritten", set(said["initializers_rewritten"]),
           {n for n in weights_before.keys() & weights_after.keys() if weights_before[n] != weights_after[n]})

    def fixed(model):
        infos = list(model.graph.input) + list(model.graph.output) + list(model.graph.value_info)
        return {i.name for i in infos if shape(i) is not None and all(isinstance(d, int) for d in shape(i))}

    expect("shapes", set(said["shapes_fixed"]), fixed(written) - fixed(read) - weights_after.keys())


said = json.load(open(sys.argv[1]))
read_path = said["read"]["path"]
read = onnx.load(read_path, load_external_data=False)
compare_description(said["read"], read, read_path)
if "changes" in said:
    written = onnx.load(said["written"]["path"], load_external_data=False)
    compare_description(said["written"], written, said["written"]["path"])
    compare_changes(said["changes"], read, written)
print(json.dumps({k: v for k, v in said.items() if k not in ("command", "read", "written", "changes")}))
