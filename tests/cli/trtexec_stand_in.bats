# trtexec_stand_in.bats: the program that stands in for TensorRT's trtexec says and writes what trtexec did. The samples in
# tests/golden/trtexec/front_end are what NVIDIA's own front ends of three versions wrote when they ran without TensorRT's library, on an imitation of it:
# so times differ, and lines that begin with [TRT], which are the library's.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
golden=$POLYGRAPHY_ROOT/tests/golden/trtexec/front_end
trtexec=$POLYGRAPHY_TEST_PROGRAMS/trtexec_stand_in

setup_file()
{
    file_requires_onnxruntime || return 0
}

# The command line of the sample, given to the stand-in under the sample's name for it: ./stdout and ./stderr.
repeat_sample()
{
    local name arguments
    read -r name arguments < <(sed -n '1s/.* # //p' "$1/stdout.txt")
    (exec -a "$name" "$trtexec" $arguments) >stdout 2>stderr
}

# Without times, and without what only a second inference makes likely.
masked()
{
    sed -E -e '/\[TRT\]/d; /^Layer\(/d; /GPU compute time is unstable/,+1d' \
        -e 's/^\[[^]]*\]/[TIME]/' \
        -e 's/(Parse time: |in |size: |over |Walltime: |Time: |Throughput: |= |: )[0-9.e-]*[0-9]\b/\1#/g' \
        -e 's/^(\[TIME\] \[I\] ) *[0-9.]+ +[0-9.]+ +[0-9.]+/\1#/' "$1"
}

same_but_for_times()
{
    diff <(masked "$1") <(masked "$2")
}

numbers()
{
    head -c 24 /dev/zero >x.bin
    printf '\x80\x3f' | dd of=x.bin bs=1 seek=6 conv=notrunc status=none
    printf '\x00\x40' | dd of=x.bin bs=1 seek=10 conv=notrunc status=none
    printf '\x40\x40' | dd of=x.bin bs=1 seek=14 conv=notrunc status=none
    printf '\x80\x40' | dd of=x.bin bs=1 seek=18 conv=notrunc status=none
    printf '\xa0\x40' | dd of=x.bin bs=1 seek=22 conv=notrunc status=none
}

@test "a run is told, and its outputs are written, byte for byte as by trtexec" {
    local version folder
    for version in 10.16 11.0 11.1; do
        export TRTEXEC_STAND_IN_VERSION=$version
        mkdir -p "$version/out"; cd "$version"
        numbers
        cp "$models/odd_names.onnx" m.onnx
        repeat_sample "$golden/$version"
        same_but_for_times stdout <(sed 's/Layer l0$/Layer l0 "q"/' "$golden/$version/stdout.txt")
        same_but_for_times stderr "$golden/$version/stderr.txt"
        folder=.
        if [ "$version" = 11.1 ]; then
            folder=out
            cp out/exportOutput.json o.json; cp out/exportProfile.json p.json; cp out/exportTimes.json t.json
        else
            for file in "$golden/$version/raw"/*; do
                cmp "$file" "${file##*/}"
            done
        fi
        cmp o.json "$golden/$version/exportOutput.json"
        same_but_for_times p.json "$golden/$version/exportProfile.json"
        if [ "$version" = 10.16 ]; then
            [ ! -e t.json ] # up to 10, profiling leaves no times
        else
            same_but_for_times t.json "$golden/$version/exportTimes.json"
        fi
        cd ..
    done
}

@test "debug tensors are written byte for byte as by trtexec" {
    local version transfers
    for version in 10.16 11.1; do
        export TRTEXEC_STAND_IN_VERSION=$version
        mkdir "$version"; cd "$version"
        numbers
        transfers=; [ "$version" = 10.16 ] || transfers=--noCudaGraph
        "$trtexec" --onnx="$models/odd_names_inside.onnx" --saveEngine=e.plan --skipInference \
            --markUnfusedTensorsAsDebugTensors
        (exec -a out/trtexec "$trtexec" --loadEngine=e.plan --loadInputs=x:x.bin --iterations=1 --warmUp=0 \
            --duration=0 $transfers --saveAllDebugTensors=summary,numpy,raw,string)
        for file in "$golden/$version"/debug/0*; do
            cmp "$file" "${file##*/}"
        done
        diff <(grep -v time_generated tensor_summary.json) \
            <(sed '/time_generated/d; s|=out/e.plan|=e.plan|; s|=x:out/|=x:|' "$golden/$version/debug/tensor_summary.json")
        cd ..
    done
}

@test "an output whose size depends on values makes invalid JSON and half a raw file" {
    numbers
    TRTEXEC_STAND_IN_VERSION=10.16 "$trtexec" --onnx="$models/size_from_values.onnx" --saveEngine=e.plan \
        --loadInputs=x:x.bin --iterations=1 --warmUp=0 --duration=0 --dumpRawBindingsToFile --exportOutput=o.json
    cmp o.json "$golden/10.16/exportOutput_dds_invalid.json"
    [ "$(stat -c %s dds.output.-1.2.int64.raw)" -eq 16 ]
}

@test "each version has the options that trtexec's help names, and refuses others" {
    local version
    for version in 10.16 11.0 11.1; do
        diff <(TRTEXEC_STAND_IN_VERSION=$version "$trtexec" --help | sed -nE 's/^ +--([A-Za-z0-9]+).*/--\1/p' | sort) \
            <({ cat "$golden/$version/options.txt"; echo --vc; echo --pi; } | sort)
    done
    run --separate-stderr env TRTEXEC_STAND_IN_VERSION=8.6 "$trtexec" --onnx=m.onnx --stronglyTyped --iterations 5
    [ "$status" -eq 1 ]
    [[ $stderr == *'[E] Unknown option: --stronglyTyped'* ]]
    logged '^  --explicitBatch$'
    run --separate-stderr env TRTEXEC_STAND_IN_VERSION=11.0 "$trtexec" --onnx=m.onnx --fp16
    [ "$status" -eq 1 ]
    [[ $stderr == *'[E] Unknown option: --fp16'* ]]
}
