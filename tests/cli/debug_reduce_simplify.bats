# debug_reduce_simplify.bats: --simplify: what is left of a model is made simpler for as long as it fails.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
validate=(polygraphy run polygraphy_debug.onnx --onnxrt --validate)

simplify_models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/simplify_models.py" "$@"
}

# Fails when an output of the candidate is above 500.
check_for_large_outputs()
{
    script check.sh <<'EOS'
polygraphy run polygraphy_debug.onnx --onnxrt --save-outputs outputs.json > /dev/null || exit 2
polygraphy inspect data outputs.json -s > statistics.txt || exit 2
grep -qE 'max=1[0-9]{3}' statistics.txt && exit 1
exit 0
EOS
}

@test "weights that do not matter become zeros, and the one that does stays" {
    simplify_models make one_that_matters model.onnx
    check_for_large_outputs
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights --fail-code 1 --check ./check.sh
    worked
    logged '^\[I\] Replaced 3 of 4 weight\(s\): 3 by zeros, 72 bytes less to share$'
    [ "$(simplify_models weights simple.onnx)" = 'w0 [6] all 0
w1 [6] all 0
w2 [6] all 0
w3 [6] values' ]
    valid_models simple.onnx
    cp simple.onnx polygraphy_debug.onnx
    run -1 ./check.sh
}

@test "a weight whose absence would be another failure gets other values" {
    simplify_models make division model.onnx
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node add
    worked
    logged 'Not checked, because ONNX Runtime rejects it: its outputs contain infinities$'
    [ "$(simplify_models weights simple.onnx)" = 'w [6] all 1
v [6] all 0' ]
}

@test "weights, attributes and inputs together" {
    simplify_models make convolutions model.onnx
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify --check "${validate[@]}"
    worked
    logged '^\[I\] Replaced 6 of 6 weight\(s\): '
    logged '^\[I\] Dropped 9 of 9 attribute\(s\)$'
    logged '^\[I\] Made inputs smaller: t0 \[dtype=float32, shape=\(1, 3, 8, 8\)\]$'
    run ! grep values <(simplify_models weights simple.onnx)
    [ "$(simplify_models attributes simple.onnx)" = 'conv0 -
conv1 -
conv2 -
div -' ]
    [ "$(reduce_models shapes simple.onnx)" = 't0 float [1, 3, 8, 8]
y float [1, 4, 2, 2]' ]
    valid_models simple.onnx
    run -1 polygraphy run simple.onnx --onnxrt --validate
}

@test "only what was asked for is changed" {
    simplify_models make convolutions model.onnx
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify attributes --check "${validate[@]}"
    worked
    not_logged 'weight'
    simplify_models weights simple.onnx | grep -q 'w0 .* values'
    [ "$(reduce_models shapes simple.onnx | head -1)" = 't0 float [4, 3, 16, 16]' ]
    run ! grep pads <(simplify_models attributes simple.onnx)
}

@test "a model that cannot be simpler is written as it would be without" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o plain.onnx --mode minimal --save-debug-replay plain.json --check "${validate[@]}"
    worked
    reduce model.onnx -o simple.onnx --mode minimal --simplify weights attributes bodies --save-debug-replay simple.json \
        --check "${validate[@]}"
    worked
    cmp plain.onnx simple.onnx
}

@test "the body of a loop loses what the failure does not need" {
    simplify_models make loop model.onnx
    reduce model.onnx -o simple.onnx --mode minimal --simplify bodies --check "${validate[@]}"
    worked
    logged '^\[I\] Bodies and functions have 3 of 7 node\(s\) left$'
    [ "$(simplify_models inside simple.onnx)" = 'loop trips,yes,x->y
  body
  Identity more->go_on
  div state,zero->c
  Identity c->next' ]
    valid_models simple.onnx
    run -1 polygraphy run simple.onnx --onnxrt --validate
}

@test "a branch takes the place of its If" {
    simplify_models make branches model.onnx
    reduce model.onnx -o simple.onnx --mode minimal --simplify bodies --check "${validate[@]}"
    worked
    logged '^\[I\] Replaced 1 of 1 If node\(s\) with one of their branches\. '
    [[ $(simplify_models inside simple.onnx) == *'then_div x,zero->'* ]]
    run ! grep -E 'branch$|abs|exp' <(simplify_models inside simple.onnx)
    valid_models simple.onnx
}

@test "local functions lose nodes, too" {
    simplify_models make function model.onnx
    reduce model.onnx -o simple.onnx --mode minimal --simplify bodies --check "${validate[@]}"
    worked
    [ "$(simplify_models inside simple.onnx)" = 'call x->y
function Divide
  sub v,v->zero
  div v,zero->d
  Identity d->w' ]
    valid_models simple.onnx
}

@test "several checks at a time come to the same result" {
    simplify_models make convolutions model.onnx
    for jobs in 1 3; do
        reduce model.onnx -o $jobs.onnx -j $jobs --no-reduce-inputs --simplify --save-debug-replay $jobs.json \
            --check "${validate[@]}"
        worked
    done
    cmp 1.onnx 3.onnx
    cmp 1.json 3.json
}

@test "a session that was interrupted while simplifying goes on to the same result" {
    simplify_models make convolutions model.onnx
    script check.sh <<'EOS'
if [ -e stop ] && grep -q _simplify_weights_attributes_shapes replay_skip_current.json; then kill -INT $PPID; fi
exec polygraphy run polygraphy_debug.onnx --onnxrt --validate > /dev/null
EOS
    reduce model.onnx -o expected.onnx --no-reduce-inputs --simplify weights attributes shapes \
        --save-debug-replay other.json --check ./check.sh
    worked
    touch stop
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights attributes shapes \
        --save-debug-replay replay.json --check ./check.sh
    [ "$status" -ne 0 ]
    [ ! -e simple.onnx ]
    rm stop
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights attributes shapes \
        --load-debug-replay replay.json --save-debug-replay replay.json --check ./check.sh
    worked
    cmp expected.onnx simple.onnx
}

@test "a replay without simplification can be gone on with" {
    simplify_models make convolutions model.onnx
    reduce model.onnx -o reduced.onnx --no-reduce-inputs --save-debug-replay replay.json --check "${validate[@]}"
    worked
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights --load-debug-replay replay.json \
        --check "${validate[@]}"
    worked
    logged 'Loading iteration information from debug replay'
    run ! grep values <(simplify_models weights simple.onnx)
}

@test "weights from another file come inside" {
    simplify_models make external model.onnx
    mkdir out
    reduce model.onnx -o out/simple.onnx --no-reduce-inputs --simplify weights \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node conv2
    worked
    [ "$(ls out)" = simple.onnx ]
    run ! grep values <(simplify_models weights out/simple.onnx)
    valid_models out/simple.onnx
}

@test "weights that are out of reach are not passed over in silence" {
    reduce "$POLYGRAPHY_ROOT/tests/models/decided_branch.onnx" -o simple.onnx --no-reduce-inputs --simplify weights \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node if
    worked
    logged '^\[W\] 1 tensor\(s\) in subgraphs, functions and attributes were not replaced: inspect them before'
}

@test "a budget of checks also ends the simplification" {
    simplify_models make one_that_matters model.onnx
    check_for_large_outputs
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights --max-checks 6 --fail-code 1 \
        --check ./check.sh
    worked
    logged 'Budget exhausted after 6 checks'
    logged '^\[I\] Replaced 2 of 4 weight'
    cp simple.onnx polygraphy_debug.onnx
    run -1 ./check.sh
}

@test "by an unreliable check the simplified model is looked at again" {
    simplify_models make convolutions model.onnx
    reduce model.onnx -o simple.onnx --no-reduce-inputs --simplify weights --flaky --check "${validate[@]}"
    worked
    logged 'FAILED \| Check of the simplified model'
    run ! grep values <(simplify_models weights simple.onnx)
}

@test "what does not go together is refused" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o simple.onnx --mode minimal --iter-golden golden.json --simplify --check true
    refused 'so they would not match the values of --iter-golden'
    reduce model.onnx -o simple.onnx --simplify --save-external-data --check true
    refused 'polygraphy convert --save-external-data'
    reduce model.onnx -o simple.onnx --mode minimal --iter-inputs in.json --simplify shapes --check true
    refused '--simplify shapes reduces the inputs'
    reduce model.onnx --min-good good.onnx --simplify --check true
    refused '--simplify changes the model that --output saves'
    reduce model.onnx -o simple.onnx --simplify names --check true
    [ "$status" -ne 0 ]
    [[ $stderr == *"invalid choice: 'names'"* ]]
}

@test "with the data of the inputs in a file the inputs stay as they are" {
    simplify_models make convolutions model.onnx
    script check.sh <<'EOS'
exec polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --validate > /dev/null
EOS
    reduce model.onnx -o simple.onnx --mode minimal --iter-inputs in.json --simplify --check ./check.sh
    worked
    not_logged 'smaller'
    [ "$(reduce_models shapes simple.onnx | head -1)" = 't3 float [4, 4, 16, 16]' ]
}

@test "a real network loses its weights and gets a smaller input" {
    model=$POLYGRAPHY_TEST_MODELS/polygraphy/residual_block.onnx
    [ -e "$model" ] || skip 'no models'
    script check.sh <<'EOS'
polygraphy inspect model polygraphy_debug.onnx --show layers | grep -q 'Op: Sum' && exit 1
exit 0
EOS
    reduce "$model" -o simple.onnx --no-reduce-inputs --model-input-shapes 'gpu_0/data_0:[1,3,224,224]' --simplify \
        --check ./check.sh
    worked
    logged '^\[I\] Replaced [0-9]+ of [0-9]+ weight\(s\): .* 0\.3 MB less to share$'
    logged '^\[I\] Made inputs smaller: '
    run ! grep values <(simplify_models weights simple.onnx)
    valid_models simple.onnx
    cp simple.onnx polygraphy_debug.onnx
    run -1 ./check.sh
}

@test "bodies of a real speech model" {
    model=$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx
    [ -e "$model" ] || skip 'no models'
    script check.sh <<'EOS'
polygraphy inspect model polygraphy_debug.onnx --show layers attrs | grep -q 'Op: LSTM' && exit 1
exit 0
EOS
    reduce "$model" -o simple.onnx --mode minimal --val-range 'sr:[16000,16000]' --simplify bodies weights \
        --check ./check.sh
    worked
    logged '^\[I\] Replaced 1 of 1 If node\(s\) with one of their branches\. Bodies and functions have [1-9]?[0-9] of 684 node\(s\) left$'
    "$POLYGRAPHY_TEST_PROGRAMS/load_models" simple.onnx
    cp simple.onnx polygraphy_debug.onnx
    run -1 ./check.sh
}
