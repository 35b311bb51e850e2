# run_steps.bats: decoders that are run as they are used: a prefill, then one token in each step.

load debug_helper

export POLYGRAPHY_TRT=builtin
exported=$POLYGRAPHY_ROOT/tests/models/exported
decoder=$exported/decoder_legacy.onnx

arrays()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" "$@"
}

setup_file()
{
    file_requires_onnxruntime || return 0
    export PATH=$(dirname "$POLYGRAPHY"):$PATH
}

compiler()
{
    /usr/bin/python3 -B "$POLYGRAPHY_ROOT/tests/cli/decoder_faults.py" "$@"
}

# ONNX Runtime and a runner that has the fault $1.
compare()
{
    run polygraphy run "$decoder" --onnxrt --steps 8 --atol 1e-4 --rtol 1e-4 --json result.json "${@:2}" \
        --runner-build "toy=/usr/bin/python3 -B $POLYGRAPHY_ROOT/tests/cli/decoder_faults.py $1 {model} {engine}" --runner \
        'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}'
}

failed()
{
    [ "$status" -eq 1 ]
}

@test "every exported decoder runs in steps on both runners, without inputs" {
    for model in decoder_dynamo decoder_legacy gpt2_legacy genai_int4 t5_decoder; do
        echo "$model"
        run polygraphy run "$exported/$model.onnx" --onnxrt --trt --steps 8 --atol 1e-4 --rtol 1e-4
        worked
        logged 'Passed: 9/9 iterations'
    done
}

@test "caches are paired by the graph where names are random words, and the steps are the same" {
    for model in decoder_dynamo decoder_legacy genai_int4 t5_decoder; do
        echo "$model"
        compiler names "$exported/$model.onnx" words.onnx
        run polygraphy run "$exported/$model.onnx" --onnxrt --steps 3 --json result.json
        worked
        logged '4 cache\(s\), by name: '
        tokens=$(json_value '[step["tokens"] for step in it["steps"]["steps"]]')
        run polygraphy run words.onnx --onnxrt --steps 3 --json result.json
        worked
        logged '4 cache\(s\), by the graph: '
        not_logged 'Decoder: .*by name'
        [ "$(json_value '[step["tokens"] for step in it["steps"]["steps"]]')" = "$tokens" ]
        [ "$(json_value '{item["paired"] for item in it["steps"]["inputs"] if item["role"] == "cache"}')" = "{'by the graph'}" ]
    done
}

@test "a name that the graph contradicts is a warning" {
    compiler layer "$decoder" other.onnx
    run polygraphy run other.onnx --onnxrt --steps 2
    worked
    logged "Output 'present.1.value' is the cache 'past_key_values.1.value' by name, but the graph computes it from 'past_key_values.0.value'"
    run polygraphy run "$decoder" --onnxrt --steps 2
    not_logged 'the graph computes it'
}

@test "the last step computes what a single prefill with all tokens computes" {
    polygraphy run "$decoder" --onnxrt --steps 5 --save-outputs out.json --json result.json
    tokens=$(json_value 'sum((step["tokens"] for step in it["steps"]["steps"]), [])')
    [ "$(json_value '[len(step["tokens"]) for step in it["steps"]["steps"]]')" = "[16, 1, 1, 1, 1, 1]" ]
    feeds whole.json "[{'input_ids': array([$tokens]), 'attention_mask': ones((1, 21), int64),
        'position_ids': arange(21)[None],
        **{f'past_key_values.{i}.{kind}': zeros((1, 2, 0, 4), float32) for i in (0, 1) for kind in ('key', 'value')}}]"
    polygraphy run "$decoder" --onnxrt --load-inputs whole.json --save-outputs whole_out.json
    arrays show out.json >steps.txt
    arrays show whole_out.json >whole.txt
    /usr/bin/python3 - <<'END'
from ast import literal_eval
def read(path, iteration):
    rows = (line.split(" ", 4) for line in open(path))
    return {name: literal_eval(values) for _, index, name, _, values in rows if index == iteration}
step, whole = read("steps.txt", "5"), read("whole.txt", "0")
assert max(abs(a - b) for a, b in zip(step["logits"][0][-1], whole["logits"][0][-1])) < 1e-5
assert len(step["present.1.key"][0][0]) == len(whole["present.1.key"][0][0]) == 21
END
}

@test "a table of positions that is too short shows in step 7, and its reader is named" {
    compare clip --first-divergence --save-step-inputs step.json
    failed
    logged "First failing step: 7 \| Outputs: \['present.0.key', 'present.1.key'\] \| Failing steps: 7, 8$"
    logged 'The difference enters in step 7: with the caches of the reference step 7 fails, too'
    logged 'Tensors inside the model are compared with the inputs of step 7'
    logged "First divergence: node '/model/model/rotary_emb/Unsqueeze'"
    [ "$(json_value 'it["steps"]["first_failing"], it["steps"]["entered"]')" = "(7, 7)" ]
    [ "$(json_value '[step["passed"] for step in it["steps"]["steps"]]')" = \
        "[True, True, True, True, True, True, True, False, False]" ]
    [ "$(json_value 'it["first_divergence"]["nodes"][0]["node"]["operator"]')" = Unsqueeze ]
    compiler clip "$decoder" bad.onnx
    polygraphy run bad.onnx --onnxrt --load-inputs step.json --save-outputs bad.json
    run polygraphy run "$decoder" --onnxrt --load-inputs step.json --load-outputs bad.json --atol 1e-4 --rtol 1e-4
    failed
    logged "Mismatched outputs: \['present.0.key', 'present.1.key'\]"
}

@test "positions behind the prefill that are off by one show in step 1" {
    compare shift --first-divergence
    failed
    logged 'First failing step: 1 '
    logged 'The difference enters in step 1'
    logged "First divergence: node '/model/model/rotary_emb/Unsqueeze'"
}

@test "a cache of the wrong layer shows in step 1, and its reader is named" {
    compare layer --first-divergence
    failed
    logged "First failing step: 1 \| Outputs: \['logits', 'present.1.value'\]"
    logged "First divergence: node '/model/model/layers.1/self_attn/Concat_6'"
}

@test "a cache that is stored wrongly in step 3 fails in step 4, and is inherited through this cache" {
    compare store --ignore-outputs 'present*'
    failed
    logged "First failing step: 4 \| Outputs: \['logits'\]"
    logged 'The difference enters in step 3, and is inherited through the caches'
    logged "Caches that carry it, .*: \['present.1.value'\]$"
    [ "$(json_value '[item["name"] for item in it["steps"]["inputs"] if item["carries"]]')" = \
        "['past_key_values.1.value']" ]
    compare store
    failed
    logged "First failing step: 3 \| Outputs: \['present.1.value'\]"
}

@test "a runner without a fault passes, and a file of an earlier run is removed" {
    touch step.json
    compare none --save-step-inputs step.json --first-divergence
    worked
    logged "No step fails: 'step.json' is not written, and the file of an earlier run is removed"
    logged 'No step fails: tensors inside the model are not compared'
    [ ! -e step.json ]
    [ "$(json_value 'it["steps"]["first_failing"], it["first_divergence"]')" = "(None, None)" ]
}

@test "the first step with NaN is named, and the node that makes it" {
    compiler nan "$decoder" nan.onnx
    run polygraphy run nan.onnx --onnxrt --steps 8 --validate --first-divergence
    failed
    logged "First failing step: 7 \| Outputs: \['logits'\] \| Failing steps: 7$"
    logged "First NaN or infinity: node 'root' \(Sqrt\)"
}

@test "results of another run are compared with its tokens only" {
    polygraphy run "$decoder" --onnxrt --steps 8 --save-inputs in.json
    compiler clip "$decoder" bad.onnx
    polygraphy run bad.onnx --onnxrt --steps 8 --load-inputs in.json --onnx-outputs mark all --save-outputs bad.json
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 8 --load-outputs bad.json
    refused 'needs the tokens with which those results were computed'
    run polygraphy run "$decoder" --onnxrt --steps 8 --load-inputs in.json --load-outputs bad.json --first-divergence \
        --atol 1e-4 --rtol 1e-4
    failed
    logged 'First failing step: 7 '
    logged 'Whether the difference enters in step 7 or in its caches is not known'
    logged "First divergence: node '/model/model/rotary_emb/Unsqueeze'"
}

@test "tokens of --load-inputs replace those that the reference prefers" {
    polygraphy run "$decoder" --onnxrt --steps 2 --save-inputs in.json --json result.json
    [ "$(json_value 'it["steps"]["steps"][1]["tokens"]')" = "[32]" ]
    own=$(json_value '[step["tokens"] for step in it["steps"]["steps"]]')
    polygraphy run "$exported/decoder_dynamo.onnx" --onnxrt --steps 2 --seed 5 --save-inputs other.json --json result.json
    other=$(json_value '[step["tokens"] for step in it["steps"]["steps"]]')
    run polygraphy run "$decoder" --onnxrt --steps 2 --load-inputs other.json --save-inputs again.json --json result.json
    worked
    logged 'Tokens of steps 1 to 2, from --load-inputs'
    [ "$(json_value '[step["tokens"] for step in it["steps"]["steps"]]')" = "$other" ]
    [ "$other" != "$own" ]
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 3 --load-inputs other.json
    refused '--load-inputs has 3 iterations, and the prefill with 3 steps needs 4'
}

decoder_file()
{
    /usr/bin/python3 -B "$POLYGRAPHY_ROOT/tests/cli/make_decoder.py" "$1" "$1.onnx"
}

@test "the encoder in another file runs once, and its outputs are inputs of every step" {
    decoder_file cross
    decoder_file encoder
    polygraphy run encoder.onnx --onnxrt --seed 3 --input-shapes 'input_ids:[1,7]' --save-inputs sentence.json --save-outputs states.json
    run polygraphy run cross.onnx --onnxrt --trt --steps 3 --encoder encoder.onnx --encoder-inputs sentence.json \
        --save-inputs in.json
    worked
    logged "Encoder: input 'encoder_hidden_states' of the decoder gets 'last_hidden_state'"
    logged 'Passed: 4/4 iterations'
    /usr/bin/python3 - <<'END'
import json
states = json.load(open("states.json"))["lst"][0][1][0]["outputs"]["last_hidden_state"]["values"]["array"]
fed = [step["encoder_hidden_states"]["array"] for step in json.load(open("in.json"))]
assert fed == [states] * 4, fed
END
}

@test "outputs of an encoder are paired by hand, and data of the decoder are loaded without them" {
    decoder_file cross
    decoder_file encoder
    run polygraphy run cross.onnx --onnxrt --steps 2 --encoder encoder.onnx \
        --encoder-outputs last_hidden_state:encoder_hidden_states
    worked
    feeds prefill.json "[{'input_ids': array([[1, 2]]), 'past.0': zeros((1, 0, 8), float32)}]"
    run polygraphy run cross.onnx --onnxrt --steps 2 --encoder encoder.onnx --load-inputs prefill.json
    worked
    run --separate-stderr polygraphy run cross.onnx --onnxrt --steps 2 --encoder encoder.onnx --encoder-outputs words:logits
    refused "'words:logits' is not OUTPUT:INPUT"
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 2 --encoder encoder.onnx
    refused 'no output of the encoder is known to be an input of the decoder'
    run --separate-stderr polygraphy run cross.onnx --onnxrt --steps 2 --encoder-inputs in.json
    refused '--encoder-inputs has no effect without --encoder'
}

@test "what is not known about a decoder is an error with the option that says it" {
    run --separate-stderr polygraphy run "$exported/experts.onnx" --onnxrt --steps 2
    refused '--cache past_key_values.0.key:present.0.key'
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 2 --cache past_key_values.0.key:logits
    refused "cannot get output 'logits'"
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 2 --step-roles position_ids:wheels
    refused "'position_ids:wheels' is not INPUT:ROLE"
    run --separate-stderr polygraphy run "$decoder" --onnxrt --save-step-inputs in.json
    refused 'no effect without --steps'
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 2 --iterations 2
    refused '--iterations is not supported with --steps'
    run --separate-stderr polygraphy run "$decoder" --onnxrt --steps 0
    refused '--steps: 0 is less than 1'
}

# study FAULT STEPS [OPTION...]: debug accuracy with ONNX Runtime and a runner that has the fault.
study()
{
    run polygraphy debug accuracy "$decoder" --onnxrt --runner-build \
        "toy=/usr/bin/python3 -B $POLYGRAPHY_ROOT/tests/cli/decoder_faults.py $1 {model} {engine}" --runner \
        'toy=polygraphy run {engine} --model-type onnx --onnxrt --load-inputs {inputs} --save-outputs {outputs:json}' \
        --steps "$2" --json result.json -o "$1" "${@:3}"
}

@test "debug accuracy studies the step that fails, and has other data if none does" {
    study clip 8 --save-step-inputs step.json --atol 1e-4 --rtol 1e-4 --max-checks 2
    failed
    logged 'First failing step: 7 '
    logged 'The difference enters in step 7'
    cmp step.json clip/inputs.json
    study none 2 --save-step-inputs step.json --atol 1e-4 --rtol 1e-4 --max-checks 2
    logged 'No step fails: the input data are those without --steps'
    [ ! -e step.json ]
    run polygraphy debug accuracy "$exported/experts.onnx" --onnxrt --trt --steps 2 -o experts
    failed
    logged "the steps of the decoder could not be compared: no input 'past...' has an output"
}

@test "debug accuracy derives the tolerance of the steps, and blames the node that reads the positions" {
    study clip 8
    worked
    grep -qE '^\$ polygraphy run .*decoder_legacy.onnx .*--norm-tolerance [0-9.e-]+ .*--steps 8 --save-step-inputs' \
        clip/steps/01-decoder-steps/log.txt
    logged "^\[I\] Cause: '/model/model/rotary_emb/Unsqueeze' \(Unsqueeze\)"
    cmp clip/steps/01-decoder-steps/step.json clip/inputs.json
}

@test "each command of docs/decoders.md says what the page shows" {
    ln -s "$POLYGRAPHY_ROOT/tests" "$POLYGRAPHY_ROOT/examples" .
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/docs/decoders.md"
}
