# output_files.bats: no output is written over an input, or over another output.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
models=$POLYGRAPHY_ROOT/tests/models

# m.onnx with its weights in w.bin, and inputs and results of another model.
some_files()
{
    reduce_models make external m.onnx w.bin
    reduce_models make weights w.bin
    cp "$models/identity.onnx" plain.onnx
    polygraphy run plain.onnx --onnxrt --save-inputs in.json --save-outputs out.json --silent
    echo 'for me' >notes
    sha256sum m.onnx w.bin plain.onnx in.json out.json notes >sums
}

# keeps TEXT ARGUMENTS...: whether the command is refused with the text, before anything is written.
keeps()
{
    local text=$1 before
    shift
    before=$(find . -type f | sort)
    run --separate-stderr polygraphy "$@"
    [ "$status" -eq 1 ] || {
        echo "status $status: $*"
        return 1
    }
    [[ $stderr == *"$text"* ]] || {
        echo "polygraphy $*: $stderr"
        return 1
    }
    untouched && diff <(echo "$before") <(find . -type f | sort)
}

untouched()
{
    sha256sum --quiet -c sums
}

@test "the model and its data are not written over" {
    some_files
    ln -s m.onnx link.onnx
    ln w.bin hard.bin
    local where
    for where in m.onnx ./m.onnx "$PWD/m.onnx" link.onnx; do
        keeps "'$where' is the model itself, and it would be lost" inspect model m.onnx --log-file "$where"
    done
    keeps "--json: 'm.onnx' is the model itself" inspect sparsity m.onnx --json m.onnx
    keeps 'is the model itself' surgeon sanitize m.onnx -o out.onnx --save-external-data m.onnx
    keeps 'is the model itself' convert m.onnx -o out.onnx --save-external-data m.onnx
    keeps "-o: 'w.bin' is external data of the model" surgeon sanitize m.onnx -o w.bin
    keeps "-o: 'hard.bin' is external data of the model" surgeon sanitize m.onnx -o hard.bin
    keeps "is external data of the model" surgeon sanitize m.onnx -o out.onnx --save-external-data w.bin
    keeps "--output: 'w.bin' is external data of the model" convert m.onnx --output w.bin --convert-to onnx
    keeps "--log-file: 'w.bin' is external data of the model" inspect model m.onnx --log-file w.bin
    keeps 'is external data of the model' run m.onnx --onnxrt --save-outputs w.bin
    keeps 'is the model itself' run m.onnx --onnxrt --save-onnx m.onnx
    keeps 'is the model itself' check lint m.onnx -o m.onnx
    keeps "-o: 'm.onnx' is the model itself" convert m.onnx -o m.onnx --convert-to trt
    mkdir elsewhere
    cp plain.onnx elsewhere/plain.0
    sha256sum elsewhere/plain.0 >>sums
    keeps 'is the model itself' surgeon sanitize elsewhere/plain.0 -o elsewhere/out.onnx --save-external-data plain \
        --no-save-all-tensors-to-one-file
    cp plain.onnx elsewhere/gap.17
    sha256sum elsewhere/gap.17 >>sums
    keeps "'elsewhere/gap.17' is the model itself" surgeon sanitize elsewhere/gap.17 -o elsewhere/out.onnx \
        --save-external-data gap --no-save-all-tensors-to-one-file
}

@test "what a command loads is not written over" {
    some_files
    keeps "--save-inputs: 'in.json' is what --load-inputs reads" run plain.onnx --onnxrt --load-inputs in.json \
        --save-inputs in.json
    keeps "--save-outputs: 'out.json' is what --load-outputs reads" run plain.onnx --onnxrt --load-outputs out.json \
        --save-outputs out.json
    keeps "--save-timing-cache: 'in.json' is what --load-inputs reads" run plain.onnx --trt --load-inputs in.json \
        --save-timing-cache in.json
    keeps "--calibration-cache: 'in.json' is what --load-inputs reads" run plain.onnx --trt --int8 --load-inputs in.json \
        --calibration-cache in.json
    keeps "--save-engine: 'plain.onnx' is the model itself" run plain.onnx --trt --save-engine plain.onnx
    keeps "-o: 'in.json' is what the command reads" data to-input in.json out.json -o in.json
    keeps "--json: 'in.json' is what the command reads" inspect data in.json --json in.json
    keeps "--log-file: 'notes' is what --exclude-list reads" surgeon weight-strip plain.onnx -o stripped.onnx \
        --exclude-list notes --log-file notes
}

@test "debug tools do not lose what they read" {
    some_files
    keeps "--iter-artifact: 'm.onnx' is the model itself, and candidates would replace it" debug reduce m.onnx \
        -o reduced.onnx --iter-artifact m.onnx --check false
    keeps "--artifacts: 'm.onnx' is the model itself, and it would be moved away" debug reduce m.onnx -o reduced.onnx \
        --artifacts m.onnx --check false
    keeps "-o: 'm.onnx' is the model itself" debug reduce m.onnx -o m.onnx --check false
    keeps "--min-good: 'w.bin' is external data of the model" debug reduce m.onnx -o reduced.onnx --min-good w.bin --check false
    keeps "--iter-info: 'in.json' is what --load-inputs reads" debug reduce plain.onnx -o reduced.onnx --load-inputs in.json \
        --iter-info in.json --check false
    cp plain.onnx replay_skip_current.json
    sha256sum replay_skip_current.json >>sums
    keeps 'is the model itself' debug reduce replay_skip_current.json -o reduced.onnx --save-debug-replay replay.json \
        --check false
}

@test "external data of a second model, and what a check names, are not written over" {
    some_files
    mkdir other
    cp "$POLYGRAPHY_ROOT/examples/quantization/quantized.onnx" quantized.onnx
    polygraphy surgeon sanitize "$POLYGRAPHY_ROOT/examples/quantization/float.onnx" -o other/float.onnx --silent \
        --save-external-data weights.bin --external-data-size-threshold 0
    echo 'exit 0' >check.sh
    sha256sum other/* check.sh >>sums
    local option
    for option in --json --report --log-file --save-debug-replay; do
        keeps "$option: 'other/weights.bin' is external data of the model of --float, and it would be lost" \
            debug quantization quantized.onnx --float other/float.onnx $option other/weights.bin
    done
    keeps "--json: 'check.sh' is what --check reads" debug reduce plain.onnx -o reduced.onnx --json check.sh \
        --check "sh ./check.sh {artifact}"
    keeps "-o: 'check.sh' is what --check reads" debug reduce plain.onnx -o check.sh --check sh check.sh
    keeps "-o: 'other/weights.bin' is external data of the model" debug reduce plain.onnx -o other/weights.bin \
        --check polygraphy run other/float.onnx --onnxrt
    keeps "--json: 'check.sh' is what --runner reads" run plain.onnx --runner 'toy=sh check.sh {model} {outputs}' --json check.sh
}

@test "results in a folder do not replace what is read, nor what another has written" {
    local data tool
    some_files
    mkdir weights mine
    cp "$POLYGRAPHY_ROOT/examples/quantization/quantized.onnx" quantized.onnx
    for data in rewritten.onnx golden.json repaired.onnx minimal_golden.json; do
        polygraphy surgeon sanitize quantized.onnx -o "weights/of_$data.onnx" --silent --save-external-data $data \
            --external-data-size-threshold 0
    done
    cp weights/rewritten.onnx weights/values.data
    cp plain.onnx mine/model.onnx
    sha256sum weights/* mine/* >>sums
    keeps "-o: 'weights/rewritten.onnx' is external data of the model, and it would be lost: choose another folder" \
        debug passes weights/of_rewritten.onnx.onnx -o weights --atol 1e-9
    keeps "-o: 'weights/golden.json' is external data of the model" debug passes weights/of_golden.json.onnx -o weights --atol 1e-9
    keeps "-o: 'weights/repaired.onnx' is external data of the model" debug quantization weights/of_repaired.onnx.onnx -o weights --atol 1e-9
    keeps "-o: 'weights/golden.json' is external data of the model of --float" debug quantization plain.onnx \
        --float weights/of_golden.json.onnx -o weights --atol 1e-9
    keeps "-o: 'weights/minimal_golden.json' is external data of the model" debug accuracy \
        weights/of_minimal_golden.json.onnx --onnxrt --trt -o weights
    for tool in passes quantization 'accuracy --onnxrt --trt'; do
        keeps "-o: folder 'mine' contains files that \`polygraphy debug ${tool%% *}\` did not write" \
            debug $tool quantized.onnx -o mine --atol 1e-9
    done
    keeps "-o and --json both write 'made/golden.json'" debug passes quantized.onnx -o made --atol 1e-9 --json made/golden.json
    run --separate-stderr polygraphy debug quantization quantized.onnx -o made --atol 1e-9 --json made/table.json
    worked
    run --separate-stderr polygraphy debug quantization quantized.onnx -o made --atol 1e-9 --json made/table.json
    worked
    keeps "folder 'made' contains files that" debug passes quantized.onnx -o made --atol 1e-9
    untouched
}

@test "two outputs are not written to one place" {
    some_files
    keeps '--save-inputs and --save-outputs both write' run plain.onnx --onnxrt --save-inputs both --save-outputs ./both
    keeps '--log-file and --json both write' inspect sparsity plain.onnx --log-file both --json "$PWD/both"
    ln -s new here
    keeps '--save-inputs and --save-outputs both write' run plain.onnx --onnxrt --save-inputs here --save-outputs new
    keeps '-o and --min-good both write' debug reduce plain.onnx -o both --min-good both --check false
    keeps '-o and --save-external-data both write' surgeon sanitize plain.onnx -o both --save-external-data both
    run --separate-stderr polygraphy run plain.onnx --onnxrt --save-inputs /dev/null --save-outputs /dev/null
    worked
}

@test "external data can be named by an absolute path in the folder of the model, or below it" {
    reduce_models make chain m.onnx -1 400
    mkdir out
    local command
    for command in 'surgeon sanitize m.onnx -o out/new.onnx' 'convert m.onnx -o out/new.onnx' \
        'run m.onnx --onnxrt --save-onnx out/new.onnx'; do
        run --separate-stderr polygraphy $command --save-external-data "$PWD/out/deep/new.bin" \
            --external-data-size-threshold 0
        worked
        [ "$(cd out && find . -type f | sort | paste -sd ' ')" = './deep/new.bin ./new.onnx' ]
        grep -qF deep/new.bin out/new.onnx
        run ! grep -qF "$PWD" out/new.onnx
        mv out moved
        polygraphy run moved/new.onnx --onnxrt --silent
        mv moved out
        rm -r out/*
    done
    run --separate-stderr polygraphy debug reduce m.onnx -o out/reduced.onnx --check \
        "$check_nodes polygraphy_debug.onnx --fail-node n3" --save-external-data "$PWD/out/reduced.bin"
    worked
    [ -s out/reduced.bin ]
    polygraphy run out/reduced.onnx --onnxrt --silent
}

@test "external data outside of the folder of the model are refused before anything is done" {
    some_files
    mkdir out
    local command
    for command in 'surgeon sanitize m.onnx -o out/new.onnx' 'convert m.onnx -o out/new.onnx' \
        'run m.onnx --onnxrt --save-onnx out/new.onnx'; do
        keeps "--save-external-data: external data '$PWD/new.bin' would be outside of '$PWD/out'" \
            $command --save-external-data "$PWD/new.bin"
        run ! grep -q Loading <<<"$output"
        keeps "a name alone, like 'new.bin'" $command --save-external-data ../new.bin
    done
    keeps 'would be outside of' debug reduce m.onnx -o out/new.onnx --save-external-data "$PWD/new.bin" --check false
    keeps 'would be outside of' debug reduce m.onnx --min-good out/new.onnx --save-external-data "$PWD/new.bin" --check false
}

@test "what is no file is named before anything is done" {
    some_files
    mkdir folder.json
    keeps "--save-outputs: cannot write 'folder.json': it is a folder" run plain.onnx --onnxrt --save-outputs folder.json \
        --log-file log
    keeps "--art-dir: 'notes' is no folder" debug repeat --until 1 --art-dir notes --artifacts x --check 'touch ran'
    keeps "--verdict-cache: 'notes' is no folder" debug repeat --until 1 --verdict-cache notes --check 'touch ran'
}

@test "existing files that are none of the inputs are replaced, as ever" {
    some_files
    local again
    for again in 1 2; do
        run --separate-stderr polygraphy run plain.onnx --onnxrt --save-inputs i.json --save-outputs o.json --log-file log
        worked
        run --separate-stderr polygraphy surgeon sanitize m.onnx -o w.onnx --log-file log
        worked
        run --separate-stderr polygraphy debug build plain.onnx --until 1 --save-tactics replay.json --artifacts replay.json \
            --save-timing-cache cache --load-timing-cache cache --check true
        worked
    done
    untouched
}

@test "surgeon and convert may replace the model" {
    some_files
    cp plain.onnx model.onnx
    run --separate-stderr polygraphy surgeon sanitize model.onnx -o model.onnx --save-external-data
    worked
    run --separate-stderr polygraphy convert model.onnx -o ./model.onnx --fp-to-fp16
    worked
    cp m.onnx n.onnx
    run --separate-stderr polygraphy surgeon sanitize n.onnx -o n.onnx
    worked
    polygraphy run n.onnx --onnxrt --silent
    untouched
}

@test "what is removed in the end is not a file of the user's, unless that is meant" {
    some_files
    local option
    for option in --iter-info --iter-artifact; do
        keeps "'notes' already exists, refusing to overwrite" debug reduce plain.onnx -o reduced.onnx $option notes \
            --check 'touch ran'
    done
    keeps "'notes' already exists, refusing to overwrite" debug repeat --until 1 --iter-info notes --check 'touch ran'
    for option in --iter-inputs --iter-golden; do
        keeps "'notes' already exists, refusing to overwrite" debug reduce plain.onnx -o reduced.onnx --mode minimal \
            $option notes --check 'touch ran'
    done
    run --separate-stderr polygraphy debug repeat --until 1 --iter-info notes --force --check 'cp notes seen'
    worked
    grep -q iteration seen
    [ ! -e notes ]
}

@test "the information of an iteration that an earlier session has left is none of the user's files" {
    echo '{"iteration": 3}' >info.json
    repeat --until 1 --iter-info info.json --check 'cp info.json seen'
    worked
    [ "$(tr -d '\n ' <seen)" = '{"iteration":0}' ]
    touch info.json
    repeat --until 1 --iter-info info.json --check true
    worked
}

@test "--force takes the place of a candidate that was left behind" {
    reduce_models make chain model.onnx
    echo left >polygraphy_debug.onnx
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --check ./fails.sh
    refused "'polygraphy_debug.onnx' already exists, refusing to overwrite"
    rm -f "$BATS_TEST_TMPDIR/original"
    reduce model.onnx -o reduced.onnx --force --check ./fails.sh
    worked
    logged "^\[I\] Removing 'polygraphy_debug.onnx', which existed before"
    [ ! -e polygraphy_debug.onnx ]
}

@test "the debug replay of another session is kept beside the new one" {
    echo precious >r.json
    repeat --until 1 --save-debug-replay r.json --check 'touch ran'
    worked
    logged 'The debug replay of an earlier session is kept as r\.json\.old$'
    [ "$(cat r.json.old)" = precious ]
    [ "$(verdicts_in r.json)" = 1 ]
    cp r.json first.json
    repeat --until 2 --save-debug-replay r.json --load-debug-replay r.json --check 'touch ran'
    worked
    [ "$(cat r.json.old)" = precious ]
    repeat --until 2 --save-debug-replay r.json --check 'touch ran'
    worked
    [ "$(verdicts_in r.json.old)" = 2 ]
}
