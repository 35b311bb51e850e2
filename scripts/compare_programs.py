#!/usr/bin/env python3
"""compare_programs.py: runs the same command lines with two builds of polygraphy and reports every difference.

    scripts/compare_programs.py OLD NEW [--build FOLDER] [--only TEXT] [--except PATTERN...] [--jobs N] [--keep FOLDER]

OLD and NEW are programs. Each case of CASES below is a short shell script; every command line of it runs with OLD and with
NEW under the same path in an equal, empty folder, first with one, then with the other. Compared are standard output,
standard error and exit status of every line, and all files that are left. Only times, dates, process ids and temporary
paths are normalized (normalize() below), so a case must not depend on measured time: engines are built with
--deterministic, a tactic replay or a timing cache, runtimes have one thread, and random data have their seed.

The test programs of FOLDER (default: build; `make compare` builds them) are used for both sides: make_chain, check_nodes,
quantize_model, plug-ins and what stands in for TensorRT. Prints a diff for each file that differs; exits with 1 when there is one. A
program compared with itself must give no differences. --except leaves out files that are meant to
differ, by patterns of CASE/PATH ('accuracy-*/done.json'). --keep keeps both sides of every case in that folder.
"""

import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIME_LIMIT = 300  # seconds for one command line
MOST_LINES = 40  # of one diff

# "== name" begins a case; each line is a command of the shell, and a line that begins with a blank continues the one before.
# A line that begins with "@" is not compared: OLD runs it once, and both sides begin with the files that it leaves. That
# gives both the same tactic replay, or times of tactics (debug accuracy reads those in its folder, even one without steps).
# In its folder a case has models (tests/models), examples and golden (tests/golden); PLUGINS, FAULTS, TENSORRT and ROOT are variables.
CASES = r"""
== help
polygraphy --help
polygraphy --help-all
polygraphy --version
polygraphy help
for tool in run convert "debug reduce" "debug precision" "inspect model" "check lint"; do polygraphy help $tool; done
for tool in run convert debug inspect surgeon data check completion; do polygraphy $tool --help-all; done
for tool in accuracy reduce build passes precision quantization repeat tactics diff-tactics; do
 polygraphy debug $tool --help; polygraphy debug $tool --help-all; done
for tool in model data capability sparsity tactics diff-tactics diff-engines; do polygraphy inspect $tool --help-all; done
for tool in extract insert sanitize prune weight-strip weight-reconstruct; do polygraphy surgeon $tool --help-all; done
polygraphy check lint --help-all
polygraphy data to-input --help-all
polygraphy help --write-manuals manuals
polygraphy completion bash && polygraphy completion zsh && polygraphy completion fish

== usage-errors
polygraphy
polygraphy debug
polygraphy nonsense
polygraphy run --nonsense
polygraphy debug reduce
polygraphy debug repeat --check true
polygraphy debug reduce missing.onnx -o out.onnx --check true
polygraphy run models/identity.onnx --onnxrt --atol nonsense
polygraphy debug precision models/identity.onnx --int8 --emit onnx --check true
polygraphy debug build models/identity.onnx --until good --explore --deterministic --check true
polygraphy debug passes examples/optimizers/quantized_add.onnx --among fusions
polygraphy debug quantization models/identity.onnx
polygraphy debug accuracy models/identity.onnx --onnxrt -o folder
polygraphy debug kernels models/identity.onnx --onnxrt
polygraphy debug releases models/identity.onnx --releases 1.90
polygraphy inspect model models/reducable.onnx --show everything

== reduce-bisect
polygraphy debug reduce models/reducable.onnx -o reduced.onnx --artifacts polygraphy_debug.onnx --json result.json
 --report page.html --report-data page.json --junit junit.xml --iter-info info.json --min-good good.onnx
 --check check_nodes polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5
polygraphy debug reduce models/reducable.onnx -o reduced.onnx --load-debug-replay polygraphy_debug_replay.json -v
 --check check_nodes polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5

== reduce-linear
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --mode linear --min-good good.onnx --json result.json
 --verdict-cache cache --check check_nodes polygraphy_debug.onnx --fail-node n9
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --mode linear --verdict-cache cache --save-debug-replay again.json
 --check check_nodes polygraphy_debug.onnx --fail-node n9

== reduce-minimal
make_chain model.onnx 90 0 branches
polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --min-good good.onnx --json result.json -vv
 --report page.html --report-data page.json
 --check check_nodes polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
polygraphy debug reduce model.onnx -o parallel.onnx --mode minimal --save-debug-replay parallel.json -j 4
 --check check_nodes '{artifact}' --fail-node node_7 --fail-node node_71

== reduce-all
make_chain model.onnx 24 0 chain
polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --all --json result.json
 --check 'check_nodes {artifact} --fail-node node_3 && check_nodes {artifact} --fail-node node_17'

== reduce-validate
polygraphy debug reduce examples/overflow/detector.onnx -o reduced.onnx --mode minimal --onnxrt-threads 1 --iter-inputs in.json
 --iter-golden golden.json --no-remove-intermediate --json result.json
 --check polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --validate
polygraphy run reduced.onnx --onnxrt --validate

== reduce-simplify
polygraphy debug reduce examples/overflow/detector.onnx -o simple.onnx --mode bisect --simplify --onnxrt-threads 1
 --json result.json --check polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --validate
polygraphy debug reduce models/convolutions.onnx -o weights.onnx --simplify weights shapes --onnxrt-threads 1 -v
 --model-input-shapes x:[1,3,12,11] --check check_nodes polygraphy_debug.onnx --fail-node pointwise

== reduce-golden
polygraphy run examples/reduce/attention.onnx --onnxrt --onnxrt-threads 1 --onnx-outputs mark all --save-inputs in.json
 --save-outputs golden.json
polygraphy data to-input in.json golden.json -o merged.json
polygraphy debug reduce examples/reduce/attention.onnx -o reduced.onnx --mode bisect --load-inputs merged.json
 --onnxrt-threads 1 --json result.json --check polygraphy run polygraphy_debug.onnx --trt --fp16 --deterministic
 --load-inputs merged.json --load-outputs golden.json --atol 0.5 --rtol 0.1

== reduce-flaky
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --mode minimal --flaky --no-false-failures --json result.json
 --check 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; [ $((n % 3)) = 0 ] ||
 check_nodes polygraphy_debug.onnx --fail-node n9'

== reduce-verdicts
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check true
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check false
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check no_such_program
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check 'exit 125' --exit-code
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --exit-code --skip-code 7 --fail-code 1 --json result.json
 --check 'check_nodes polygraphy_debug.onnx --fail-node n9 || exit 1; exit 7'
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --fail-regex 'BAD NODE' --show-output --mode linear
 --check 'check_nodes polygraphy_debug.onnx --fail-node n9; true'
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check-timeout 1 --on-timeout skip --no-verify
 --check 'check_nodes polygraphy_debug.onnx --fail-node n9 && sleep 30; exit 0'

== reduce-replays
for tool in "reduce models/chain17.onnx -o reduced.onnx" "passes examples/optimizers/quantized_add.onnx --decisions A B C" "repeat --until 3";
 do polygraphy debug $tool --save-debug-replay replay.json --iter-info info.json --check 'test ! -e stop || exit 125;
 case "$(cat info.json)" in *2*) touch stop ;; esac; ! grep -q n9 polygraphy_debug.onnx 2>/dev/null && test "{disabled}" != ""';
 rm -f stop; polygraphy debug $tool --load-debug-replay replay.json --check false;
 polygraphy debug $tool --load-debug-replay replay.json --force-debug-replay --save-debug-replay next.json --check true; done
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --load-debug-replay golden/debug_replay/reduce_bisect_fail5.json
 --force-debug-replay --check check_nodes polygraphy_debug.onnx --fail-node n9
polygraphy debug reduce models/reducable.onnx -o reduced.onnx --load-debug-replay golden/debug_replay/reduce_linear_fail7.json
 --force-debug-replay --mode linear --check check_nodes polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_7
echo '{"_N0": 3}' >broken.json; polygraphy debug repeat --until 2 --load-debug-replay broken.json --check true
polygraphy debug reduce models/chain17.onnx -o no/such/folder/reduced.onnx --check true
echo mine >polygraphy_debug.onnx; polygraphy debug reduce models/chain17.onnx -o reduced.onnx --check false

== reduce-options
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --no-reduce-inputs --no-verify --mode linear --exit-code
 --iter-artifact candidate.onnx --art-dir sorted --artifacts candidate.onnx note.txt --copy-weights --work-dir work
 --launcher 'env LAUNCHED=1' --save-debug-replay '' --json result.json
 --check sh -c 'echo $LAUNCHED >note.txt; check_nodes {artifact} --fail-node n9'
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --mode minimal --signature exit-code -j 2
 --hide-fail-output --junit junit.xml --report page.html
 --check sh -c 'check_nodes {artifact} --fail-node n3 || exit 3; check_nodes {artifact} --fail-node n9 && exit 0; exit 4'
polygraphy debug reduce models/chain17.onnx -o reduced.onnx --max-checks 3 --mode minimal
 --check check_nodes polygraphy_debug.onnx --fail-node n9
polygraphy debug reduce models/chain17.onnx --min-good good.onnx -o reduced.onnx --silent --log-file log.txt -vvv
 --check check_nodes polygraphy_debug.onnx --fail-node n9
polygraphy debug reduce models/chain17.onnx -o reduced.onnx -q --check check_nodes polygraphy_debug.onnx --fail-node n9

== reduce-interactive
printf 'f\np\nf\nf\np\np\n' | polygraphy debug reduce models/reducable.onnx -o reduced.onnx --mode bisect

== reduce-other-models
polygraphy debug reduce models/nested_bodies.onnx -o nested.onnx --mode minimal --simplify --onnxrt-threads 1 --json nested.json
 --check check_nodes polygraphy_debug.onnx --fail-node loop
polygraphy debug reduce models/external_weights_and_others.onnx -o external.onnx --save-external-data external.data
 --mode minimal --onnxrt-threads 1 --check polygraphy run polygraphy_debug.onnx --onnxrt --validate --val-range [1e38,3e38]
polygraphy debug reduce models/dynamic_shapes.onnx -o dynamic.onnx --model-input-shapes x:[3,2,4] --mode bisect
 --onnxrt-threads 1 --force-fallback-shape-inference --check check_nodes polygraphy_debug.onnx --fail-node columns
polygraphy debug reduce models/local_functions.onnx -o functions.onnx --mode minimal --simplify --onnxrt-threads 1
 --check check_nodes polygraphy_debug.onnx --fail-node halved
polygraphy debug reduce models/subgraph_uses_outer_tensors.onnx -o outer.onnx --mode linear --onnxrt-threads 1
 --check 'polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --val-range [2,3] --atol 0 && exit 1; exit 0'

== precision-minimal
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy debug precision models/attention_overflow.onnx --fp16 --mode minimal --deterministic --json result.json
 --report page.html --report-data page.json --output-onnx mixed.onnx --save-tactics tactics.json --hide-fail-output
 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2
polygraphy debug precision models/attention_overflow.onnx --fp16 --mode minimal --deterministic --json again.json
 --load-debug-replay polygraphy_debug_replay.json --hide-fail-output
 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2

== precision-bisect
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy debug precision models/attention_overflow.onnx --fp16 --deterministic --json result.json
 --artifacts polygraphy_debug.engine
 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2
polygraphy debug precision models/attention_overflow.onnx --fp16 --deterministic --dir reverse --mode linear -j 2
 --save-debug-replay linear.json --hide-fail-output
 --check polygraphy run '{artifact}' --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2

== precision-onnx
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy debug precision models/attention_overflow.onnx --mode minimal --emit onnx --onnxrt-threads 1 --json result.json
 --report page.html --report-data page.json --output-onnx mixed.onnx --hide-fail-output
 --check polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --load-outputs golden.json --atol 1e-2 --rtol 1e-2
polygraphy debug precision models/attention_overflow.onnx --mode minimal --emit onnx --bf16 --onnxrt-threads 1
 --json bfloat16.json --output-onnx bfloat16.onnx --hide-fail-output --save-debug-replay bfloat16_replay.json
 --check polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --load-outputs golden.json --atol 1e-2 --rtol 1e-2
for mode in bisect linear; do polygraphy debug precision models/attention_overflow.onnx --mode $mode --emit onnx -j 2
 --onnxrt-threads 1 --json $mode.json --hide-fail-output --save-debug-replay $mode.replay.json
 --check polygraphy run '{artifact}' --onnxrt --onnxrt-threads 1 --load-outputs golden.json --atol 1e-2 --rtol 1e-2; done

== precision-verdicts
polygraphy debug precision models/attention_overflow.onnx --fp16 --deterministic --check true
polygraphy debug precision models/attention_overflow.onnx --fp16 --deterministic --check false
polygraphy debug precision models/attention_overflow.onnx --fp16 --deterministic --mode minimal --exit-code --check 'exit 125'
polygraphy debug precision models/convolutions.onnx --int8 --deterministic --mode minimal --json result.json
 --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'

== passes-optimizer
polygraphy debug passes examples/optimizers/quantized_add.onnx --val-range [-5,5] --atol 0.01 --onnxrt-threads 1
 --json result.json --report page.html --report-data page.json
polygraphy debug passes examples/optimizers/quantized_add.onnx --val-range [-5,5] --atol 0.01 --onnxrt-threads 1 --among barriers
 --json barriers.json --save-debug-replay barriers_replay.json
polygraphy debug passes examples/optimizers/quantized_add.onnx --val-range [-5,5] --atol 1 --onnxrt-threads 1 --exit-code
 --save-debug-replay ''

== passes-reduce
polygraphy debug passes examples/optimizers/quantized_add.onnx --val-range [-5,5] --atol 0.01 --onnxrt-threads 1 --reduce
 --json result.json

== passes-setting
polygraphy debug passes examples/optimizers/blocked_matmul.onnx --val-range [-1,1] --atol 0.01 --onnxrt-threads 1
 --json result.json

== passes-named
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions O{1..30} --json result.json --report-data page.json
 --check 'case ";{disabled};" in *";O3;"*) ;; *) exit 1 ;; esac; case ";{disabled};" in *";O17;"*) ;; *) exit 1 ;; esac'
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions O{1..30} --save-debug-replay two.json -j 4
 --check 'case ";{disabled};" in *";O4;"* | *";O20;"*) exit 0 ;; esac; exit 1'
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions s:{a,b,c,d}@{1..10} --save-debug-replay kinds.json
 --json kinds_result.json --check 'case ";{disabled};" in *";s:b@7;"*) exit 0 ;; esac; exit 1'
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions A B --exit-code --json undecided.json
 --save-debug-replay undecided_replay.json
 --check 'case "{disabled}" in "A;B") exit 0 ;; B) exit 125 ;; esac; exit 1'
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions A B --json all_off.json --save-debug-replay '' --check false
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions F A D --json beside.json --save-debug-replay ''
 --check 'case "{disabled}" in "" | F | A | "F;A" | "A;D") exit 1 ;; esac'
polygraphy debug passes examples/optimizers/quantized_add.onnx --decisions O{1..5} --flaky --json flaky.json --save-debug-replay ''
 --check 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; [ $((n % 4)) = 0 ] && exit 0;
 case ";{disabled};" in *";O2;"*) exit 0 ;; esac; exit 1'

== passes-engine
polygraphy debug passes models/convolutions.onnx --trt --deterministic --plugins $PLUGINS/wrong_when_fused.so --atol 1e-3
 --json result.json --reduce
FORGETFUL_ALONE=wrong polygraphy debug passes models/convolutions.onnx --trt --deterministic
 --plugins $PLUGINS/wrong_when_fused.so --atol 1e-3 --among fusions --json kernels.json --save-debug-replay kernels_replay.json

== passes-tensorrt
export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/11.1 LD_LIBRARY_PATH=$TENSORRT/11.1
 TENSORRT_STAND_IN_WRONG_LAYER='pointwise + relu';
 polygraphy debug passes models/convolutions.onnx --trt --atol 1e-3 --json result.json --onnxrt-threads 1
 --builder-optimization-level 0

== precision-tensorrt
for version in 10.16 11.0; do
 export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/$version LD_LIBRARY_PATH=$TENSORRT/$version;
 polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --save-inputs in.json --save-outputs out.json;
 polygraphy debug precision models/attention_overflow.onnx --fp16 --builder-optimization-level 0 --mode minimal --save-debug-replay $version.replay.json
 --onnxrt-threads 1 --json $version.json --output-onnx $version.onnx
 --check polygraphy run polygraphy_debug.engine --trt --load-inputs in.json --load-outputs out.json --atol 1e-2 --rtol 1e-2; done

== build-tensorrt
@ export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/10.16 LD_LIBRARY_PATH=$TENSORRT/10.16
 TENSORRT_STAND_IN_SEED=1;
 polygraphy convert models/convolutions.onnx -o it.engine --save-tactics replay.json --trt-opt-shapes x:[1,3,12,11]
export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/10.16 LD_LIBRARY_PATH=$TENSORRT/10.16
 TENSORRT_STAND_IN_SEED=1; polygraphy debug build models/convolutions.onnx --until 2 --load-tactics replay.json
 --save-layer-info layers.json --artifacts layers.json polygraphy_debug.engine --trt-opt-shapes x:[1,3,12,11]
 --json result.json --check test -s polygraphy_debug.engine;
 polygraphy debug tactics models/identity.onnx --dir nothing --check false;
 polygraphy debug build models/identity.onnx --deterministic --until 2 --check false

== flaky-engines
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy debug precision models/attention_overflow.onnx --mode minimal --emit onnx --onnxrt-threads 1 --json precision.json --flaky
 --save-debug-replay '' --hide-fail-output --check 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; [ $((n % 5)) = 0 ] ||
 polygraphy run polygraphy_debug.onnx --onnxrt --onnxrt-threads 1 --load-outputs golden.json --atol 1e-2 --rtol 1e-2'
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --flaky
 --onnxrt-threads 1 --json quantization.json --save-debug-replay '' --report page.html
 --check 'n=$(($(cat n) + 1)); echo $n >n; [ $((n % 5)) = 0 ] || ! grep -q relu_2_quantize polygraphy_debug.onnx'
polygraphy debug build models/identity.onnx --until 8 --deterministic --flaky --json build.json
 --check 'n=$(($(cat n) + 1)); echo $n >n; [ $((n % 3)) = 0 ]'

== quantization-search
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --atol 0.02
 --json result.json --report page.html --report-data page.json --onnxrt-threads 1
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --atol 0.02
 --emit left-out --json left_out.json --onnxrt-threads 1 -o left_out --save-debug-replay left_out_replay.json
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --atol 1
 --exit-code --onnxrt-threads 1 -o none --save-debug-replay ''

== quantization-table
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --json result.json
 --report page.html --report-data page.json --onnxrt-threads 1
polygraphy debug quantization examples/quantization/quantized.onnx --json alone.json --onnxrt-threads 1 -v

== quantization-check
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --emit lists
 --json result.json -j 2 --onnxrt-threads 1 --check
 '! grep -q relu_2_quantize {artifact} || exit 1; ! grep -q conv_1_weight_q {artifact} || exit 1; exit 0'
polygraphy debug quantization examples/quantization/quantized.onnx --float examples/quantization/float.onnx --check 'echo no; exit 1'

== quantization-made
quantize_model models/convolutions.onnx --random-weights --shape x=1x3x12x11 --per-channel --all-operators --float float.onnx
 -o quantized.onnx --list
polygraphy debug quantization quantized.onnx --float float.onnx --json result.json --onnxrt-threads 1
polygraphy debug quantization quantized.onnx --float float.onnx --compare quality --snr-threshold 40 --psnr-threshold 40
 --onnxrt-threads 1 --json search.json

== tactics
cp models/pointwise_convolutions.onnx model.onnx
polygraphy run model.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy convert model.onnx -o good.engine --plugins $PLUGINS/wrong_on_one_shape.so --tactic-sources pointwise onnxrt
 --deterministic --save-tactics good.json
polygraphy convert model.onnx -o bad.engine --plugins $PLUGINS/wrong_on_one_shape.so --tactic-sources pointwise onnxrt
 --deterministic --save-tactics bad.json --exclude-tactics pointwise:careful
polygraphy debug tactics model.onnx --good good.json --bad bad.json --plugins $PLUGINS/wrong_on_one_shape.so
 --tactic-sources pointwise onnxrt --deterministic --save-tactics mixture.json --json found.json
 --save-fixed-tactics fixed.json --report page.html --report-data page.json
 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-4 --plugins $PLUGINS/wrong_on_one_shape.so
polygraphy debug tactics model.onnx --good good.json --bad bad.json --plugins $PLUGINS/wrong_on_one_shape.so
 --tactic-sources pointwise onnxrt --deterministic --save-tactics mixture.json --json kernel.json --save-debug-replay kernel_replay.json
 --check sh -c '! grep -q hasty mixture.json'
polygraphy debug tactics model.onnx --good good.json --bad bad.json --plugins $PLUGINS/wrong_on_one_shape.so
 --tactic-sources pointwise onnxrt --deterministic --exit-code --save-debug-replay '' --check true
polygraphy debug tactics model.onnx --good good.json --bad good.json --plugins $PLUGINS/wrong_on_one_shape.so
 --tactic-sources pointwise onnxrt --deterministic --exit-code --save-debug-replay '' --check true
polygraphy inspect diff-engines good.engine bad.engine --json engines.json

== build
polygraphy convert models/convolutions.onnx -o it.engine --deterministic --save-tactics tactics.json --save-layer-info layers.json
polygraphy debug build models/convolutions.onnx --until 3 --load-tactics tactics.json
 --save-layer-info saved_layers.json --artifacts saved_layers.json polygraphy_debug.engine --json result.json
 --report page.html --report-data page.json --check sh -c 'test $POLYGRAPHY_ITERATION != 1'
polygraphy debug build models/identity.onnx --until bad --deterministic --exit-code --junit junit.xml --save-tactics t.json
 --artifacts t.json --save-debug-replay bad_replay.json
 --check sh -c 'exit $POLYGRAPHY_ITERATION'
polygraphy debug diff-tactics --dir polygraphy_artifacts --json diff.json
POLYGRAPHY_TEST_PLUGIN='failing run' polygraphy debug build models/convolutions.onnx --until good --val-range [0,1]
 --tactic-sources misbehaving --trt-opt-shapes x:[1,3,12,11] --plugins $PLUGINS/misbehaving.so --check true

== build-explore
polygraphy run models/pointwise_convolutions.onnx --onnxrt --onnxrt-threads 1 --save-outputs golden.json
polygraphy debug build models/pointwise_convolutions.onnx --plugins $PLUGINS/wrong_on_one_shape.so --tactic-sources pointwise
 --explore --explore-within 100000 --until 12 --save-tactics replay.json --artifacts replay.json --json result.json
 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-4 --plugins $PLUGINS/wrong_on_one_shape.so

== diff-tactics
polygraphy debug diff-tactics --dir golden/tactics --json result.json --report page.html
polygraphy inspect diff-tactics --dir golden/tactics_noisy -v --json noisy.json
polygraphy inspect diff-tactics --good golden/tactics/good --bad golden/tactics/bad
polygraphy inspect diff-tactics --dir nowhere

== repeat
polygraphy debug repeat --until 3 --artifacts log.txt --json result.json --report page.html --report-data page.json
 --junit junit.xml --iter-info info.json --show-output
 --check sh -c 'cat info.json; echo $POLYGRAPHY_ITERATION >log.txt; exit $POLYGRAPHY_ITERATION'
polygraphy debug repeat --until bad --fail-regex 'no[pt]' --save-debug-replay regex.json --check 'echo $POLYGRAPHY_ITERATION nop'
polygraphy debug repeat --until 6 --flaky --exit-code --save-debug-replay flaky.json --check 'test $POLYGRAPHY_ITERATION != 4'
polygraphy debug repeat --until 4 --fail-code 3 --save-debug-replay '' --check 'exit $POLYGRAPHY_ITERATION'
polygraphy debug repeat --until 4 --ignore-fail-code 2 --save-debug-replay '' --check 'exit $POLYGRAPHY_ITERATION'
polygraphy debug repeat --until 2 --save-debug-replay '' --check 'kill -SEGV $$'
printf 'd\np\nf\np\n' | polygraphy debug repeat --until 3 --save-debug-replay asked.json
polygraphy debug repeat --until 5 --load-debug-replay polygraphy_debug_replay.json --force-debug-replay --check true

== accuracy-cause
polygraphy debug accuracy models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 --atol 0.5
 --rtol 0.1 -o folder --json result.json --report page.html --report-data page.json
sh folder/reproduce.sh
polygraphy debug accuracy models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 --atol 0.5
 --rtol 0.1 -o folder --json again.json

== accuracy-none
@ polygraphy debug accuracy models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o folder;
 find folder -mindepth 1 ! -name session.json ! -name timing.cache -delete
polygraphy debug accuracy models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o folder
 --json result.json
polygraphy debug accuracy models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16
 --max-checks 1 -o budget --json budget.json

== accuracy-nan
polygraphy debug accuracy models/masked_and_negative.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o folder
 --json result.json -v
@ echo '{"x": [[1, 2, NaN, 4], [1, 2, 3, 4]]}' >data.json
polygraphy debug accuracy models/masked_and_negative.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o data
 --json data_result.json --load-inputs data.json

== accuracy-runner
polygraphy debug accuracy examples/overflow/detector.onnx --onnxrt --onnxrt-threads 1 -o folder --json result.json
 --runner 'wrong=polygraphy run {model} --onnxrt --onnxrt-threads 1 --load-inputs {inputs} --save-outputs {outputs:json}'

== accuracy-overflow
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/overflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 -o folder
 --json result.json --report page.html

== accuracy-underflow
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/underflow.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 -o folder
 --json result.json --report page.html

== accuracy-not-a-number
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/not_a_number.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o folder
 --json result.json --report page.html

== accuracy-kernel
@ python3 -B $ROOT/examples/faults/make.py faults
@ polygraphy debug accuracy faults/kernel_in_five_layers.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic
 --plugins $FAULTS/vector_norm.so -o folder; find folder -mindepth 1 ! -name session.json ! -name timing.cache -delete
polygraphy debug accuracy faults/kernel_in_five_layers.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic
 --plugins $FAULTS/vector_norm.so -o folder --json result.json --report page.html

== accuracy-fusion
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/fusion.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --plugins $FAULTS/fused_product.so -o folder
 --json result.json --report page.html

== accuracy-tactic
@ polygraphy debug accuracy models/pointwise_convolutions.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic
 --plugins $PLUGINS/wrong_on_one_shape.so --tactic-sources pointwise onnxrt -o folder; find folder -mindepth 1 ! -name session.json ! -name timing.cache -delete
polygraphy debug accuracy models/pointwise_convolutions.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic
 --plugins $PLUGINS/wrong_on_one_shape.so --tactic-sources pointwise onnxrt -o folder
 --json result.json --report page.html

== accuracy-fusion-of-a-compiler
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/fusion_of_a_compiler.onnx --onnxrt --onnxrt-threads 1 --runner-build "toy=python3 -B $ROOT/examples/faults/compiler.py fusion {model} {engine}"
 --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --onnxrt-threads 1 --load-inputs {inputs} --save-outputs {outputs:json}' -o folder
 --json result.json --report page.html

== accuracy-rounding
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/rounding.onnx --onnxrt --onnxrt-threads 1 --runner-build "toy=python3 -B $ROOT/examples/faults/compiler.py rounding {model} {engine}"
 --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --onnxrt-threads 1 --load-inputs {inputs} --save-outputs {outputs:json}' -o folder
 --json result.json --report page.html

== accuracy-weight-layout
python3 -B $ROOT/examples/faults/make.py faults
polygraphy debug accuracy faults/weight_layout.onnx --onnxrt --onnxrt-threads 1 --runner-build "toy=python3 -B $ROOT/examples/faults/compiler.py layout {model} {engine}"
 --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt --onnxrt-threads 1 --load-inputs {inputs} --save-outputs {outputs:json}' -o folder
 --json result.json --report page.html

== accuracy-sound-images
@ python3 -B $ROOT/examples/faults/make.py faults
@ for i in 1 2 3; do
 polygraphy debug accuracy faults/sound_images.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 -o folder;
 find folder -mindepth 1 ! -name session.json ! -name timing.cache -delete; done
polygraphy debug accuracy faults/sound_images.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --fp16 -o folder
 --json result.json --report page.html

== accuracy-optimizer
polygraphy debug accuracy models/transposed_before_a_vector.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o folder
 --json result.json
polygraphy debug accuracy examples/optimizers/quantized_add.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic -o quantized
 --val-range [-5,5] --json quantized.json

== run-compare
polygraphy run models/reducable.onnx --onnxrt --onnxrt-threads 1 --onnxrt --save-inputs in.json --save-outputs out.json
 --iterations 2 --json result.json --report page.html --report-data page.json --junit junit.xml
polygraphy run models/reducable.onnx --onnxrt --onnxrt-threads 1 --seed 2 --load-outputs out.json --json differs.json
 --report differs.html --save-heatmaps heatmaps --save-error-metrics-plot plots
polygraphy run models/reducable.onnx --onnxrt --load-inputs in.json --load-outputs out.json -v
for statistic in elemwise max mean median quantile; do polygraphy run models/reducable.onnx --onnxrt --onnxrt-threads 1 --seed 3
 --load-outputs out.json --check-error-stat $statistic --atol 0.2 --json $statistic.json; done
for way in indices distance quality; do polygraphy run models/matmul_chain_64.onnx --onnxrt --onnxrt-threads 1 --trt --fp16
 --deterministic --compare $way --json $way.json; done
polygraphy run --load-outputs out.json out.json --json loaded.json

== run-engine
polygraphy run models/convolutions.onnx --onnxrt --onnxrt-threads 1 --trt --deterministic --atol 1e-3 --save-engine it.engine
 --save-tactics tactics.json --save-outputs out.json --json result.json
polygraphy run it.engine --trt --load-outputs out.json --atol 1e-3 -vv
polygraphy run models/convolutions.onnx --trt --load-tactics tactics.json --load-outputs out.json --atol 1e-3 -v
polygraphy run models/convolutions.onnx --trt --deterministic --trt-outputs mark all --exclude-tactics onednn
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --trt --fp16 --deterministic --validate --report page.html
polygraphy run models/convolutions.onnx --trt --int8 --deterministic --calibration-cache cal.cache --validate

== run-options
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --onnxrt-optimization-level none
 --onnxrt-disable-optimizers ConstantFolding --session-config session.disable_prepacking=1 --providers cpu -vv
 --val-range [-1,1] --iterations 2 --seed 7 --warm-up 1 --save-outputs out.json
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --use-subprocess --load-outputs out.json --seed 7
 --val-range [-1,1] --iterations 2 --rtol y:1e-4 1e-5 --atol y:1e-6 --norm-tolerance 1e-5 --fail-fast
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --seed 8 --load-outputs out.json
 --check-error-stat y:quantile --error-quantile 0.5 --infinities-compare-equal
polygraphy run models/dynamic_shapes.onnx --trt --deterministic --trt-min-shapes x:[1,2,4] --trt-opt-shapes x:[2,2,4]
 --trt-max-shapes x:[4,2,4] --input-shapes x:[3,2,4] -v
polygraphy run models/convolutions.onnx --trt --fp16 --bf16 --deterministic --precision-constraints prefer
 --layer-precisions pointwise:float32 --tensor-dtypes t1:float32 --save-layer-info layers.json --json result.json
polygraphy run models/convolutions.onnx --trt --deterministic --disable-fusions relu --disable-foldings --plain-layouts
 --builder-optimization-level 5 --save-timing-cache times.cache --strongly-typed
polygraphy run models/convolutions.onnx --trt --deterministic --sparse-weights --refittable --pool-limit workspace:1G
polygraphy run models/sizes_from_data.onnx --onnxrt --val-range [9,9] --max-memory 1K
polygraphy run models/identity.onnx --onnxrt --int-min 1 --float-max 3 --data-loader-backend-module torch
polygraphy run models/identity.onnx --onnxruntime-lib /nowhere --onnxrt
polygraphy run models/identity.onnx --onnxrt --providers cuda
POLYGRAPHY_DISABLED='ConstantFolding;fusoin:relu' polygraphy run models/identity.onnx --onnxrt
polygraphy run models/all_in_an_if.onnx --trt --deterministic --decide-branches

== run-divergence
polygraphy run examples/overflow/detector.onnx --onnxrt --onnxrt-threads 1 --validate --first-divergence --json result.json
 --report page.html --report-data page.json --node-data nodes.json --annotate noted.onnx
polygraphy run models/attention_overflow.onnx --trt --trt-outputs mark all --fp16 --deterministic --save-inputs in.json
 --save-outputs out.safetensors
polygraphy run models/attention_overflow.onnx --onnxrt --onnxrt-threads 1 --load-inputs in.json --load-outputs out.safetensors
 --first-divergence --atol 0.1 --rtol 0.1 --json divergence.json --output-memory 1K --report divergence.html
polygraphy run models/identity_identity.onnx --onnxrt --first-divergence --output-memory 1K

== run-files
polygraphy run models/identity.onnx --onnxrt --save-inputs in.safetensors --save-outputs out.safetensors
polygraphy run models/identity.onnx --onnxrt --load-inputs in.safetensors --load-outputs out.safetensors --save-outputs out.npz
polygraphy run models/identity.onnx --onnxrt --load-inputs missing.json
polygraphy run models/strings.onnx --onnxrt --save-outputs strings.json
polygraphy run models/every_type.onnx --onnxrt --save-inputs every.json --save-outputs types.json
polygraphy run models/sequence_output.onnx --onnxrt
polygraphy run models/dynamic_identity.onnx --onnxrt --input-shapes x:[1,2,1,1] X:[1,2,4,4]
polygraphy run models/reflecting_pads.onnx --onnxrt --input-shapes 'x:[1,2]'
polygraphy run models/unknown_operator.onnx --onnxrt
polygraphy run models/impossible_nodes.onnx --onnxrt --use-subprocess
polygraphy run models/external_weights.onnx --onnxrt --val-range [-2,2] --log-file log.txt --log-format no-colors
polygraphy run models/half_and_bodies.onnx --onnxrt --fp-to-fp16 --save-onnx half.onnx

== run-runner
polygraphy run models/identity.onnx --onnxrt --runner 'sed s/\"x\"/\"y\"/ {inputs} >{outputs}' --save-outputs out.json
polygraphy run models/identity.onnx --runner 'mine=echo oh dear >&2; exit 7'
polygraphy run models/identity.onnx --onnxrt --runner 'kill -SEGV $$'
polygraphy run models/identity.onnx --runner true
polygraphy run models/identity.onnx --onnxrt --runner 'head -c 6 {inputs} >{outputs}'

== run-tensorrt
@ export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/10.16 LD_LIBRARY_PATH=$TENSORRT/10.16;
 polygraphy convert models/convolutions.onnx -o it.engine --save-tactics replay.json --trt-opt-shapes x:[1,3,12,11]
export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$TENSORRT/10.16 LD_LIBRARY_PATH=$TENSORRT/10.16;
 polygraphy convert models/convolutions.onnx -o again.engine --save-layer-info layers.json --trt-opt-shapes x:[1,3,12,11]
 --load-tactics replay.json; polygraphy run models/convolutions.onnx --onnxrt --onnxrt-threads 1 --trt --atol 1e-3
 --input-shapes x:[1,3,12,11] --trt-opt-shapes x:[1,3,12,11] --load-tactics replay.json --save-outputs out.json
 --json result.json; polygraphy inspect model layers.json --show layers

== convert
polygraphy convert models/attention_overflow.onnx -o half.onnx --fp-to-fp16 --keep-float32 Softmax 'sco*' --json result.json
polygraphy convert models/convolutions.onnx -o it.engine --deterministic --save-tactics tactics.json --json engine.json -v
polygraphy convert models/convolutions.onnx -o half.engine --fp16 --deterministic --precision-constraints obey
 --layer-precisions pointwise:float32 --save-layer-info layers.json
polygraphy convert models/external_weights.onnx -o inside.onnx
polygraphy convert models/matmul_chain_64.onnx -o outside.onnx --save-external-data outside.data --external-data-size-threshold 16
polygraphy convert models/reducable.onnx -o model.xyz
polygraphy convert models/reducable.onnx -o model.hdf5
polygraphy convert models/identity.onnx -o marked.onnx --onnx-outputs mark all
polygraphy convert models/unknown_operator.onnx -o it.engine --deterministic

== inspect-model
for name in reducable nested_bodies local_functions dynamic_shapes every_type odd_names strings sparse_weights; do
 polygraphy inspect model models/$name.onnx --show layers attrs weights --json $name.json; done
polygraphy inspect model models/omitted_optional_input.onnx --show layers --shape-inference
polygraphy inspect model models/sizes_from_data.onnx --list-unbounded-dds
polygraphy inspect model models/convolutions.onnx --display-as trt --show layers attrs --json network.json
polygraphy inspect model golden/tensorrt/real/10.16.layers.json --show layers --json real.json --report page.html
polygraphy inspect model golden/tensorrt/layers/pytorch-resnet-A100-fp16.layers.json --show layers
 --profile golden/tensorrt/layers/pytorch-resnet-A100-fp16.profile.json --json profile.json
head -c 100 models/reducable.onnx >damaged.onnx; polygraphy inspect model damaged.onnx

== inspect-data
for name in inputs/all_dtypes_2iters run/all_dtypes_2runners_2iters run/run_layerwise_mark_all run/odd_layouts legacy/run_results_old_markers; do
 polygraphy inspect data golden/$name.json -a -s --histogram --json $(basename $name).json; done
for name in npy/float32_2x3.npy npy/complex128.npy npy/strings.npy npz/stored.npz npz/deflated.npz npz/bzip2.npz; do
 polygraphy inspect data golden/$name -s; done
polygraphy inspect data golden/debug_replay/repeat_3iters.json
polygraphy inspect data missing.json

== inspect-others
polygraphy inspect capability models/convolutions.onnx --json capability.json
polygraphy inspect capability models/unknown_operator.onnx --with-partitioning -o parts --json parts.json
polygraphy inspect capability --providers --json providers.json
polygraphy inspect sparsity models/convolutions.onnx --json sparsity.json
polygraphy inspect tactics golden/tactics/bad/0.json --json tactics.json
polygraphy inspect tactics missing.json
polygraphy inspect diff-engines golden/tensorrt/layers/pytorch-resnet-A100-fp32.layers.json
 golden/tensorrt/layers/pytorch-resnet-A100-fp16.layers.json --json engines.json

== surgeon
polygraphy surgeon extract models/reducable.onnx -o part.onnx --inputs identity_out_0:auto:auto identity_out_2:auto:auto
 --outputs identity_out_6:auto --json part.json
polygraphy surgeon extract models/nested_bodies.onnx -o missing.onnx --outputs nowhere:auto
polygraphy surgeon insert models/reducable.onnx -o inserted.onnx --inputs add_out_4 --outputs add_out_4 --op Cast --attrs to=7 -v
polygraphy surgeon insert models/reducable.onnx -o inserted.onnx --inputs nowhere --outputs add_out_4 --op Neg
polygraphy surgeon sanitize models/foldable.onnx -o folded.onnx --fold-constants --cleanup --json folded.json
polygraphy surgeon sanitize models/one_constant_fails.onnx -o halves.onnx --fold-constants --partitioning recursive
polygraphy surgeon sanitize models/decided_branch.onnx -o decided.onnx --fold-constants
polygraphy surgeon sanitize models/unsorted_nodes.onnx -o sorted.onnx --toposort
polygraphy surgeon sanitize models/sizes_from_data.onnx -o bounded.onnx --set-unbounded-dds-upper-bound 5
polygraphy surgeon sanitize models/dynamic_shapes.onnx -o fixed.onnx --fold-constants --override-input-shapes x:[3,2,4]
polygraphy surgeon prune models/matmul_chain_64.onnx -o pruned.onnx --json pruned.json
polygraphy surgeon weight-strip models/matmul_chain_64.onnx -o stripped.onnx
polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx

== lint
for name in identity impossible_nodes unknown_operator duplicate_node_names empty no_imports_and_no_name useless_parts odd_names; do
 polygraphy check lint models/$name.onnx -o $name.json --json result_$name.json --sarif $name.sarif --junit $name.xml; done
polygraphy check lint examples/lint/broken.onnx -v
polygraphy check lint models/identity.onnx --input-shapes 'x:[3]'
polygraphy check lint missing.onnx

== data
polygraphy data to-input golden/inputs/run_save_inputs_2iters.json golden/run/run_layerwise_mark_all.json -o merged.json
polygraphy data to-input golden/run/run_layerwise_mark_all.json -o arrays/
polygraphy data to-input merged.json -o merged.npz
polygraphy data to-input merged.json -o merged.safetensors
polygraphy data to-input merged.json -o part.json --only nowhere
polygraphy data to-input missing.json -o out.json
"""


def parse_cases(text):
    """The cases as (name, [line that prepares, ...], [line that is compared, ...])."""
    cases = []
    for line in text.splitlines():
        if line.startswith("== "):
            cases.append((line[3:], [], []))
            lines = None
        elif line.startswith(" "):
            lines[-1] += line
        elif line:
            lines = cases[-1][1 if line.startswith("@ ") else 2]
            lines.append(line.removeprefix("@ "))
    return cases


NUMBER = rb"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"
PATTERNS = [(re.compile(pattern), replacement) for pattern, replacement in (
    # "Duration 0.0123s", "Runtime: 1.2s", "in 0.3 s", "took 12 ms", "0.12 ms", "3 min"
    (rb"\b" + NUMBER + rb" ?(?:s|ms|us|ns|min|seconds|minutes)\b(?!/)", b"<time>"),
    # keys of JSON, also of JSON within a string, and attributes of XML
    (rb'(\\?"(?:[a-z_]*seconds|[a-z_]*duration|(?:run|wall_)?times?|runtimes|[a-z_]+_(?:ms|us|ns))\\?": *(?:\[(?:\\n|\s)*)?)'
     + NUMBER, rb"\1<time>"),
    (rb'((?:time|timestamp)=")[^"]*"', rb'\1<time>"'),
    (rb'("[0-9a-f]{32}": )' + NUMBER + rb"(?=[,\s])", rb"\1<time>"),  # a timing cache
    # where a long log is cut depends on the lengths of the times in it
    (rb"(?m)^[^\n]*\n\[\.\.\. [0-9]+ bytes left out \.\.\.\]\n[^\n]*", b"<cut>"),
    # 11-27-26_10-43-05, 11/27/26-10:43:05, 2026-11-27T10:43:05Z
    (rb"(?<![0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}[_-][0-9]{2}-[0-9]{2}-[0-9]{2}(?![0-9])", b"<date>"),
    (rb"\b[0-9]{2}/[0-9]{2}/[0-9]{2}[- ][0-9]{2}:[0-9]{2}:[0-9]{2}\b", b"<date>"),
    (rb"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?Z?)?", b"<date>"),
    # random names of temporary files, process ids, and the random number with which a page allows its own scripts
    (rb"(/tmp/polygraphy[-_a-z]*[-_])[A-Za-z0-9]{6}\b", rb"\1<temporary>"),
    (rb"\b(pid|process) [0-9]+\b", rb"\1 <pid>"),
    (rb"(nonce[-=]\"?)[0-9a-f]{32}\b", rb"\1<nonce>"),
)]


def normalize(data):
    """The bytes of a log or file without times, dates, process ids and temporary paths."""
    header = int.from_bytes(data[:8], "little")
    if data[8:9] == b"{" and header <= len(data) - 8:  # safetensors: the header is padded
        data = data[8:8 + header].rstrip() + data[8 + header:]
    for pattern, replacement in PATTERNS:
        data = pattern.sub(replacement, data)
    return data


def run_line(line, here, environment, stdout, stderr):
    """The exit status of a command line, as text."""
    try:
        return str(subprocess.run(["bash", "-c", line], cwd=here, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=stderr, timeout=TIME_LIMIT, check=False).returncode)
    except subprocess.TimeoutExpired:
        return "timed out"


def run_side(program, folder, given, lines, environment):
    """Runs lines with a program in FOLDER/here, which begins as a copy of the folder `given`; logs are FOLDER/log/NUMBER.*."""
    here, logs = folder / "here", folder / "log"
    for name in ("log", "bin", "tmp", "cache"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(given, here, symlinks=True)
    os.link(program, folder / "bin" / "polygraphy")  # no symbolic link, which /proc/self/exe would follow
    environment = dict(environment, PATH=f"{folder}/bin:{environment['PATH']}", HOME=str(folder / "cache"),
                       TMPDIR=str(folder / "tmp"), XDG_CACHE_HOME=str(folder / "cache"))
    for number, line in enumerate(lines, 1):
        with open(logs / f"{number}.stdout", "wb") as output, open(logs / f"{number}.stderr", "wb") as errors:
            status = run_line(line, here, environment, output, errors)
        (logs / f"{number}.status").write_text(status + "\n")
    shutil.rmtree(folder / "bin")
    shutil.rmtree(folder / "cache")


def contents(folder):
    """The files below a side's folder by normalized path; links are what they point to."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = normalize(str(path.relative_to(folder)).encode()).decode(errors="replace")
        while name in found:
            name += "+"
        if path.is_symlink():
            found[name] = os.readlink(path).encode()
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def show_difference(old, new):
    """Lines that show how two byte strings differ: a diff of text, or the place of the first differing byte."""
    if b"\0" in old + new:
        at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
        return [f"    binary: {len(old)} and {len(new)} bytes, different from byte {at} on",
                f"    - {old[max(at - 40, 0):at + 40]!r}", f"    + {new[max(at - 40, 0):at + 40]!r}"]
    texts = [data.decode(errors="backslashreplace").splitlines() for data in (old, new)]
    lines = ["    " + line[:400] for line in difflib.unified_diff(*texts, lineterm="", n=0)][2:]
    return lines[:MOST_LINES] + ([f"    ... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else [])


def compare_case(name, preparation, lines, left_out, work, environment):
    """Runs a case with both programs; a list of lines that report what differs."""
    here, given, sides = work / name, work / "given" / name, []
    given.mkdir(parents=True)
    for link, target in (("models", "tests/models"), ("examples", "examples"), ("golden", "tests/golden")):
        (given / link).symlink_to(ROOT / target)
    if preparation:
        run_side(work / "programs/old", here, given, preparation, environment)
        given = here.rename(work / "prepared" / name) / "here"
    for side in ("old", "new"):
        run_side(work / "programs" / side, here, given, lines, environment)
        sides.append(contents(here.rename(work / side / name)))
    old, new = sides
    report = []
    for path in sorted(old.keys() | new.keys()):
        if any(fnmatch.fnmatch(f"{name}/{path}", pattern) for pattern in left_out):
            continue
        where = f"{name}: {path}"
        log = re.fullmatch(r"log/([0-9]+)\..*", path)
        if log:
            where += f" of: {lines[int(log[1]) - 1]}"
        if path not in old or path not in new:
            report.append(f"{where}: only with the {'old' if path in old else 'new'} program")
            continue
        if old[path] == new[path]:
            continue
        a, b = normalize(old[path]), normalize(new[path])
        if a != b:
            report += [where] + show_difference(a, b)
    return report


def make_environment(build):
    """The environment of all command lines: nothing of the user's but the way to ONNX Runtime."""
    folders = [build / "tests", build / "bench"]
    return {
        "PATH": ":".join([str(folder) for folder in folders] + ["/usr/local/bin", "/usr/bin", "/bin"]),
        "LC_ALL": "C.UTF-8", "TZ": "UTC", "ROOT": str(ROOT), "PLUGINS": str(build / "tests/plugins"),
        "FAULTS": str(build / "examples/faults"), "TENSORRT": str(build / "tests/tensorrt"), "POLYGRAPHY_TRT": "builtin",
        "POLYGRAPHY_ONNXRUNTIME": os.environ.get("POLYGRAPHY_ONNXRUNTIME", str(build / "libonnxruntime.so.1")),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="where the test programs are")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--except", nargs="+", default=[], dest="left_out", metavar="PATTERN", help="files not to compare")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at the same time")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder in which both sides of all cases are kept")
    arguments = parser.parse_args()
    cases = [case for case in parse_cases(CASES) if arguments.only in case[0]]
    if arguments.keep:
        arguments.keep.mkdir(parents=True)
        work = arguments.keep.resolve()
    else:
        work = pathlib.Path(tempfile.mkdtemp(prefix="compare."))
    environment = make_environment(arguments.build.resolve())
    for name in ("programs", "prepared", "old", "new"):
        (work / name).mkdir()
    shutil.copy(arguments.old, work / "programs/old")
    shutil.copy(arguments.new, work / "programs/new")
    different = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            jobs = [pool.submit(compare_case, *case, arguments.left_out, work, environment) for case in cases]
            for job in jobs:
                report = job.result()
                different += sum(not line.startswith("    ") for line in report)
                if report:
                    print("\n".join(report), flush=True)
    finally:
        if not arguments.keep:
            shutil.rmtree(work, ignore_errors=True)
    print(f"{len(cases)} cases, {sum(len(lines) for _, _, lines in cases)} command lines: {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
