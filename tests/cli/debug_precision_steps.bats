# debug_precision_steps.bats: decoders in lower precision, judged over their steps.

load debug_helper

setup_file()
{
    file_requires_onnxruntime || return 0
    export PATH=$(dirname "$POLYGRAPHY"):$PATH
}

# precise STEPS [OPTION...]: which layers of a decoder that overflows in step 3 need float32?
precise()
{
    /usr/bin/python3 -B "$POLYGRAPHY_ROOT/tests/cli/make_decoder.py" overflow decoder.onnx
    run --separate-stderr polygraphy debug precision decoder.onnx --fp16 --mode minimal --emit onnx --steps "$1" \
        --step-inputs in.json --step-golden golden.json --json result.json "${@:2}" --check polygraphy run \
        polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json --atol 0.1
}

@test "the layer that overflows in step 3 is named, and the step" {
    precise 5 --save-step-inputs step.json
    worked
    logged 'FAILED \| Control: step 3 of the decoder, with all layers in lower precision'
    logged 'PASSED \| Control: step 2 of the decoder, with all layers in lower precision'
    logged 'Evidence: with all layers in lower precision, step 3 of the decoder is the first that fails'
    [ "$(json_value 'it["step"], "scale" in [item["layer"] for item in it["layers"] if not item["saves_casts"]]')" = \
        "(3, True)" ]
    run polygraphy inspect data step.json --show-values
    logged '^ +\[\[18\]\]'
    run polygraphy inspect data in.json
    logged '\(6 iterations\)'
}

@test "steps that all pass need no layer in higher precision" {
    precise 2
    worked
    [ "$(json_value 'it["step"], it["none_needed"]')" = "(None, True)" ]
}

@test "steps need files for the check" {
    run --separate-stderr polygraphy debug precision decoder.onnx --fp16 --steps 2 --check true
    refused '--steps needs --step-inputs in.json and --step-golden golden.json'
    run --separate-stderr polygraphy debug precision decoder.onnx --fp16 --step-inputs in.json --check true
    refused 'no effect without --steps'
}
