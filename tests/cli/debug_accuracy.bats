# debug_accuracy.bats: from "it is wrong" to a cause that was seen, in one command.

load debug_helper

bats_require_minimum_version 1.5.0

export POLYGRAPHY_TRT=builtin
attention=$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx

# What a program reads of the result.
result()
{
    python3 -c 'import json, sys
value = json.load(open("result.json"))
for name in sys.argv[1].split("/"):
    value = value[int(name) if isinstance(value, list) else name]
print(value)' "$1"
}

@test "nothing fails: it says how many runs and builds that rests on" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt -o folder --json result.json
    [ "$status" -eq 0 ]
    logged 'Nothing fails: '
    [ "$(result outcome)" = nothing-fails ]
    [ "$(result cause)" = None ]
    [ "$(result builds)" -gt 4 ]
}

@test "a folder of another question, or of somebody else, is refused" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt -o folder --max-checks 1
    [ "$status" -eq 1 ]
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt --fp16 -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *'belongs to a model at another path, to other options'* ]]
    mkdir mine
    echo mine >mine/file
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt -o mine
    [ "$status" -eq 1 ]
    [[ $stderr == *'contains files that `polygraphy debug accuracy` did not write'* ]]
    [ "$(ls mine)" = file ]
}

@test "with a budget that is used up it says what is known so far" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt --fp16 --max-checks 1 -o folder --json result.json
    [ "$status" -eq 1 ]
    logged 'Budget exhausted'
    [ "$(result outcome)" = no-cause ]
}

@test "a deadline ends an experiment in progress" {
    echo 'exec sleep 1000' >slow.sh
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --runner 'sh slow.sh {model} {inputs} {outputs}' \
        --deadline 3 -o folder
    [ "$status" -eq 1 ]
    logged 'Budget exhausted'
    [ -f folder/report.json ]
}

@test "one runner is no question, and an option of none of the two is refused" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *'two runners are compared'* ]]
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --onnxrt --fp16 -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *'--fp16 has no effect without --'* ]]
    [ ! -e folder ]
}

@test "a thing is not compared with itself, and an option that is repeated belongs to the runner in front of it" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --onnxrt-optimization-level none --onnxrt -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *"reference and suspect are the same, '--onnxrt --onnxrt-optimization-level none'"* ]]
    run --separate-stderr polygraphy debug accuracy "$attention" --runner 'a=true {model}' --runner 'b=true {model}' -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *'reference and suspect are the same'* ]]
    [ ! -e folder ]
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --onnxrt-optimization-level none \
        --onnxrt --onnxrt-optimization-level all --builds 1 --runs 1 -o folder --json result.json
    [ "$status" -eq 0 ]
    [[ $(result steps/0/command) == *'--onnxrt-optimization-level none'* ]]
    [[ $(result steps/4/command) == *'--onnxrt-optimization-level all'* ]]
}

@test "a runner that ignores the model is found by a control, whichever of the two it is" {
    local stale="$POLYGRAPHY run stale.onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs} && test -e {model}"
    local right="$POLYGRAPHY run {model} --onnxrt --load-inputs {inputs} --save-outputs {outputs}"
    cp "$attention" stale.onnx
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --runner "$stale" -o folder --json result.json
    [ "$status" -eq 1 ]
    logged "The suspect ignores the model: its outputs are the same for a model in which 'y' is negated"
    logged 'Evidence: outputs for the model and for .* are equal bit for bit'
    [ "$(result outcome)" = no-question ]
    run --separate-stderr polygraphy debug accuracy "$attention" --runner "$stale" --onnxrt -o folder2
    [ "$status" -eq 1 ]
    logged 'The reference ignores the model: '
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --runner "$right" --builds 1 -o folder3
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
}

@test "a cause leaves a report, the minimal case with its data, and a command that fails" {
    run --separate-stderr polygraphy debug accuracy "$attention" --onnxrt --trt --fp16 --atol 0.5 --rtol 0.1 -o folder \
        --json result.json --report page.html
    [ "$status" -eq 0 ]
    logged 'The suspect always fails: 26 of 26 runs of 9 builds'
    logged "Cause: float16 overflow in 'scores' \\(MatMul\\): output 'logits' reaches [0-9]+ \\(max 65504\\)$"
    [ "$(result cause/kind)" = overflow ]
    [ "$(result cause/fix/holds)" = True ]
    [ "$(result outcome)" = cause ]
    [ "$(result cause/nodes/0)" = scores ]
    [ "$(result cause/proven)" = True ]
    grep -q "overflow in 'scores' (MatMul)" folder/report.html
    cmp folder/report.html page.html
    python3 -c 'import json; assert json.load(open("folder/report.json"))["verdict"]["kind"] == "cause"'
    run sh folder/reproduce.sh
    [ "$status" -eq 1 ]
    [[ $output == *"FAILED | Output: 'logits'"* ]]
}

@test "NaN of the model itself is the cause, and an infinity that something takes away is not" {
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/masked_and_negative.onnx" --onnxrt \
        --trt -o folder --json result.json
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = nan ]
    [ "$(result cause/nodes)" = "['log']" ]
    [ "$(result cause/proven)" = True ]
    logged "Cause: the model itself makes it: 'log' \(Log\) makes NaN where 'shifted' is -0\.2$"
    [ "$(result builds)" -eq 0 ]
}

# An output with the infinities of a mask.
make_masked()
{
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
mask = [0.0 if j <= i else float("-inf") for i in range(4) for j in range(4)]
nodes = [node("MatMul", ["x", "w"], ["scores"], "scores"), node("Add", ["scores", "mask"], ["masked"], "causal")]
with open("masked.onnx", "wb") as file:
    file.write(model("masked", nodes, [tensor("x", [4, 4])], [tensor("masked", [4, 4])],
                     [constant("w", [4, 4], [0.5] * 16), constant("mask", [4, 4], mask)]))
END
}

@test "infinities of a mask are no cause: they are compared by position and sign" {
    make_masked
    run --separate-stderr polygraphy debug accuracy masked.onnx --onnxrt --trt --builds 1 --explored-builds 1 -o folder
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
    logged "output 'masked' has 6 infinities in the reference: they are compared by position and sign"
    run --separate-stderr polygraphy debug accuracy masked.onnx --onnxrt --trt --atol 0.1 --builds 1 --explored-builds 1 -o given
    [ "$status" -eq 0 ]
    logged 'Nothing fails'
    run --separate-stderr polygraphy run masked.onnx --onnxrt --trt --onnx-outputs mark all --first-divergence
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy debug passes masked.onnx -o passes
    logged 'nothing to find'
    run polygraphy run masked.onnx --onnxrt --trt # as Polygraphy has it
    [ "$status" -eq 1 ]
}

@test "of NaN in the data no model is to blame" {
    echo '{"x": [[1, 2, NaN, 4], [1, 2, 3, 4]]}' >data.json
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/masked_and_negative.onnx" --onnxrt \
        --trt -o folder --json result.json --load-inputs data.json
    [ "$status" -eq 1 ]
    [ "$(result outcome)" = no-question ]
    [[ $(result answer) == *"input data, in 'x'"* ]]
}

# A network of examples/faults with a plug-in that is at fault.
look_for_fault()
{
    local faults=$BATS_FILE_TMPDIR/faults

    [ -d "$faults" ] || /usr/bin/python3 -B "$POLYGRAPHY_ROOT/examples/faults/make.py" "$faults"
    PATH=$(dirname "$POLYGRAPHY"):$PATH run --separate-stderr polygraphy debug accuracy "$faults/$1.onnx" --onnxrt \
        --trt --plugins "$POLYGRAPHY_TEST_PROGRAMS/../examples/faults/$2" --explored-builds 6 -o folder --json result.json
    [ "$status" -eq 0 ]
}

@test "a tactic that some builds have: it is named, and builds without it pass" {
    look_for_fault tactic unit_length.so
    [ "$(result cause/kind)" = tactic ]
    [ "$(result cause/tactic)" = unit_length:guarded ]
    [ "$(result cause/nodes)" = "['embed/unit']" ]
    [ "$(result cause/fix/options)" = "['--exclude-tactics', 'unit_length:guarded']" ]
    [ "$(result cause/fix/holds)" = True ]
    logged "fails with the tactic 'unit_length:guarded' in 'embed/unit', and passes with 'unit_length:plain' there"
}

@test "runs that differ: the smallest part that does, and its kernel" {
    look_for_fault race running_sum.so
    [ "$(result cause/kind)" = race ]
    [ "$(result cause/tactic)" = running_sum:parallel ]
    [ "$(result cause/nodes)" = "['memory/scan']" ]
    logged 'Evidence: [0-9]* of 30 runs of the minimal case fail'
    logged 'without it no run fails: 60 runs of 6 builds'
    run sh folder/reproduce.sh
    [ "$status" -eq 1 ]
}

@test "a reference whose own optimizations change its outputs is not believed" {
    model=$POLYGRAPHY_ROOT/tests/models/transposed_before_a_vector.onnx
    polygraphy run "$model" --onnxrt --save-outputs golden.json >/dev/null
    run polygraphy run "$model" --onnxrt --onnxrt-optimization-level none --load-outputs golden.json
    [[ $output == *'Difference exceeds tolerance'* ]] || skip 'this version of ONNX Runtime computes it right'
    run --separate-stderr polygraphy debug accuracy "$model" --onnxrt --trt -o folder --json result.json
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = reference ]
    logged 'Evidence: the suspect agrees with these$'
    logged "Cause: '[A-Za-z]*' of the reference changes its outputs"
    logged 'Evidence: debug passes: passes with it disabled and everything else enabled$'
    logged 'the reference is right with --onnxrt-disable-optimizers [A-Za-z]*$'
    [ "$(result cause/nodes)" = "['transpose', 'matmul']" ]
}

@test "what folding constants takes away is a fix" {
    cat >no_gather <<'END'
#!/bin/sh
! grep -q Gather "$1" || exit 1
exec polygraphy run "$1" --model-type onnx --onnxrt --load-inputs "$2" --save-outputs "$3"
END
    chmod +x no_gather
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/foldable.onnx" --onnxrt \
        --runner './no_gather {model} {inputs} {outputs:json}' -o folder --json result.json --builds 1
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = refused ]
    [ "$(result cause/nodes)" = "['columns']" ]
    [ "$(result cause/fix/model)" = folder/folded.onnx ]
    [ "$(result cause/fix/holds)" = True ]
}

@test "small outputs are not taken for right because they are small" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
with open("tiny.onnx", "wb") as file:
    file.write(model("tiny", [node("Mul", ["x", "factor"], ["y"], "scale")], [tensor("x", [4])], [tensor("y", [4])],
                     [constant("factor", [], [1e-6])]))
END
    cat >double.py <<'END'
import struct, sys
with open(sys.argv[1], "rb") as model, open(sys.argv[2], "wb") as engine:
    engine.write(model.read().replace(struct.pack("<f", 1e-6), struct.pack("<f", 2e-6)))
END
    PATH=$(dirname "$POLYGRAPHY"):$PATH run --separate-stderr polygraphy debug accuracy tiny.onnx --onnxrt \
        --runner-build 'toy=/usr/bin/python3 double.py {model} {engine}' --builds 1 --runs 1 -o folder --json result.json \
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}'
    [ "$(result outcome)" != nothing-fails ]
    [ "$(result builds)" -gt 1 ]
    logged 'The suspect always fails'
}

@test "a failure that is gone in one more build is not proven, whatever was found" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
with open("gone.onnx", "wb") as file:
    file.write(model("gone", [node("Mul", ["x", "factor"], ["y"], "scale"), node("Tanh", ["y"], ["z"], "tanh")],
                     [tensor("x", [4])], [tensor("z", [4])], [constant("factor", [], [0.75])]))
END
    # From the minimal case on it is right.
    cat >negate.py <<'END'
import os, struct, sys
right = os.path.exists("folder/minimal_golden.json") and "minimal" not in sys.argv[1]
with open(sys.argv[1], "rb") as model, open(sys.argv[2], "wb") as engine:
    engine.write(model.read().replace(struct.pack("<f", 0.75), struct.pack("<f", 0.75 if right else -0.75)))
END
    run --separate-stderr polygraphy debug accuracy gone.onnx --onnxrt --builds 1 --runs 1 -o folder --json result.json \
        --runner "$POLYGRAPHY run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs}" \
        --runner-build '/usr/bin/python3 negate.py {model} {engine}'
    [ "$status" -eq 1 ]
    logged 'Not reproducible: the whole model failed in all builds, and passes in one more'
    [ "$(result outcome)" = no-cause ]
}

@test "outputs that float16 flushes to 0 fail, however small they are" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
from onnx_file import constant, model, node, tensor
with open("faint.onnx", "wb") as file:
    file.write(model("faint", [node("Mul", ["x", "factor"], ["y"], "scale")], [tensor("x", [8])], [tensor("y", [8])],
                     [constant("factor", [], [1e-9])]))
END
    run --separate-stderr polygraphy debug accuracy faint.onnx --onnxrt --trt --fp16 --builds 1 -o folder --json result.json
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = underflow ]
    [ "$(result cause/nodes)" = "['scale']" ]
    logged "output 'y' is small everywhere"
}

@test "a slice that is lost by its own scale is an output of its own, and integers that differ are counted" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults /usr/bin/python3 -B - <<'END'
from onnx_file import INT64, constant, model, node, tensor
nodes = [node("Mul", ["x", "size"], ["pixels"], "pixels"), node("Mul", ["x", "factor"], ["scores"], "scores"),
         node("Concat", ["pixels", "scores"], ["head"], "head", axis=1)]
with open("head.onnx", "wb") as file:
    file.write(model("head", nodes, [tensor("x", [8, 2])], [tensor("head", [8, 4])],
                     [constant("size", [], [2e6]), constant("factor", [], [0.75])]))
nodes = [node("Mul", ["x", "factor"], ["scores"], "scores"), node("ArgMax", ["scores"], ["class"], "class", axis=1)]
with open("class.onnx", "wb") as file:
    file.write(model("class", nodes, [tensor("x", [64, 2])], [tensor("class", [64, 1], INT64)],
                     [constant("factor", [], [0.75])]))
END
    cat >negate.py <<'END'
import struct, sys
with open(sys.argv[1], "rb") as model, open(sys.argv[2], "wb") as engine:
    engine.write(model.read().replace(struct.pack("<f", 0.75), struct.pack("<f", -0.75)))
END
    local toy="$POLYGRAPHY run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs}"
    run --separate-stderr polygraphy debug accuracy head.onnx --onnxrt --builds 1 --runs 1 -o folder --json result.json \
        --runner "$toy" --runner-build '/usr/bin/python3 negate.py {model} {engine}'
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = node ]
    logged "Cause: 'scores' \\(Mul\\) is computed wrongly"
    logged "output 'head' agrees as a whole, but index [23] of its axis 1, .*: the cause is that of this slice"
    run --separate-stderr polygraphy debug accuracy head.onnx --onnxrt --builds 1 --runs 1 -o given --atol 1000 \
        --runner "$toy" --runner-build '/usr/bin/python3 negate.py {model} {engine}'
    [ "$status" -eq 0 ]
    logged "Nothing fails"
    logged "Not tested: index [23] of axis 1 of output 'head', .* by its own scale"
    run --separate-stderr polygraphy debug accuracy class.onnx --onnxrt --builds 1 --runs 1 -o other \
        --runner "$toy" --runner-build '/usr/bin/python3 negate.py {model} {engine}'
    [ "$status" -eq 0 ]
    logged "output 'class' \\(int64\\): [0-9]+ of 64 elements .* differ"
}

@test "products that saturate are the cause where the processor has them, in the suspect and in the reference" {
    [ -z "${EMULATOR:-}" ] || skip "debug accuracy starts itself without the emulator"
    local plain="'$POLYGRAPHY' run {model} --onnxrt --onnxrt-optimization-level none --load-inputs {inputs} --save-outputs {outputs}"

    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/quantize_models.py" saturating saturating.onnx
    run --separate-stderr polygraphy debug accuracy saturating.onnx --runner "$plain" --onnxrt --val-range [0.8,1] \
        --atol 0.6 --builds 1 --runs 1 -o suspect --json result.json
    [ "$status" -eq 0 ]
    if ! "$POLYGRAPHY_TEST_PROGRAMS/saturates_products"; then
        [ "$(result outcome)" = nothing-fails ]
        return
    fi
    logged "Cause: uint8 x int8 products saturate on this processor \(no VNNI\); fixes: 7-bit weights .*, or int8 activations"
    [ "$(result cause/kind)" = saturation ]
    [ "$(result cause/fix/holds)" = True ]
    run --separate-stderr polygraphy debug accuracy saturating.onnx --onnxrt --runner "$plain" --val-range [0.8,1] \
        --atol 0.6 --builds 1 --runs 1 -o reference --json result.json
    [ "$status" -eq 0 ]
    logged "Evidence: with session.x64quantprecision=1 the reference gives other outputs"
    [ "$(result cause/kind)" = saturation ]
}

@test "external data in another folder reach all experiments" {
    mkdir weights
    polygraphy surgeon sanitize "$attention" -o weights/model.onnx --silent --save-external-data model.data --external-data-size-threshold 0
    mv weights/model.onnx .
    run --separate-stderr polygraphy debug accuracy model.onnx --external-data-dir weights --onnxrt --trt --fp16 --atol 0.5 --rtol 0.1 \
        --explored-builds 0 -o folder --json result.json
    [ "$status" -eq 0 ]
    [ "$(result cause/kind)" = overflow ]
    [ "$(result cause/proven)" = True ]
    [ -f folder/minimal.onnx ]
}

@test "names that are not UTF-8 are refused with a sentence, and stay apart in JSON" {
    LC_ALL=C sed 's/scores/sc\xffres/g; s/logits/lo\xffits/g' "$attention" >model.onnx
    run --separate-stderr polygraphy debug accuracy model.onnx --onnxrt --trt -o folder
    [ "$status" -eq 1 ]
    [[ $stderr == *"is not UTF-8, which ONNX requires"* ]]
    polygraphy run model.onnx --onnxrt --onnx-outputs mark all --save-outputs out.json --silent
    /usr/bin/python3 -c 'import json, os, sys
names = [os.fsencode(name) for name in json.load(open("out.json"))["lst"][0][1][0]["outputs"]]
sys.exit(not (b"lo\xffits" in names and len(set(names)) == len(names)))' || {
        head -c 600 out.json
        false
    }
}

@test "a runner that refuses a model in several places: each is named, and without them the rest runs" {
    cat >refuses.sh <<'END'
! grep -q Conv "$1" || { echo 'no convolutions here' >&2; exit 4; }
exec polygraphy run "$1" --onnxrt --load-inputs "$2" --save-outputs "$3" --silent
END
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" --onnxrt \
        --runner 'sh refuses.sh {model} {inputs} {outputs}' -o folder --json result.json
    [ "$status" -eq 0 ]
    logged "Cause: the suspect does not run 'padded' \\(Conv\\), nor 3 other parts"
    logged "Evidence: neither does it run 'pointwise' "
    logged "with the reference's values for what these 4 parts make the rest runs"
    [ "$(result cause/kind)" = refused ]
}

@test "boxes of a detector are judged as sets, and the node that makes wrong scores is found" {
    cat >softmax.sh <<'SUSPECT'
LC_ALL=C sed 's/Sigmoid/Softmax/g' "$1" >softmax.onnx
exec polygraphy run softmax.onnx --onnxrt --load-inputs "$2" --save-outputs "$3"
SUSPECT
    run --separate-stderr polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/exported/detector.onnx" --onnxrt \
        --runner "sh $PWD/softmax.sh {model} {inputs} {outputs:json}" --input-shapes 'images:[1,3,32,32]' \
        --compare detections -o folder --json result.json
    [ "$status" -eq 0 ]
    logged "Cause: the suspect computes '/Sigmoid' \(Sigmoid\) wrongly"
    logged "output 'selected' has the shape \(0, 3\) in the suspect, \(3, 3\) in the reference$"
    grep -rqh '0 pair(s) match of 0 and 3 detections' folder
}
