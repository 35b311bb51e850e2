# polygraphy.bats: what all tools share: help, version, refusals, log options, standard streams, the lines around a command.

load debug_helper

# Whether the tool ended with status 2, having written nothing but a usage line and one line with the text.
refused_with_usage()
{
    [ "$status" -eq 2 ] && [ -z "$output" ] || {
        echo "status $status; $output"
        return 1
    }
    [[ $stderr == 'usage: polygraphy'*$'\n'"$1" && $(wc -l <<<"$stderr") -eq 2 ]] || {
        echo "standard error: $stderr"
        return 1
    }
}

@test "-v and --version before the tool show the version" {
    for option in -v --version; do
        run --separate-stderr polygraphy "$option"
        [ "$status" -eq 0 ]
        [[ $output =~ ^Polygraphy\ \|\ Version:\ [0-9]+\.[0-9]+\.[0-9]+\ .*\ \|\ Path:\ \[\'/.*polygraphy\'\]$ ]]
        [ -z "$stderr" ]
    done
}

@test "what Polygraphy has and this program has not is refused with what to do instead" {
    local model=$POLYGRAPHY_ROOT/tests/models/identity.onnx
    for words in 'template trt-network' 'plugin match' 'multi-device'; do
        run --separate-stderr polygraphy $words model.onnx --anything
        [ "$status" -eq 2 ]
        [[ $stderr == 'usage: polygraphy'*"polygraphy: error: '${words%% *}' is not supported: "*'`polygraphy surgeon'* ]]
    done
    for words in 'run --tf' 'run --pluginref' 'run --onnxrt --tf-outputs a' 'run --onnxrt --xla' 'convert -o x.onnx --opset 13' \
        'inspect model --ckpt x'; do
        run --separate-stderr polygraphy $words -- "$model"
        [ "$status" -eq 1 ]
        [[ $stderr == '[!] --'*': '*'--load-outputs'* ]]
    done
    run --separate-stderr polygraphy run "$model" --trt --trt-npps script.py
    [[ $stderr == '[!] --trt-npps: Python scripts are not run; set precisions with --layer-precisions LAYER:TYPE and --precision-constraints obey, '* ]]
}

@test "what is offered instead of scripts and TensorFlow works" {
    cp "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" model.onnx
    polygraphy run model.onnx --onnxrt >/dev/null 2>&1 || skip "ONNX Runtime is not there"
    # A precision for a layer, a type for an output, in place of --trt-network-postprocess-script.
    polygraphy run model.onnx --trt --fp16 --layer-precisions padded:float32 --precision-constraints obey \
        --trt-outputs y --tensor-dtypes y:float32
    polygraphy convert model.onnx -o model.engine
    polygraphy inspect model model.engine
    # A node in the place of several, in place of `plugin`; a part, in place of `multi-device`.
    polygraphy surgeon insert model.onnx -o plugged.onnx --inputs x --outputs y --op Plug
    polygraphy inspect model plugged.onnx --show layers | grep -q '\[Op: Plug\]'
    polygraphy surgeon extract model.onnx -o part.onnx --inputs x:auto:auto --outputs t2:auto
    polygraphy run part.onnx --onnxrt
    # Data of a script, results of another framework: safetensors as Python writes them.
    /usr/bin/python3 - <<'END'
import json, struct
for name, tensor in ("in", "x"), ("out", "y"):
    header = json.dumps({tensor: {"dtype": "F32", "shape": [1, 1, 2, 2], "data_offsets": [0, 16]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(name + ".safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4))
END
    polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt --load-inputs in.safetensors \
        --load-outputs out.safetensors
}

@test "every tool and subtool has help" {
    for words in '' debug 'debug reduce' 'debug repeat' run; do
        run --separate-stderr polygraphy $words --help
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [[ ${lines[0]} == "usage: polygraphy ${words:+$words }[options]"* ]]
        logged '^Example:$'
    done
    logged '^[0-9]+ more options: polygraphy run --help-all$'
    run polygraphy run --help-all
    [ "$status" -eq 0 ]
    logged '^TensorRT only:$'
    not_logged 'more options'
}

@test "help COMMAND shows all that its --help-all shows, and refuses what is no command" {
    for words in run 'debug reduce' surgeon help; do
        [ "$(polygraphy help $words)" = "$(polygraphy $words --help-all)" ]
    done
    [ "$(polygraphy help)" = "$(polygraphy --help)" ]
    run --separate-stderr polygraphy help debug reduse
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '*"'reduse'"*"'reduce'"* ]]
    [ -z "$output" ]
    run --separate-stderr polygraphy help run model.onnx
    [ "$status" -eq 1 ]
    [[ $stderr == "[!] 'model.onnx' is not a subcommand of \`polygraphy run\`, "* ]]
}

@test "help fits the terminal" {
    for width in 60 80 100; do
        COLUMNS=$width run polygraphy debug reduce --help-all
        # Examples are there to be copied, and are not broken.
        output=$(sed '/^Example:/,$d' <<<"$output")
        not_logged ".{$((width + 1))}"
    done
}

@test "polygraphy alone shows its help and is refused" {
    run polygraphy
    [ "$status" -eq 2 ]
    logged '^usage: polygraphy'
    logged '^  debug  '
}

@test "command lines that make no sense get a usage line, one sentence and status 2" {
    run --separate-stderr polygraphy debug
    refused_with_usage 'polygraphy debug: error: the following arguments are required: subtool'
    run --separate-stderr polygraphy data input
    refused_with_usage "polygraphy data: error: argument subtool: invalid choice: 'input' (choose from 'generate', 'merge', 'concat', 'to-input'); did you mean 'to-input'?"
    run --separate-stderr polygraphy debug reduce m.onnx --mode x
    refused_with_usage "polygraphy debug reduce: error: argument --mode: invalid choice: 'x' (choose from 'bisect', 'linear', 'minimal')"
    repeat --check true
    refused_with_usage 'polygraphy debug repeat: error: the following arguments are required: --until'
}

@test "unknown options are listed on one line with a suggestion and end with status 1" {
    repeat --until 1 --artfacts log --check true
    refused "Unrecognized Options: ['--artfacts', 'log']; did you mean '--artifacts'?"
    [ -z "$output" ]
}

@test "long options of debug tools may not be abbreviated, those of others may" {
    repeat --unt 1 --check true
    [ "$status" -eq 2 ]
    run --separate-stderr polygraphy run --help-me
    refused "Unrecognized Options: ['--help-me']"
    run polygraphy run --hel
    [ "$status" -eq 0 ]
}

@test "a command is framed by lines that repeat it" {
    repeat --until 1 --artifacts log --check sh -c ''
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = '[I] RUNNING | Command: polygraphy debug repeat --until 1 --artifacts log --check sh -c ' ]
    [[ ${lines[-1]} =~ ^\[I\]\ PASSED\ \|\ Runtime:\ [0-9]+\.[0-9]{3}s\ \|\ Command:\ polygraphy\ debug\ repeat ]]
}

@test "an error is one line on standard error, and the closing line says FAILED" {
    repeat --until 1 --check ./missing
    refused missing
    [[ ${lines[-1]} =~ ^\[E\]\ FAILED\ \|\ Runtime:\ [0-9]+\.[0-9]{3}s\ \|\ Command:\ polygraphy\ debug\ repeat ]]
}

@test "warnings about options come before the line that a command is running" {
    repeat --until 1 --check true
    [[ ${lines[0]} == '[W] `--artifacts` was not specified'* ]]
    [[ ${lines[1]} == '[I] RUNNING | Command: '* ]]
}

@test "log options before the subtool count together with those behind it" {
    run polygraphy debug -q repeat --until 1 --check true
    logged '^\[I\] RUNNING'
    not_logged 'Running check command'
    run polygraphy debug -q repeat -qq --until 1 --check true
    not_logged '^\[I\]'
    logged '^\[W\]'
}

@test "--silent leaves nothing but the error that ends the tool" {
    repeat --silent --until 1 --check true
    [ -z "$output$stderr" ]
    repeat --silent --until 1 --check ./missing
    refused missing
    [ -z "$output" ]
}

@test "--log-file gets every line that is shown, in new folders" {
    repeat --log-file new/folder/log.txt --until 1 --check true
    [ "$status" -eq 0 ]
    [ "$(cat new/folder/log.txt)" = "$output" ]
    logged '^\[W\]'
}

@test "--log-file keeps no earlier content and no colours" {
    seq 1000 >log.txt
    polygraphy debug repeat --log-file log.txt --until 1 --check true
    grep -q RUNNING log.txt
    run ! grep -x 1000 log.txt
}

@test "a log file that cannot be written is one clear error" {
    repeat --log-file . --until 1 --check true
    refused "--log-file: cannot write '.'"
}

@test "without a reader the program ends quietly" {
    polygraphy debug repeat --until 1000 --check true 2>error | head -1 >first
    [ "$(wc -l <first)" -eq 1 ]
    [ ! -s error ]
}

@test "a full disk behind standard output is an error" {
    [ -w /dev/full ] || skip 'there is no /dev/full'
    run --separate-stderr bash -c 'polygraphy --version >/dev/full'
    refused 'cannot write the output'
}

@test "closed standard streams do no harm" {
    polygraphy debug repeat --until 1 --iter-info info.json --no-such 2>error >&- || true
    grep -q 'Unrecognized' error
    polygraphy debug repeat --until 1 --save-debug-replay replay.json --check true <&- >&- 2>&-
    run ! grep RUNNING replay.json
}

@test "a file that may grow no further is an error, and nothing of it stays" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 4 4000 chain
    run --separate-stderr bash -c 'ulimit -f 1 && polygraphy surgeon sanitize model.onnx -o large.onnx --toposort'
    refused "cannot write '"
    [ -z "$(ls -A | grep large)" ]
}

@test "a request to end is heard while ONNX Runtime works, and ends the program like any other" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" long.onnx 50 1000000 chain
    polygraphy run long.onnx --onnxrt --iterations 100000 >log 2>&1 &
    pid=$!
    until grep -q 'onnxrt-runner' log; do kill -0 $pid; done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 143 ]
}
