#!/usr/bin/env bash
# bench/run.sh BUILD: measures the program against lower bounds ("floors"; make bench); see docs/benchmarks.md.
#
# On a noisy machine ratios are meaningful, seconds are not: a command and its floor alternate, and their medians are
# compared. Prints a table and writes the same to BUILD/bench.json. Exit status 1 if a target is missed.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
tools=$build/bench
polygraphy=$build/polygraphy
: "${POLYGRAPHY_ONNXRUNTIME:=$build/libonnxruntime.so.1}"
: "${POLYGRAPHY_TEST_MODELS:=}" # a folder with real models
export POLYGRAPHY_ONNXRUNTIME
folder=$(mktemp -d "$build/bench.XXXXXX") # on the disk where the build is, not in a file system in memory
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
rows=()
missed=0

# row WHAT UNIT OURS FLOOR RATIO TARGET OK: a line of the table. OK is 1, 0 or - (no target); FLOOR and RATIO may be -.
row()
{
    local verdict=
    case $7 in
        1) verdict=ok ;;
        0) verdict=MISSED missed=$((missed + 1)) ;;
    esac
    printf '%-54s %9s %9s  %-3s %6s  %-10s %s\n' "$1" "$3" "$4" "$2" "$5" "$6" "$verdict"
    rows+=("$(printf '{"what": "%s", "unit": "%s", "ours": %s, "floor": %s, "ratio": %s, "target": "%s", "ok": %s}' \
        "$1" "$2" "$3" "${4/#-/null}" "${5/#-/null}" "$6" "$(sed 's/0/false/; s/1/true/; s/-/null/' <<<"$7")")")
}

# at_most A B: 1 or 0
at_most()
{
    awk -v a="$1" -v b="$2" 'BEGIN { print a <= b ? 1 : 0 }'
}

# milliseconds SECONDS
milliseconds()
{
    awk -v s="$1" 'BEGIN { printf "%.2f", s * 1000 }'
}

# against_floor WHAT UNIT OURS FLOOR [TARGET]: the target is a ratio.
against_floor()
{
    local ratio
    ratio=$(awk -v a="$3" -v b="$4" 'BEGIN { printf "%.2f", a / b }')
    if [ $# -eq 5 ]; then
        row "$1" "$2" "$3" "$4" "$ratio" "<= $5" "$(at_most "$ratio" "$5")"
    else
        row "$1" "$2" "$3" "$4" "$ratio" "" -
    fi
}

# absolute WHAT UNIT OURS TARGET
absolute()
{
    row "$1" "$2" "$3" - - "<= $4 $2" "$(at_most "$3" "$4")"
}

# measure_reduce MODEL MODE PERCENT ROUNDS [OUTPUT]: the check fails above PERCENT of the model's size. Sets `ours` and
# `floor` (milliseconds), `memory` (MB) and `checks`.
measure_reduce()
{
    local limit=$(($(stat -c %s "$1") * $3 / 100))
    local reduce=("$polygraphy" debug reduce "$1" --mode "$2" -o "${5:-/dev/null}")
    rm -f record
    "${reduce[@]}" --check "$tools/check_size" "$limit" record polygraphy_debug.onnx >/dev/null
    checks=$(wc -l <record)
    read -r ours floor memory <<<"$("$tools/measure" "$4" \
        "${reduce[@]}" --check "$tools/check_size" "$limit" /dev/null polygraphy_debug.onnx -- \
        "$tools/floor" "$1" record copy.onnx "$tools/check_size" "$limit" /dev/null copy.onnx)"
    ours=$(milliseconds "$ours")
    floor=$(milliseconds "$floor")
    memory=$((memory / 1024))
}

# reduce_case WHAT MODEL MODE PERCENT ROUNDS [TARGET]
reduce_case()
{
    measure_reduce "$2" "$3" "$4" "$5"
    against_floor "$1, $checks checks" ms "$ours" "$floor" ${6:+"$6"}
}

# own_time MODEL: milliseconds between the end of one check and the beginning of the next: the mean over a search, the
# median of five searches.
own_time()
{
    local limit=$(($(stat -c %s "$1") * 4 / 5))
    for _ in 1 2 3 4 5; do
        rm -f record
        "$tools/measure" 1 "$polygraphy" debug reduce "$1" -o /dev/null --check "$tools/check_size" "$limit" record \
            polygraphy_debug.onnx -- true >/dev/null
        awk 'NR > 1 { sum += $2 - end } { end = $3 } END { printf "%.2f\n", sum / (NR - 1) / 1e6 }' record
    done | sort -n | sed -n 3p
}

# engine_case MODEL: the built-in engine against ONNX Runtime, a second build against the first, and opening the engine
# again against that second build, which makes the same kernels.
engine_case()
{
    local path=$POLYGRAPHY_TEST_MODELS/onnx_light/$1.onnx runtime engine first second open run
    if [ ! -f "$path" ]; then
        echo "no $1 in $POLYGRAPHY_TEST_MODELS/onnx_light: left out"
        return
    fi
    read -r runtime engine first second open run _ <<<"$("$tools/engine_speed" "$path" 9)"
    against_floor "engine, $1, against ONNX Runtime" ms "$(printf %.2f "$engine")" "$(printf %.2f "$runtime")" 1.43
    against_floor "    built with a timing cache, against without" ms "$(milliseconds "$second")" \
        "$(milliseconds "$first")" 0.05
    against_floor "    plan file opened and run, against that build" ms \
        "$(awk -v a="$open" -v b="$run" 'BEGIN { printf "%.2f", a + b }')" "$(milliseconds "$second")" 1
}

# runner_case: a command of --runner that copies 1 GB, against that command alone.
runner_case()
{
    local header='{"X":{"dtype":"F32","shape":[1,2,16384,8192],"data_offsets":[0,1073741824]}}   '
    { printf '%b' '\x50\0\0\0\0\0\0\0' && printf %-80s "$header" && head -c 1073741824 /dev/zero; } >in.safetensors
    read -r ours floor _ <<<"$(TMPDIR=$folder "$tools/measure" 5 "$polygraphy" run "$root/tests/models/dynamic_identity.onnx" \
        --load-inputs in.safetensors --runner "$tools/copy_tensors {inputs} {outputs} X Y" -- \
        sh -c '"$0" in.safetensors out.safetensors X Y && rm out.safetensors' "$tools/copy_tensors")"
    rm -f in.safetensors out.safetensors
    against_floor "run --runner of a program that copies 1 GB" ms "$(milliseconds "$ours")" "$(milliseconds "$floor")" 1.3
}

# median: the middle one of an odd number of lines
median()
{
    sort -n | awk '{ number[NR] = $1 } END { print number[int((NR + 1) / 2)] }'
}

# files_case WHAT TARGET OURS-FILE OURS... -- FLOOR-FILE FLOOR...: both write a file, which is removed before each turn, so
# that the time for that is not measured.
files_case()
{
    local what=$1 target=$2 file=$3 ours=() turns=() floor_file
    shift 3
    while [ "$1" != -- ]; do
        ours+=("$1")
        shift
    done
    floor_file=$2
    shift 2
    for _ in 1 2 3; do
        rm -f "$file" "$floor_file"
        sync -f .
        turns+=("$("$tools/measure" 1 "${ours[@]}" -- "$@")")
    done
    against_floor "$what" ms "$(milliseconds "$(printf '%s\n' "${turns[@]}" | median)")" \
        "$(milliseconds "$(printf '%s\n' "${turns[@]}" | awk '{ print $2 }' | median)")" "$target"
}

# 1 GB of outputs, as 64 of 16 MB, written and read
outputs_cases()
{
    local block=16777216 ours floor
    local save=("$polygraphy" run expand.onnx --onnxrt --iterations 64 --save-outputs)
    "$tools/make_expand" expand.onnx $((block / 4))
    files_case "run --save-outputs, 1 GB as JSON" 2 ours.json "${save[@]}" ours.json -- \
        floor.txt "$tools/base64_floor" write floor.txt $((64 * block)) $block
    read -r ours floor _ <<<"$("$tools/measure" 5 "$polygraphy" run --load-outputs ours.json -- \
        "$tools/base64_floor" read floor.txt $block)"
    against_floor "    read by --load-outputs" ms "$(milliseconds "$ours")" "$(milliseconds "$floor")" 2
    rm ours.json floor.txt
    "${save[@]}" original.safetensors >/dev/null
    # shellcheck disable=SC2016 # this program syncs its file to disk, so the copy has to, too
    files_case "run --save-outputs, 1 GB as safetensors" 1.2 ours.safetensors "${save[@]}" ours.safetensors -- \
        copy.safetensors sh -c 'cp "$1" "$2" && sync "$2"' sh original.safetensors copy.safetensors
    read -r ours floor _ <<<"$("$tools/measure" 5 "$polygraphy" run --load-outputs ours.safetensors -- \
        cp original.safetensors copy.safetensors)"
    against_floor "    mapped by --load-outputs" ms "$(milliseconds "$ours")" "$(milliseconds "$floor")" 1.2
    rm ./*.safetensors
}

# served_case MODEL: an iteration of a search whose check is this program, started by its fork server, and one where a
# shell starts it.
served_case()
{
    local check="polygraphy run polygraphy_debug.onnx --onnxrt --validate" warm=() cold=() seconds checks
    local reduce=("$polygraphy" debug reduce "$1" --mode bisect --no-verify --min-good /dev/null --check)
    for _ in 1 2 3 4 5; do
        warm+=("$(PATH=$build:$PATH "$tools/pace" "Running check command" "${reduce[@]}" "$check")")
        cold+=("$(PATH=$build:$PATH "$tools/pace" "Running check command" "${reduce[@]}" "exec $check;")")
    done
    read -r _ checks <<<"${warm[0]}"
    seconds=$(printf '%s\n' "${warm[@]}" | median)
    absolute "check by polygraphy, $(basename "$1" .onnx), $checks checks" ms \
        "$(milliseconds "$seconds")" 20
    against_floor "    against a check that a shell starts" ms "$(milliseconds "$seconds")" \
        "$(milliseconds "$(printf '%s\n' "${cold[@]}" | median)")"
}

cd "$folder"
make_chain=$build/tests/make_chain
printf '%-54s %9s %9s  %-3s %6s  %-10s\n' "" ours floor "" ratio target

"$make_chain" small.onnx 20000 256 chain
"$make_chain" large.onnx 4000 65536 chain
"$make_chain" short.onnx 400 256 chain
reduce_case "reduce, bisect, 20,000 nodes, 6.9 MB" small.onnx bisect 12 15 1.5
reduce_case "    candidates of four fifths" small.onnx bisect 81 15
reduce_case "reduce, bisect, 4,000 nodes, 262 MB" large.onnx bisect 12 7 1.5
absolute "    peak memory" MB "$memory" 60
reduce_case "    candidates of four fifths" large.onnx bisect 81 3
measure_reduce large.onnx bisect 12 5 result.onnx
against_floor "    result brought to disk" ms "$ours" "$floor"
reduce_case "reduce, linear, 400 nodes" short.onnx linear 81 3 1.5

if [ -f "$POLYGRAPHY_ONNXRUNTIME" ]; then
    "$make_chain" small.onnx 20000 256 chain untyped
    "$make_chain" large.onnx 4000 65536 chain untyped
    "$make_chain" short.onnx 400 256 chain untyped
    reduce_case "bisect, 20,000 nodes, without types" small.onnx bisect 12 1
    reduce_case "bisect, 4,000 nodes, without types" large.onnx bisect 12 3
    row "    peak memory" MB "$memory" - - "" -
    reduce_case "linear, 400 nodes, without types" short.onnx linear 81 1
fi
rm -f large.onnx

for topology in chain branches; do
    "$make_chain" small.onnx 50000 0 $topology
    "$make_chain" large.onnx 100000 0 $topology
    half=$(own_time small.onnx)
    whole=$(own_time large.onnx)
    absolute "own time per iteration, 100,000 nodes, $topology" ms "$whole" 10
    against_floor "    against 50,000 nodes" ms "$whole" "$half" 2.5
done

"$make_chain" large.onnx 100000 0 chain
read -r ours floor _ <<<"$("$tools/measure" 15 "$polygraphy" inspect model large.onnx --show layers attrs -- \
    "$tools/inspect_floor" large.onnx)"
against_floor "inspect model --show layers attrs, 100,000 nodes" ms "$(milliseconds "$ours")" \
    "$(milliseconds "$floor")" 3

read -r ours floor _ <<<"$("$tools/measure" 50 "$polygraphy" --version -- true)"
absolute "polygraphy --version" ms "$(milliseconds "$ours")" 5
against_floor "    against /bin/true" ms "$(milliseconds "$ours")" "$(milliseconds "$floor")"

if [ -f "$POLYGRAPHY_ONNXRUNTIME" ]; then
    cp "$root/tests/models/identity.onnx" .
    read -r ours floor _ <<<"$("$tools/measure" 25 "$polygraphy" run identity.onnx --onnxrt -- \
        "$tools/ort_floor" "$POLYGRAPHY_ONNXRUNTIME" identity.onnx)"
    against_floor "run identity.onnx --onnxrt" ms "$(milliseconds "$ours")" "$(milliseconds "$floor")" 1.3
    served_case "$root/examples/overflow/detector.onnx"
    if [ -f "$POLYGRAPHY_TEST_MODELS/onnx_light/light_squeezenet.onnx" ]; then
        served_case "$POLYGRAPHY_TEST_MODELS/onnx_light/light_squeezenet.onnx"
    fi
    outputs_cases
    if ldconfig -p | grep -q libdnnl; then
        for model in light_resnet50 light_densenet121 light_squeezenet; do
            engine_case "$model"
        done
    else
        echo "no oneDNN (libdnnl-dev): its cases are left out"
    fi
else
    echo "no ONNX Runtime at $POLYGRAPHY_ONNXRUNTIME: its cases are left out; make setup installs it"
fi

read -r ours floor <<<"$("$tools/compare_speed" 100000000 11)"
against_floor "compare 2 x 100,000,000 float32, against reading them" ms "$(milliseconds "$ours")" \
    "$(milliseconds "$floor")" 2

read -r ours _ <<<"$("$tools/decision_speed" 435 16 60)"
absolute "what to check next, 16 jobs, 10,000 nodes" us "$ours" 50

runner_case

# 100 inferences with 1 MB in and 1 MB out, by the library that stands in for TensorRT's, which computes nothing but Relu.
tensorrt_case()
{
    local library=$build/tests/tensorrt/10.16 ours workers
    /usr/bin/python3 - "$folder/relu.onnx" <<'EOF' || { echo "no Python package onnx: the cases of TensorRT are left out" && return; }
import sys
from onnx import helper, save
shape = [1, 262144]
values = [helper.make_tensor_value_info(name, 1, shape) for name in "xy"]
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
EOF
    read -r ours workers <<<"$(POLYGRAPHY_TENSORRT=$library LD_LIBRARY_PATH=$library \
        "$tools/tensorrt_calls" "$folder/relu.onnx" 262144 100)"
    absolute "TensorRT: overhead of an inference, 1 MB in and out" ms "$(milliseconds "$ours")" 1
    absolute "TensorRT: processes for 100 inferences" "" "$workers" 1
}
tensorrt_case

models=()
for model in light_squeezenet light_resnet50 light_densenet121; do
    if [ -f "$POLYGRAPHY_TEST_MODELS/onnx_light/$model.onnx" ]; then
        models+=("$POLYGRAPHY_TEST_MODELS/onnx_light/$model.onnx")
    fi
done
echo
"$tools/search_table" 12 200 "${models[@]}"
if [ -f "$POLYGRAPHY_ONNXRUNTIME" ]; then
    echo
    "$root/bench/searches.sh" "$build"
fi

(
    IFS=,
    printf '[%s]\n' "${rows[*]}"
) >"$build/bench.json"
[ "$missed" = 0 ] || echo "targets missed: $missed (on a busy machine some are)" >&2
[ "$missed" = 0 ]
