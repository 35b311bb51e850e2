# run_streaming.bats: runs whose iterations are computed, compared and dropped one by one, with files of all kinds.

load debug_helper

model=$POLYGRAPHY_ROOT/tests/models/identity.onnx

summary_of()
{
    grep -oE 'Passed: [0-9]+/[0-9]+ iterations' <<<"$output"
}

@test "iterations are saved to folders, read from them, and are those of single files" {
    run polygraphy run "$model" --onnxrt --onnxrt --iterations 3 --save-inputs ins --save-outputs outs
    [ "$status" -eq 0 ]
    [ "$(echo ins/* outs/*)" = "$(printf '%s/000000000%d.json ' ins 0 ins 1 ins 2 outs 0 outs 1 outs 2 | sed 's/ $//')" ]
    for inputs in in.json in.npz in.safetensors in/; do
        for outputs in out.json out.safetensors; do
            run polygraphy run "$model" --onnxrt --load-inputs ins --load-outputs outs --atol 0 --rtol 0 \
                --save-inputs "$inputs" --save-outputs "$outputs"
            [ "$status" -eq 0 ]
            [ "$(summary_of)" = $'Passed: 3/3 iterations\nPassed: 3/3 iterations' ]
            run polygraphy run "$model" --onnxrt --load-inputs "$inputs" --load-outputs "$outputs" --atol 0 --rtol 0 \
                --save-inputs again --save-outputs results
            [ "$status" -eq 0 ]
            diff -r ins again
            rm -r "$inputs" "$outputs" again results
        done
    done
}

@test "results alone are compared, as many iterations as both have" {
    polygraphy run "$model" --onnxrt --iterations 3 --save-outputs three
    polygraphy run "$model" --onnxrt --iterations 2 --save-outputs two.json
    run polygraphy run --load-outputs three two.json --load-inputs none.json
    [ "$status" -eq 0 ]
    [ "$(summary_of)" = 'Passed: 2/2 iterations' ]
    [[ $output == *'Only the first 2 iteration(s) -- present in all 2 streams -- were compared'* ]]
    [[ $output == *'input-related options'*'will be ignored'* ]]
}

@test "with --fail-fast nothing is run after a mismatch, and what was run is saved" {
    polygraphy run "$model" --onnxrt --iterations 4 --save-outputs good
    polygraphy run "$model" --onnxrt --iterations 4 --seed 100 --save-outputs bad
    cp bad/0000000001.json good/0000000001.json
    run polygraphy run "$model" --onnxrt --iterations 4 --load-outputs good --fail-fast --save-outputs out.json
    [ "$status" -eq 1 ]
    [[ $output == *'Streaming iteration 1'* && $output != *'Streaming iteration 2'* ]]
    run polygraphy inspect data out.json
    [[ $output == *'(2 iterations)'* ]]
}

@test "folders that are not empty, and paths that overlap, are refused before anything runs" {
    polygraphy run "$model" --onnxrt --iterations 2 --save-inputs ins --save-outputs outs
    run polygraphy run "$model" --onnxrt --save-outputs outs
    [ "$status" -eq 1 ]
    [[ $output == *'the directory is not empty'* && $output != *Activating* ]]
    run polygraphy run "$model" --onnxrt --load-inputs ins/0000000000.json --save-outputs ins
    [ "$status" -eq 1 ]
    [[ $output == *"The load path 'ins/0000000000.json' overlaps the save path 'ins'."* && $output != *Activating* ]]
    touch file
    run polygraphy run "$model" --onnxrt --save-outputs file
    [ "$status" -eq 1 ]
    run polygraphy run "$model" --onnxrt --save-outputs new --save-inputs new
    [ "$status" -eq 1 ]
    [[ $output == *'--save-inputs and --save-outputs both write'* ]]
}

@test "a signal leaves complete files and says how many there are" {
    polygraphy run "$model" --runner "echo started >>started; exec sleep 60" --iterations 3 --save-inputs ins \
        >log 2>&1 &
    tool=$!
    until [ -e started ]; do sleep 0.05; done
    kill -TERM "$tool"
    status=0
    wait "$tool" || status=$?
    [ "$status" -ne 0 ]
    [ "$(echo ins/*)" = ins/0000000000.json ]
    grep -q "'ins' has the 1 complete iterations of 3" log
    grep -q -- '--seed 2 --iterations 2' log
}

@test "--warm-up and --use-subprocess imply --sequential-runners" {
    for words in '--warm-up 2' --use-subprocess; do
        run polygraphy run "$model" --onnxrt --onnxrt --iterations 2 $words --save-outputs "${words//[ -]/}.json"
        [ "$status" -eq 0 ]
        [ "$(grep -c -- "${words%% *} implies --sequential-runners" <<<"$output")" -eq 1 ]
        [[ $output != *Streaming* && $output == *'Passed: 2/2 iterations'* ]]
    done
    run polygraphy run "$model" --onnxrt --iterations 2 --sequential-runners --save-outputs outs --save-inputs ins
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --onnxrt --load-inputs ins --load-outputs outs --sequential-runners
    [[ $output == *'Passed: 2/2 iterations'* ]]
}

@test "--save-input-blob writes the bytes of each input" {
    run polygraphy run "$model" --onnxrt --iterations 2 --save-input-blob blobs --save-outputs outs
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --onnxrt --load-inputs x:blobs/0000000001/x.bin:float32:1x1x2x2 \
        --load-outputs outs/0000000001.json --atol 0 --rtol 0
    [ "$status" -eq 0 ]
    [ "$(summary_of)" = 'Passed: 1/1 iterations' ]
    run polygraphy run "$model" --onnxrt --save-input-blob
    [ "$status" -eq 0 ]
    [ -f 0000000000/x.bin ]
}

# The peak of the resident memory of `run`, in kB.
peak_of()
{
    /usr/bin/python3 - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(["polygraphy", "run", *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}

@test "a folder may have more files than can be open at once" {
    polygraphy run "$model" --onnxrt --iterations 300 --save-inputs in/ --save-outputs out.safetensors
    (
        ulimit -n 128
        polygraphy run "$model" --onnxrt --load-inputs in/ --load-outputs out.safetensors
        polygraphy inspect data in/ >listed
    )
    grep -q '(300 iterations)' listed
}

@test "memory does not grow with the number of iterations" {
    for count in 10 2000; do
        peak_of "$model" --onnxrt --onnxrt --iterations "$count" --save-inputs "in$count.json" \
            --save-outputs "out$count.json" >"saving$count"
        peak_of "$model" --onnxrt --onnxrt --iterations "$count" --save-inputs "ins$count" \
            --save-outputs "outs$count" >"folders$count"
        peak_of "$model" --onnxrt --load-inputs "in$count.json" --load-outputs "out$count.json" >"loading$count"
        peak_of "$model" --onnxrt --load-inputs "ins$count" --load-outputs "outs$count" >"from_folders$count"
        peak_of "$model" --onnxrt --onnxrt --iterations "$count" --save-inputs "in$count.npz" \
            --save-outputs "out$count.safetensors" >"archives$count"
        peak_of "$model" --onnxrt --load-inputs "in$count.npz" --load-outputs "out$count.safetensors" \
            >"from_archives$count"
    done
    for way in saving folders loading from_folders archives from_archives; do
        [ $((20 * $(cat "${way}2000"))) -le $((21 * $(cat "${way}10"))) ]
    done
}
