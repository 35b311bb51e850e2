# debug_reduce.bats: cutting a model down: the guide's examples, options and outcomes. Rows of the golden table are in
# reduce_golden.bats; sessions that are interrupted, peculiar models, external data and damaged input in files of their own.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

# ---- The guide's examples ----

@test "guide: a check in one quoted string finds the node that makes an infinity" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o reduced_model.onnx --check "polygraphy run polygraphy_debug.onnx --onnxrt --validate"
    worked
    [ "$(reduce_models show reduced_model.onnx)" = 'div [t3->t4] const zero' ]
    logged "^\[I\] Reduced 6 nodes to 1: 'div' \(Div\), 5 iterations in [0-9.]+ s$"
    run sh -c "$(sed -n 's/^\[I\] To check it again: //p' <<<"$output")"
    [ "$status" -eq 1 ]
    logged 'Inf Detected'
}

@test "guide: so does a check of words to the end of the line" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o reduced_model.onnx --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    [ "$(reduce_models show reduced_model.onnx)" = 'div [t3->t4] const zero' ]
}

@test "guide: --model-input-shapes makes dynamic shapes static, and the user is the check" {
    reduce_models make dynamic model.onnx
    reduce model.onnx --model-input-shapes 'input:[1,3,224,224]' --mode bisect -o minimal_failure.onnx <<<$'f\np\nf\nf'
    worked
    [ "${lines[0]}" = "[I] Starting interactive debugging session since no \`--check\` command was provided" ]
    logged '^>>> Did .polygraphy_debug\.onnx. \[p\]ass or \[f\]ail\? '
    [ "$(reduce_models show minimal_failure.onnx)" = 'abs [b->c]' ]
    [ "$(reduce_models shapes minimal_failure.onnx)" = $'b float [1, 3, 224, 224]\nc float [1, 3, 224, 224]' ]
    not_logged 'Check of the original model'
    not_logged 'dynamic input shapes'
    valid_models minimal_failure.onnx
}

@test "guide: --no-reduce-inputs leaves the beginning of the model alone" {
    reduce_models make infinity model.onnx
    reduce model.onnx --no-reduce-inputs -o output_reduced.onnx <<<$'p\nf\nf'
    worked
    [ "$(reduce_models show output_reduced.onnx)" = 'neg abs relu div exp [t0->t5] const zero' ]
    not_logged 'Reducing model inputs'
}

@test "guide: every candidate is kept as an artifact, named after its iteration" {
    reduce "$models/reducable.onnx" -o reduced.onnx --artifacts polygraphy_debug.onnx \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5
    worked
    moment='[0-9]{2}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}'
    [ "$(find polygraphy_artifacts -type f | sed -E "s/_${moment}_/_MOMENT_/" | sort)" = \
        "$(sed -E "s/_${moment}_/_MOMENT_/" "$POLYGRAPHY_ROOT/tests/golden/logs/reduce_bisect_fail5_artifact_names.txt" | sort)" ]
    not_logged 'Could not clean up'
    valid_models reduced.onnx polygraphy_artifacts/*/*.onnx
    reduce_models show polygraphy_artifacts/bad/*_N1_inputs.onnx reduced.onnx | uniq | grep -c . | grep -qx 1
}

@test "guide: a linear search goes on with the result of a bisection" {
    reduce "$models/reducable.onnx" -o bisected.onnx --mode=bisect --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_1
    worked
    logged '^\[W\] It looks like this model could potentially be reduced further\.'
    reduce bisected.onnx -o linear.onnx --mode=linear --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_1
    worked
    logged "^\[I\] Reduced 3 nodes to 1: 'onnx_graphsurgeon_node_1' \(Identity\)"
    not_logged 'could potentially be reduced further'
    [ "$(reduce_models show linear.onnx)" = 'onnx_graphsurgeon_node_1 [X0->identity_out_0]' ]
}

# What the guide makes ahead of time: inputs and outputs of all layers, and both merged. From the model $1.
make_golden_values()
{
    polygraphy run "$1" --onnxrt --onnx-outputs mark all --save-inputs inputs.json --save-outputs golden.json "${@:2}"
    reduce_models merge inputs.json golden.json merged.json
}

@test "guide: golden values of all layers find the one that computes something else" {
    reduce_models make chain right.onnx
    reduce_models make chain wrong.onnx 5
    make_golden_values right.onnx
    reduce wrong.onnx -o reduced.onnx --min-good good.onnx --load-inputs merged.json --check \
        polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs merged.json --load-outputs golden.json
    worked
    [ "$(reduce_models show reduced.onnx)" = 'n5 [t5->t6] const w5' ]
    [ "$(reduce_models show good.onnx)" = 'n0 n1 n2 n3 n4 [t0->t5] const w0,w1,w2,w3,w4' ]
    logged 'Mismatched: 1 of '
}

# The three cases of Polygraphy's tests whose check is `polygraphy run`. No iteration of the first two fails, so the
# original does not either, and is not reduced unless --no-verify asks for it; and then no model is written that was
# never seen to fail (D3).
iterations()
{
    grep -oE '(PASSED|FAILED) \| Iteration' <<<"$output" | cut -c 1 | tr -d '\n'
}

@test "a node with several outputs is cut at its inputs like any other" {
    reduce_models make multi_output model.onnx
    check=(--check polygraphy run polygraphy_debug.onnx --onnxrt)
    reduce model.onnx -o reduced.onnx --no-reduce-outputs --mode=linear "${check[@]}"
    refused "'reduced.onnx' is not written: the original model does not fail the check"
    logged '^\[W\] The original model does not fail the check'
    reduce model.onnx -o reduced.onnx --no-reduce-outputs --mode=linear --no-verify "${check[@]}"
    refused "'reduced.onnx' is not written: no model failed the check"
    [ "$(iterations)" = PPP ]
    [ "$(grep -oE 'Marking model inputs: \[Variable \([a-z]+' <<<"$output" | sed 's/.*(//' | tr '\n' ' ')" = 'input copy third ' ]
    logged '^\[W\] No model failed the check'
    [ ! -e reduced.onnx ]
}

@test "branches are frozen to real data when reduce has them, else to random ones, with a warning" {
    feeds real.json '[{"X0": f32([3.14159265]), "Y0": f32([2.7749389])}]'
    make_golden_values "$models/reducable.onnx" --load-inputs real.json
    cp inputs.json same.json
    check=(--check polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs merged.json --load-outputs golden.json)
    reduce "$models/reducable.onnx" -o reduced.onnx --no-reduce-outputs --no-verify --load-inputs merged.json "${check[@]}"
    refused "'reduced.onnx' is not written: no model failed the check"
    [ "$(iterations)" = PP ]
    not_logged 'multiple branches'
    [ ! -e reduced.onnx ]
    reduce "$models/reducable.onnx" -o reduced.onnx --no-reduce-outputs --no-verify "${check[@]}"
    worked
    [ "$(iterations)" = PF ]
    [ "$(grep -c '^\[W\] .*This model includes multiple branches/paths\.' <<<"$output")" -eq 1 ]
    logged '^ +Please ensure that you have provided a data loader argument directly to `debug reduce` \(i\.e\. prior to `--check`\) if your `--check` command is using a non-default data loader, for instance --load-inputs\.$'
    logged 'Mismatched: 2 of 2 outputs'
    logged 'Freezing tensor: Variable \(X0\): \(shape=\[1\], dtype=float32\) to eliminate branches\.'
}

@test "integers that decide shapes have the original's values in what a search over the list of nodes finds" {
    # pads and a shape that follow from the size of the input
    reduce_models make padded padded.onnx
    for mode in bisect linear; do
        reduce padded.onnx -o reduced.onnx --model-input-shapes 'x:[1,10]' --mode $mode --check \
            "$check_nodes" polygraphy_debug.onnx --fail-node reshape
        worked
        [ "$(reduce_models show reduced.onnx)" = 'reshape [c->d] const shape' ]
        run polygraphy run reduced.onnx --onnxrt
        [ "$status" -eq 0 ]
    done
}

# ---- Verification ----

@test "a model that does not fail is not reduced" {
    reduce "$models/reducable.onnx" -o reduced.onnx --min-good good.onnx \
        --check "echo x >>runs; $check_nodes polygraphy_debug.onnx --fail-node nowhere"
    refused "'reduced.onnx' is not written: the original model does not fail the check"
    logged '^\[I\]     PASSED \| Check of the original model \| Duration '
    logged '^\[W\] The original model does not fail the check: nothing to reduce\..*use --flaky'
    logged 'PASSED \| Control: a file that is not a valid model'
    not_logged 'RUNNING \| Iteration'
    [ "$(ls)" = $'polygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nruns' ]
    [ "$(wc -l <runs)" -eq 2 ]
}

@test "a good model that was asked for alone and is not there is no success either" {
    reduce "$models/reducable.onnx" --min-good good.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node nowhere
    refused "'good.onnx' is not written: the original model does not fail the check"
    fails_on_candidates
    reduce "$models/reducable.onnx" --min-good good.onnx --check ./fails.sh
    refused "'good.onnx' is not written: no candidate passed"
}

@test "--no-verify reduces all the same, and writes nothing that was not seen to fail" {
    reduce "$models/reducable.onnx" -o reduced.onnx --min-good good.onnx --no-verify --check true
    refused "'reduced.onnx' is not written: no model failed the check"
    not_logged 'Check of'
    logged '^\[W\] No model failed the check: no reduced model is written\.$'
    [ ! -e reduced.onnx ]
    "$POLYGRAPHY_TEST_PROGRAMS/load_models" good.onnx
}

@test "the original is verified as it is, and counts as no iteration" {
    reduce_models make chain model.onnx
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --no-reduce-inputs --check \
        'cp -n polygraphy_debug.onnx seen$POLYGRAPHY_ITERATION.onnx; ./fails.sh'
    worked
    [ "$(ls seen*)" = $'seen-1.onnx\nseen0.onnx\nseen1.onnx\nseen2.onnx\nseen3.onnx' ]
    reduce_models show model.onnx seen-1.onnx | uniq | grep -c . | grep -qx 1
    logged 'Finished 4 iteration\(s\) \| Passed: 0/4'
    logged ', 4 iterations in '
}

@test "the result is checked once more when it is saved with external data" {
    reduce_models make chain model.onnx -1 400
    mkdir out
    echo precious >weights.bin
    reduce model.onnx -o out/reduced.onnx --save-external-data weights.bin --no-reduce-inputs --check \
        "ls >>runs; $check_nodes polygraphy_debug.onnx --fail-node n3"
    worked
    [ "$(grep -cx polygraphy_debug.onnx runs)" -eq 5 ]
    [ "$(grep -cx polygraphy_debug.onnx.data runs)" -eq 1 ]
    logged '^\[I\]     FAILED \| Check of the result \| Duration '
    [ "$(ls out)" = $'reduced.onnx\nweights.bin' ]
    [ "$(cat weights.bin)" = precious ]
    [ ! -e polygraphy_debug.onnx.data ]
    valid_models out/reduced.onnx
    run polygraphy run out/reduced.onnx --onnxrt
    [ "$status" -eq 0 ]
}

@test "a failure that external data make disappear leaves the weights inside" {
    reduce_models make chain model.onnx -1 400
    reduce model.onnx -o reduced.onnx --save-external-data --check "[ -e polygraphy_debug.onnx.data ] || exit 1"
    worked
    logged '^\[W\] The result fails the check, but not with its weights as external data: they stay inside the model$'
    [ ! -e reduced.onnx.data ]
    [ "$(stat -c %s reduced.onnx)" -gt 1600 ]
}

@test "a result that only fails with the name of the file is told apart by --no-verify" {
    reduce_models make chain model.onnx -1 400
    reduce model.onnx -o reduced.onnx --save-external-data --no-verify --check \
        "ls >>runs; $check_nodes polygraphy_debug.onnx --fail-node n3"
    worked
    not_logged 'Check of'
    run grep -x polygraphy_debug.onnx.data runs
    [ "$status" -eq 1 ]
    [ -e reduced.onnx.data ]
}

@test "both results have external data of their own" {
    reduce_models make chain model.onnx -1 400
    reduce model.onnx -o reduced.onnx --min-good good.onnx --save-external-data weights.bin --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    [ "$(reduce_models show reduced.onnx good.onnx)" = $'n3 [t3->t4] const w3\nn0 n1 n2 [t0->t3] const w0,w1,w2' ]
    valid_models reduced.onnx good.onnx
    [ "$(stat -c %s weights.bin)" -eq 1600 ]
    [ -e good.onnx.data ]
}

@test "existing external data of a candidate are not overwritten" {
    reduce_models make chain model.onnx -1 400
    echo mine >polygraphy_debug.onnx.data
    reduce model.onnx -o reduced.onnx --save-external-data --check false
    refused "'polygraphy_debug.onnx.data' already exists, refusing to overwrite"
    [ "$(cat polygraphy_debug.onnx.data)" = mine ]
}

# ---- The passing model ----

@test "the minimal good model was seen to pass" {
    script check.sh <<<"
        $check_nodes polygraphy_debug.onnx --fail-node n4 && cksum <polygraphy_debug.onnx >>passed && exit
        cksum <polygraphy_debug.onnx >>failed
        exit 1"
    for mode in bisect linear; do
        reduce_models make chain model.onnx
        reduce model.onnx --mode $mode -o reduced.onnx --min-good good.onnx --check ./check.sh
        worked
        grep -qx "$(cksum <good.onnx)" passed
        grep -qx "$(cksum <reduced.onnx)" failed
        logged '^\[I\] Minimum Good Model:$'
    done
}

# Each of the two searches compares its own candidates: the one that moves outputs passes with node_0 to node_499 and
# fails with node_500 as well; the one that moves inputs sees only candidates that fail.
@test "the minimal good model is next to the failing one in size" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 1000 0 chain
    reduce model.onnx -o reduced.onnx --min-good good.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node node_500
    worked
    polygraphy inspect model good.onnx --json good.json
    [ "$(python3 -c 'import json; print(len(json.load(open("good.json"))["nodes"]))')" = 500 ]
}

@test "without a passing candidate a warning says why there is no good model" {
    fails_on_candidates
    reduce "$models/reducable.onnx" -o reduced.onnx --min-good good.onnx --check ./fails.sh
    worked
    logged "^\[W\] Could not find a minimal model that passes: no candidate passed, so 'good\.onnx' is not written$"
    [ ! -e good.onnx ]
}

@test "the minimal good model alone will do" {
    reduce_models make chain model.onnx
    reduce model.onnx --min-good good.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node n4
    worked
    [ "$(ls ./*.onnx)" = $'./good.onnx\n./model.onnx' ]
    not_logged 'Minimum Bad Model'
}

# ---- Exit status ----

@test "the exit status is 0 when what was asked for is there, and --exit-code tells what is not from errors" {
    reduce_models make chain model.onnx
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --exit-code --check ./fails.sh
    [ "$status" -eq 0 ]
    reduce model.onnx -o other.onnx --exit-code --check "$check_nodes" polygraphy_debug.onnx --fail-node nowhere
    [ "$status" -eq 4 ]
    reduce model.onnx -o reduced.onnx --exit-code --no-verify --check true
    [ "$status" -eq 4 ]
    reduce model.onnx -o other.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node nowhere
    [ "$status" -eq 1 ]
}

# ---- Files on the way ----

@test "the candidate, and information on the iteration, are where they are wanted while the check runs" {
    reduce_models make chain model.onnx
    reduce model.onnx -o reduced.onnx --iter-artifact folder/candidate.onnx --iter-info info.json --check \
        "[ \$POLYGRAPHY_ARTIFACT = folder/candidate.onnx ] || exit 0; tr -d '\n ' <info.json >>infos
         test ! -e polygraphy_debug.onnx && $check_nodes folder/candidate.onnx --fail-node n3"
    worked
    [ "$(reduce_models show reduced.onnx)" = 'n3 [t3->t4] const w3' ]
    [ "$(cat infos)" = '{"iteration":0}{"iteration":0}{"iteration":1}{"iteration":2}{"iteration":0}{"iteration":1}' ] ||
        [ "$(cat infos)" = '{"iteration":-1}{"iteration":0}{"iteration":1}{"iteration":2}{"iteration":0}{"iteration":1}' ]
    [ -z "$(ls folder)" ]
    [ ! -e info.json ]
}

@test "--no-remove-intermediate leaves the last candidate behind, and another session does not overwrite it" {
    reduce_models make chain model.onnx
    reduce model.onnx -o reduced.onnx --no-remove-intermediate --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    cmp polygraphy_debug.onnx reduced.onnx
    reduce model.onnx -o other.onnx --check false
    refused "'polygraphy_debug.onnx' already exists, refusing to overwrite"
    cmp polygraphy_debug.onnx reduced.onnx
    [ ! -e other.onnx ]
}

@test "the model itself is never taken for a candidate" {
    reduce_models make chain polygraphy_debug.onnx
    cp polygraphy_debug.onnx copy.onnx
    reduce polygraphy_debug.onnx -o reduced.onnx --check false
    refused "'polygraphy_debug.onnx' is the model itself, and candidates would replace it"
    reduce polygraphy_debug.onnx -o reduced.onnx --iter-artifact x.onnx --check \
        'kill -KILL $PPID'
    reduce polygraphy_debug.onnx -o reduced.onnx --load-debug-replay polygraphy_debug_replay_skip_current.json \
        --iter-artifact ./polygraphy_debug.onnx --check 'kill -KILL $PPID'
    refused 'is the model itself'
    cmp polygraphy_debug.onnx copy.onnx
    rm .x.onnx.lock .polygraphy_debug_replay.json.lock # of the session that was killed
}

@test "the result does not replace the model" {
    reduce_models make chain model.onnx
    cp model.onnx copy.onnx
    reduce model.onnx -o ./model.onnx --check 'touch ran'
    refused "-o: './model.onnx' is the model itself, and it would be lost"
    [ ! -e ran ]
    cmp model.onnx copy.onnx
}

@test "no replay is kept when its path is empty" {
    reduce_models make chain model.onnx
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --save-debug-replay '' --check ./fails.sh
    worked
    [ "$(ls)" = $'fails.sh\nmodel.onnx\nreduced.onnx' ]
    not_logged 'Saving debug replay'
}

# ---- Shapes ----

@test "shapes of inputs that the model does not have are refused" {
    reduce_models make dynamic model.onnx
    reduce model.onnx -o reduced.onnx --model-input-shapes 'image:[1,3,8,8]' --check false
    refused 'Tensor: image does not exist in the model.'
    reduce model.onnx -o reduced.onnx --model-input-shapes 'input:1,3' --check false
    refused '--model-input-shapes'
    [ "$(ls)" = model.onnx ]
}

@test "a shape for a tensor inside the model makes that an input" {
    reduce_models make dynamic model.onnx
    reduce model.onnx -o reduced.onnx --model-input-shapes 'b:[1,3,8,8]' --no-reduce-outputs --no-reduce-inputs --check false
    [ "$status" -eq 2 ]
    reduce model.onnx -o reduced.onnx --model-input-shapes 'b:[1,3,8,8]' --no-reduce-inputs --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node exp
    worked
    [[ "$(reduce_models show reduced.onnx)" == *'abs exp ['*'b->output]' ]]
}

@test "dynamic shapes stay dynamic, with a warning" {
    reduce_models make dynamic model.onnx
    reduce model.onnx -o reduced.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node abs
    worked
    logged '^\[W\] This model uses dynamic input shapes\.'
    [ "$(reduce_models shapes reduced.onnx)" = \
        $'b float [\'batch\', 3, \'height\', \'width\']\nc float [\'batch\', 3, \'height\', \'width\']' ]
}

@test "--force-fallback-shape-inference takes all shapes from one run" {
    reduce_models make dynamic model.onnx
    reduce model.onnx -o reduced.onnx --force-fallback-shape-inference --model-input-shapes 'input:[2,3,5,7]' --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node abs
    worked
    logged 'Running inference with ONNX-Runtime to determine metadata for intermediate tensors\.'
    [ "$(reduce_models shapes reduced.onnx)" = $'b float [2, 3, 5, 7]\nc float [2, 3, 5, 7]' ]
    reduce model.onnx -o reduced.onnx --force-fallback-shape-inference --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node abs
    worked
    [ "$(reduce_models shapes reduced.onnx)" = $'b float [1, 3, 1, 1]\nc float [1, 3, 1, 1]' ]
}

@test "--no-shape-inference asks for types and shapes only when a candidate cannot do without" {
    reduce "$models/reducable.onnx" -o reduced.onnx --no-shape-inference --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_9
    worked
    logged 'Marking model outputs: \[Variable \(add_out_4\): \(shape=None, dtype=None\)\]'
    logged 'Running inference with ONNX-Runtime'
    [ "$(reduce_models shapes reduced.onnx)" = $'add_out_4 float [1]\nidentity_out_8 float [1]' ]
}

@test "--no-onnxruntime-shape-inference means none, and says so" {
    reduce "$models/reducable.onnx" -o reduced.onnx --no-onnxruntime-shape-inference --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_9
    worked
    [ "$(grep -c '^\[W\]' <<<"$output")" -eq 1 ]
    logged '^\[W\] --no-onnxruntime-shape-inference: shapes are not inferred, because only ONNX Runtime can infer them$'
    logged 'Marking model outputs: \[Variable \(add_out_4\): \(shape=None, dtype=None\)\]'
    reduce "$models/reducable.onnx" -o reduced.onnx --no-onnxruntime-shape-inference --no-shape-inference --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_9
    not_logged '^\[W\]'
}

# ---- What cannot be done ----

@test "--fp-to-fp16 is refused with a way out" {
    reduce "$models/reducable.onnx" -o reduced.onnx --fp-to-fp16 --check false
    refused '--fp-to-fp16: '
    [ -z "$(ls)" ]
}

@test "results that would go nowhere, or into each other, are refused" {
    reduce "$models/reducable.onnx" --check false
    refused 'neither --output nor --min-good was given'
    reduce "$models/reducable.onnx" -o same.onnx --min-good same.onnx --check false
    refused "-o and --min-good both write 'same.onnx'"
}

@test "an option in front of the tool's name is told where it belongs" {
    for option in -q -qq --silent --mode=linear; do
        run --separate-stderr polygraphy $option debug reduce model.onnx -o reduced.onnx
        refused "Unrecognized Options: ['$option']; write '$option' after the tool's name: polygraphy debug reduce $option"
    done
    run --separate-stderr polygraphy debug -q reduce missing.onnx -o reduced.onnx --check false
    refused 'missing.onnx'
    not_logged "^\[I\] Loading"
}

@test "a check that cannot be run is refused before anything is written" {
    reduce "$models/reducable.onnx" -o reduced.onnx --check ./missing.sh
    refused './missing.sh'
    [ -z "$(ls)" ]
}

# A check that fails where the second pad is, and says when that does not run.
second_pad_check()
{
    script check.sh <<'END'
polygraphy inspect model polygraphy_debug.onnx --show layers | grep -q pad_again || exit 0
polygraphy run polygraphy_debug.onnx --onnxrt >run.log 2>&1 || echo it does not run
exit 1
END
}

@test "behind inputs of fixed shapes parts have shapes that run, also where nobody can infer them" {
    second_pad_check
    for mode in bisect linear minimal; do
        reduce "$models/reflecting_pads.onnx" -o "$mode.onnx" --mode "$mode" --model-input-shapes 'x:[1,5]' \
            --check ./check.sh
        worked
        logged 'Reduced 6 nodes to 1: .pad_again'
        not_logged 'it does not run'
        run polygraphy run "$mode.onnx" --onnxrt
        worked
        logged 'roots \[dtype=float32, shape=\(1, 7\)\]'
        not_logged 'pads \[dtype'
    done
}

@test "sizes with which a model runs are derived before the search, and the option for them is shown" {
    second_pad_check
    reduce "$models/reflecting_pads.onnx" -o reduced.onnx --mode minimal --check ./check.sh
    worked
    logged "^\[W\] Dynamic dimensions are fixed in all candidates: --model-input-shapes 'x:\[1,64\]', as pad does not accept"
    logged '\{x \[dtype=float32, shape=\(1, 64\)\]\}' # that is what values were taken from
    reduce "$models/dynamic_identity.onnx" --mode linear --check false
    not_logged 'are fixed'
}

@test "a size that only a Reshape inside the model fixes is derived before the search" {
    reduce_models make seven_elements model.onnx
    script check.sh <<'END'
polygraphy inspect model polygraphy_debug.onnx --show layers | grep -q pad_again || exit 0
exit 1
END
    reduce model.onnx -o reduced.onnx --mode minimal --check ./check.sh
    worked
    logged "^\[W\] Dynamic dimensions are fixed in all candidates: --model-input-shapes 'x:\[1,7\]', as reshape does not"
    logged 'Reduced 5 nodes to 1: .pad_again'
    run polygraphy run reduced.onnx --onnxrt
    worked
    not_logged 'pads \[dtype'
}
