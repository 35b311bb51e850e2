# written_json.bats: what commands that write a model or data say of it with --json, held against the files.

load debug_helper
load surgeon_helper

# Runs the command with --json said.json and holds that against the models; $own is what the command itself adds.
says()
{
    run polygraphy "$@" --json said.json
    [ "$status" -eq 0 ] || {
        echo "$output"
        return 1
    }
    own=$(/usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/written_json.py" said.json) || {
        echo "$own"
        return 1
    }
}

# own EXPRESSION: of `o`, what the command itself adds, and `log`, what it has printed.
own()
{
    local found
    found=$(OWN=$own LOG=$output /usr/bin/python3 -c "import json, os, re
o = json.loads(os.environ['OWN']); log = os.environ['LOG']
print($1)")
    [ "$found" = "$2" ] || {
        echo "$1: $found"
        return 1
    }
}

@test "sanitize: what was folded, as the log has it" {
    require_onnxruntime
    says surgeon sanitize "$models/foldable.onnx" -o simple.onnx --fold-constants
    own "o['folding']['passes'] == log.count('| Pass')" True
    own "o['folding']['nodes_before'] - o['folding']['nodes_after'] == sum(map(int, re.findall(r'(\d+) Nodes Folded', log)))" True
    own "[o['folding'][k] for k in ('shapes', 'computed', 'casts', 'branches', 'refused')]" '[1, 3, 0, 0, 0]'
    says surgeon sanitize "$models/decided_branch.onnx" -o decided.onnx --fold-constants
    own "o['folding']['branches']" 1
    says surgeon sanitize "$models/dynamic_shapes.onnx" -o clean.onnx --cleanup
    own "o" "{'folding': None, 'simplification': None}"
}

@test "extract and insert: what became of nodes, inputs and outputs" {
    says surgeon extract "$models/reducable.onnx" -o part.onnx --inputs identity_out_0:auto:auto \
        identity_out_2:auto:auto --outputs add_out_4:auto
    own "o" '{}'
    says surgeon insert "$models/reducable.onnx" -o more.onnx --inputs X0 --outputs X0 --op Identity --name new
    own "o['inserted']" "{'name': 'new', 'op': 'Identity', 'inputs': ['X0'], 'outputs': ['X0']}"
}

@test "prune: zeros of each weight, counted before and after" {
    says surgeon prune "$models/sparse_weights.onnx" -o pruned.onnx --save-external-data weights.data \
        --external-data-size-threshold 0
    own "'Pruning %d tensors.' % len(o['pruned']) in log" True
    own "[(w['name'], w['zeros_before'], w['zeros_after']) for w in o['pruned'] if w['zeros_before'] != w['zeros_after']]" \
        "[('dense', 0, 12), ('quantized', 1, 2)]"
    [ "$(/usr/bin/python3 -c 'import numpy, onnx
from onnx import numpy_helper
for t in onnx.load("pruned.onnx").graph.initializer:
    if t.name == "dense": print((numpy_helper.to_array(t) == 0).sum())')" = 12 ]
}

@test "weight-strip and weight-reconstruct: the same weights" {
    says surgeon weight-strip "$models/sparse_weights.onnx" -o stripped.onnx
    own "'Finished stripping %d weights (%d bytes; %d with 2:4 sparsity)' % (len(o['stripped']), o['stripped_bytes'], o['stripped_sparse']) in log" True
    own "sum(w['bytes'] for w in o['stripped']) == o['stripped_bytes'] > 0" True
    cp said.json stripped.json
    says surgeon weight-reconstruct stripped.onnx -o proxies.onnx
    own "'Finished reconstructing %d weights' % len(o['reconstructed']) in log" True
    own "[[w['name'], w['dtype'], w['shape']] for w in o['reconstructed']] == [[w['name'], w['dtype'], w['shape']] for w in json.load(open('stripped.json'))['stripped']]" True
}

@test "convert: what stayed float32 and why; the layers of an engine" {
    require_onnxruntime
    says convert "$models/half_and_bodies.onnx" -o half.onnx --fp-to-fp16 --keep-float32 Relu
    own "'Converted %d nodes to float16; %d others' % (o['float16']['converted'], len(o['float16']['float32'])) in log" True
    own "sorted({n['reason'] for n in o['float16']['float32']})" "['integers', 'kept']"
    says convert "$models/convolutions.onnx" -o conv.engine --fp16 --save-tactics tactics.json
    own "o['builder']" built-in
    own "all(l['tactic'] and l['nodes'] for l in o['layers'])" True
    [ "$(/usr/bin/python3 -c 'import json; w = json.load(open("said.json"))["written"]; print(w["bytes"], w["tactics"])')" = \
        "$(stat -c %s conv.engine) tactics.json" ]
    polygraphy inspect model conv.engine --show layers --json layers.json
    /usr/bin/python3 -c 'import json
said = {l["name"] for l in json.load(open("said.json"))["layers"]}
assert said == {l["name"] for l in json.load(open("layers.json"))["layers"]}, said'
}

@test "data to-input: files, iterations and arrays" {
    require_onnxruntime
    polygraphy run "$models/reducable.onnx" --onnxrt --save-inputs in.json --save-outputs out.json --iterations 2
    polygraphy data to-input in.json out.json -o all.npz --json said.json
    [ "$(/usr/bin/python3 -c 'import json, numpy, os
d = json.load(open("said.json")); z = numpy.load("all.npz")
assert d["written"]["bytes"] == os.path.getsize("all.npz")
said = {str(i) + "/" + a["name"]: (a["dtype"], tuple(a["shape"]))
        for i, arrays in enumerate(d["written"]["iterations"]) for a in arrays}
assert said == {n: (str(z[n].dtype), z[n].shape) for n in z.files}, said
print([(f["path"], f["runners"], f["iterations"]) for f in d["read"]])')" = "[('in.json', 0, 2), ('out.json', 1, 2)]" ]
}

@test "a command that fails leaves what was there" {
    echo earlier >said.json
    run polygraphy surgeon extract "$models/reducable.onnx" -o part.onnx --outputs no_such_tensor:auto --json said.json
    [ "$status" -eq 1 ]
    [ "$(cat said.json)" = earlier ]
    run polygraphy surgeon prune "$models/reducable.onnx" -o x.onnx --json x.onnx
    [ "$status" -eq 1 ]
}
