# tensorrt.bats: --trt on TensorRT's libraries, for which tests/tensorrt_stand_in/ stands in: nothing here was tested on a GPU.

load tensorrt_helper

releases=(8.6 9.3 10.0 10.8.0 10.9 10.16 11.0 11.1)

setup_file()
{
    file_requires_onnxruntime || return 0
}

# Whether the last run passed its comparison with ONNX Runtime.
agrees()
{
    [ "$status" -eq 0 ] || {
        echo "status $status"
        cut -c 1-400 <<<"$output"
        return 1
    }
    logged '^\[I\] PASSED \| Runtime'
}

@test "each release builds and runs models, and is the release that was named" {
    local release
    for release in "${releases[@]}" rtx-1.7; do
        use_release "$release"
        run polygraphy run "$models/matmul_chain_64.onnx" --trt --onnxrt
        agrees
        recorded "build $release" "input x float32" "output t5 float32"
        not_recorded '^flag kTF32$' # as Polygraphy has it
    done
}

@test "an engine is written, loaded, inspected and run" {
    local release
    for release in "${releases[@]}" rtx-1.7; do
        use_release "$release"
        run polygraphy convert "$models/matmul_chain_64.onnx" -o "$release.engine" --profiling-verbosity detailed
        [ "$status" -eq 0 ]
        recorded "verbosity kDETAILED"
        if [ "$release" = rtx-1.7 ]; then
            begins_with "$release.engine" vtrt
        else
            begins_with "$release.engine" ftrt
        fi
        run polygraphy run "$release.engine" --trt --save-outputs outputs.json
        [ "$status" -eq 0 ]
        run polygraphy run "$models/matmul_chain_64.onnx" --onnxrt --load-outputs outputs.json
        agrees
        run polygraphy inspect model "$release.engine" --show layers
        [ "$status" -eq 0 ]
        logged 'n0'
        logged 't5'
    done
}

@test "an engine of another release and a damaged engine are refused" {
    use_release 10.0
    polygraphy convert "$models/identity.onnx" -o old.engine
    use_release 10.16
    run polygraphy run old.engine --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] TensorRT does not load the engine: it was built by TensorRT 10\.0\.1, and the library is TensorRT 10\.16\.1'
    printf 'ftrt and nothing else' >damaged.engine
    run polygraphy run damaged.engine --trt
    [ "$status" -eq 1 ]
}

@test "unknown releases are refused, and the error names a library that is missing" {
    local release
    for release in 12.0 rtx-1.4; do
        use_release "$release"
        run polygraphy run "$models/identity.onnx" --trt
        [ "$status" -eq 1 ]
        logged "^\[!\] .*${release#rtx-}"
        [ ! -e record ]
    done
    use_library "$PWD/nothing"
    run polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 1 ]
    logged "^\[!\] .*$PWD/nothing"
    unset POLYGRAPHY_TRT
    run polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 1 ]
    logged "^\[!\] .*$PWD/nothing"
}

@test "variables that select trtexec are errors that name the replacement" {
    local command
    use_release 10.16
    for command in "run $models/identity.onnx --trt" "convert $models/identity.onnx -o x.engine" \
        "debug precision $models/identity.onnx --fp16 --check true" "debug reduce $models/identity.onnx --golden trt -o r.onnx --check false"; do
        POLYGRAPHY_TRT=trtexec run polygraphy $command
        [ "$status" -ne 0 ]
        logged '^\[!\] POLYGRAPHY_TRT is .trtexec.*set POLYGRAPHY_TRT=tensorrt'
        POLYGRAPHY_TRTEXEC=/usr/bin/trtexec run polygraphy $command
        [ "$status" -ne 0 ]
        logged '^\[!\] POLYGRAPHY_TRTEXEC .*set POLYGRAPHY_TENSORRT'
    done
    [ ! -e x.engine ]
    POLYGRAPHY_TRTEXEC=/usr/bin/trtexec run polygraphy run "$models/identity.onnx" --onnxrt # which asks for no engine
    [ "$status" -eq 0 ]
}

@test "profiles reach TensorRT, and shapes outside of them are refused" {
    local release
    make_model empty_tensor
    for release in 8.6 10.0 11.1 rtx-1.7; do
        use_release "$release"
        run polygraphy run empty_tensor.onnx --trt --onnxrt --trt-min-shapes x:[1,3] --trt-opt-shapes x:[2,3] \
            --trt-max-shapes x:[4,3] --input-shapes x:[3,3]
        agrees
        recorded "profile 0 x (1, 3) (2, 3) (4, 3)"
        run polygraphy run empty_tensor.onnx --trt --trt-min-shapes x:[1,3] --trt-opt-shapes x:[2,3] \
            --trt-max-shapes x:[4,3] --input-shapes x:[5,3]
        [ "$status" -eq 1 ]
        logged '^\[!\]'
    done
}

@test "empty tensors, data-dependent shapes, and shape tensors" {
    local release
    make_model empty_tensor data_dependent shape_input
    /usr/bin/python3 -c 'import numpy as n; n.savez("inputs.npz", x=n.arange(6, dtype=n.float32), shape=n.array([2, 3]))'
    for release in 8.6 10.0 11.1 rtx-1.7; do
        use_release "$release"
        run polygraphy run empty_tensor.onnx --trt --onnxrt --trt-min-shapes x:[0,3] --trt-opt-shapes x:[1,3] \
            --trt-max-shapes x:[4,3] --input-shapes x:[0,3]
        agrees
        run polygraphy run data_dependent.onnx --trt --onnxrt --save-outputs outputs.json
        agrees
        logged "'places'"
        run polygraphy run shape_input.onnx --trt --onnxrt --load-inputs inputs.npz --trt-min-shapes shape:[1,1] \
            --trt-opt-shapes shape:[2,3] --trt-max-shapes shape:[6,6]
        agrees
        recorded "values 0 shape () 1 1 () 2 3 () 6 6"
    done
}

@test "every data type of a release" {
    local release
    make_model types later_types
    for release in "${releases[@]}" rtx-1.7; do
        use_release "$release"
        run polygraphy run types.onnx --trt --onnxrt
        agrees
        [ "${release%%.*}" = 8 ] || [ "${release%%.*}" = 9 ] || {
            run polygraphy run later_types.onnx --trt --onnxrt
            agrees
        }
    done
}

@test "all tensors are marked as outputs" {
    local release
    for release in 8.6 10.8.0 11.1; do
        use_release "$release"
        run polygraphy run "$models/matmul_chain_64.onnx" --trt --onnxrt --trt-outputs mark all --onnx-outputs mark all
        agrees
        logged "'t1'"
        logged "'t3'"
    done
}

@test "layer precisions, up to TensorRT 10" {
    local release
    make_model overflow
    for release in 8.6 10.0 10.16; do
        use_release "$release"
        run polygraphy run overflow.onnx --trt --onnxrt --fp16
        [ "$status" -eq 1 ]
        recorded "flag kFP16"
        run polygraphy run overflow.onnx --trt --onnxrt --fp16 --precision-constraints obey \
            --layer-precisions enlarge:float32 reduce:float32 --atol 0.1
        agrees
        recorded "flag kOBEY_PRECISION_CONSTRAINTS" "precision enlarge float32" "precision reduce float32"
    done
    use_release 11.0
    run polygraphy run overflow.onnx --trt --fp16
    [ "$status" -ne 0 ]
    logged 'fp-to-fp16'
    [ ! -e record ]
}

@test "each option sets the TensorRT setting of its name" {
    use_release 10.16
    run polygraphy convert "$models/matmul_chain_64.onnx" -o m.engine --tf32 --fp16 --bf16 --sparse-weights --refittable \
        --version-compatible --exclude-lean-runtime --hardware-compatibility-level ampere_plus \
        --builder-optimization-level 5 --pool-limit workspace:1.5M --tactic-sources CUBLAS JIT_CONVOLUTIONS \
        --preview-features PROFILE_SHARING_0806
    [ "$status" -eq 0 ]
    recorded "flag kTF32" "flag kFP16" "flag kBF16" "flag kSPARSE_WEIGHTS" "flag kREFIT" "flag kVERSION_COMPATIBLE" \
        "flag kEXCLUDE_LEAN_RUNTIME" "hardware kAMPERE_PLUS" "optimization level 5" "pool kWORKSPACE 1572864" \
        "source kCUBLAS" "source kJIT_CONVOLUTIONS" "preview kPROFILE_SHARING_0806"
    not_recorded 'source kCUDNN'
}

@test "--decomposable-attentions marks attentions, from TensorRT 10.14 on" {
    make_model attention
    local release
    for release in 10.16 11.1; do
        use_release "$release"
        polygraphy convert attention.onnx -o m.engine --decomposable-attentions
        recorded "decomposable attention"
        use_release "$release"
        polygraphy convert attention.onnx -o m.engine
        not_recorded '^decomposable'
    done
    use_release 10.9
    run polygraphy convert attention.onnx -o m.engine --decomposable-attentions
    [ "$status" -ne 0 ]
    logged '^\[!\] --decomposable-attentions'
}

@test "TensorRT-RTX builds for the GPUs that are named" {
    use_release rtx-1.7
    polygraphy convert "$models/identity.onnx" -o m.engine --compute-capabilities 8.6 12.0
    recorded "compute capabilities 2" "last compute capability 120"
    use_release rtx-1.7
    polygraphy convert "$models/identity.onnx" -o m.engine --use-gpu
    recorded "compute capabilities 1" "last compute capability 1"
    run polygraphy convert "$models/identity.onnx" -o m.engine --compute-capabilities 8
    logged "^\[!\] --compute-capabilities '8': expected MAJOR.MINOR"
    use_release 10.16
    run polygraphy convert "$models/identity.onnx" -o m.engine --compute-capabilities 8.6
    [ "$status" -ne 0 ]
    logged '^\[!\] --compute-capabilities'
}

@test "debug tensors are outputs, from TensorRT 10 on" {
    local release
    for release in 10.0 10.8.0 10.16 11.1 rtx-1.7; do
        use_release "$release"
        run polygraphy run "$models/matmul_chain_64.onnx" --trt --mark-debug t1 t3 --onnxrt --onnx-outputs t1 t3 t5
        agrees
        logged "All outputs matched \| Outputs: \['t1', 't3', 't5'\]"
        recorded "debug t1" "debug t3" "output t5 float32"
    done
    use_release 10.16
    run polygraphy run "$models/matmul_chain_64.onnx" --trt --mark-unfused-tensors-as-debug-tensors --onnxrt --onnx-outputs mark all
    agrees
    recorded "debug unfused"
    use_release 8.6
    run polygraphy run "$models/identity_identity.onnx" --trt --mark-debug identity_out_0
    [ "$status" -ne 0 ]
    logged 'mark-debug'
}

@test "outputs are those of layers of some types" {
    use_release 10.16
    run polygraphy run "$models/attention_overflow.onnx" --trt --trt-outputs-by-type matrix_multiply --save-outputs out.json
    [ "$status" -eq 0 ]
    run polygraphy inspect data out.json
    [[ $output == *'stem_t ['*'logits ['* && $output != *'stem_u ['* ]]
    run polygraphy run "$models/attention_overflow.onnx" --trt --trt-outputs-by-type MATRIX
    [ "$status" -eq 1 ]
    [[ $output == *"No TensorRT layer type 'MATRIX' was found in the network, which has "*MATRIX_MULTIPLY* ]]
    POLYGRAPHY_TRT=builtin run polygraphy run "$models/attention_overflow.onnx" --trt --trt-outputs-by-type MATRIX_MULTIPLY
    [[ $status -eq 1 && $output == *--onnx-outputs-by-type* ]]
}

@test "types and formats of all inputs and outputs" {
    use_release 10.16
    run polygraphy run "$models/identity.onnx" --trt --all-tensor-datatypes float16 --all-tensor-formats linear \
        --enable-uint8-asymmetric-quantization-dla
    [ "$status" -eq 0 ]
    logged '\{y \[dtype=float16, '
    run polygraphy run "$models/identity.onnx" --trt --all-tensor-formats linear --tensor-formats x:[chw32]
    logged '^\[W\] Both --all-tensor-formats and --tensor-formats were provided\. Only formats in --all-tensor-formats'
    run polygraphy run "$models/identity.onnx" --trt --all-tensor-formats chw99
    [ "$status" -eq 1 ]
    logged "all-tensor-formats: there is no 'chw99'"
    use_release 11.1
    run polygraphy run "$models/identity.onnx" --trt --all-tensor-datatypes float16
    [ "$status" -eq 1 ]
    logged 'all-tensor-datatypes'
}

@test "version-compatible engines run on other releases, with host code allowed" {
    use_release 10.0
    polygraphy convert "$models/identity.onnx" -o compatible.engine --version-compatible
    use_release 10.16
    run polygraphy run compatible.engine --trt
    [ "$status" -eq 0 ]
}

@test "plug-in libraries are loaded, and a missing one is an error" {
    local release
    for release in 8.6 10.16 11.1; do
        use_release "$release"
        run polygraphy run "$models/identity.onnx" --trt --plugins "$POLYGRAPHY_TENSORRT/libcudart.so.12"
        [ "$status" -eq 0 ]
        run polygraphy run "$models/identity.onnx" --trt --plugins "$PWD/missing.so"
        [ "$status" -eq 1 ]
        logged "^\[!\] .*missing\.so"
    done
}

@test "stripped plans, and weights that are streamed" {
    local release budget
    use_release 10.16
    run polygraphy convert "$models/matmul_chain_64.onnx" -o stripped.engine --strip-plan
    [ "$status" -eq 0 ]
    recorded "flag kSTRIP_PLAN"
    for release in 10.0 10.16; do # 10.0 has another method, with other words for "all" and "none"
        use_release $release
        for budget in -2 -1 0 1 2048 50% 100% 1e12; do
            run polygraphy run "$models/matmul_chain_64.onnx" --trt --onnxrt --weight-streaming --strongly-typed \
                --weight-streaming-budget $budget
            agrees
            recorded "flag kWEIGHT_STREAMING" "network flag kSTRONGLY_TYPED"
        done
    done
}

@test "an engine gets the weights of an ONNX model" {
    local release model=$models/matmul_chain_64.onnx
    polygraphy run "$model" --onnxrt --save-inputs inputs.json --save-outputs outputs.json
    local data=(--load-inputs inputs.json --load-outputs outputs.json)
    for release in 10.0 10.16 11.1; do
        use_release "$release"
        run polygraphy run "$model" --trt --strip-plan "${data[@]}" # gets its own
        agrees
        polygraphy convert "$model" -o stripped.engine --strip-plan
        run polygraphy run stripped.engine --trt "${data[@]}"
        [ "$status" -eq 1 ]
        logged 'FAILED \| Output'
        run polygraphy run stripped.engine --trt "${data[@]}" --refit-from-onnx "$model"
        agrees
        run polygraphy run stripped.engine --trt "${data[@]}" --refit-from-onnx "$models/identity.onnx"
        [ "$status" -eq 1 ]
        logged '^\[!\] TensorRT does not take the weights of the model: .*weights are missing'
        polygraphy convert "$model" -o full.engine
        run polygraphy run full.engine --trt "${data[@]}" --refit-from-onnx "$model"
        [ "$status" -eq 1 ]
        logged '^\[!\] weights of an ONNX model: the engine takes none; build it with --refittable or --strip-plan'
    done
    use_release 8.6
    run polygraphy run "$model" --trt --refittable --refit-from-onnx "$model"
    [ "$status" -eq 1 ]
    logged '^\[!\] weights of an ONNX model: TensorRT 8\.6\.1 has no VRefitter::refitCudaEngine'
}

@test "the GPU that --device names builds and runs an engine" {
    use_release 10.16
    export CUDA_STAND_IN_DEVICES=2
    run polygraphy run "$models/identity.onnx" --trt --onnxrt
    agrees
    not_recorded '^GPU'
    run polygraphy run "$models/identity.onnx" --trt --onnxrt --device 1
    agrees
    [ "$(grep -xE 'GPU 1|build 10.16' record | tail -n 2 | paste -sd,)" = 'GPU 1,build 10.16' ]
    run polygraphy run "$models/identity.onnx" --trt --device 2
    [ "$status" -eq 1 ]
    logged '^\[!\] --device: there is no GPU 2; CUDA finds 2, numbered from 0'
}

@test "timing caches are loaded and saved" {
    local release
    for release in 8.6 10.16 11.1; do
        use_release "$release"
        run polygraphy convert "$models/matmul_chain_64.onnx" -o m.engine --save-timing-cache "$release.cache"
        [ "$status" -eq 0 ]
        recorded "timing cache"
        begins_with "$release.cache" "stand-in timing"
        run polygraphy convert "$models/matmul_chain_64.onnx" -o m.engine --load-timing-cache "$release.cache"
        [ "$status" -eq 0 ]
    done
}

# The tactics of an engine, one a line.
tactics_of()
{
    polygraphy inspect model "$1" --show layers attrs | grep -o 'Tactic.*'
}

@test "a replay forces tactics, up to TensorRT 10" {
    local release seed
    for release in 8.6 10.0 10.16; do
        use_release "$release"
        export TENSORRT_STAND_IN_SEED=1
        run polygraphy convert "$models/convolutions.onnx" -o a.engine --save-tactics "$release.json" \
            --profiling-verbosity detailed --trt-opt-shapes x:[1,3,12,11]
        [ "$status" -eq 0 ]
        recorded selector
        tactics_of a.engine >a.txt
        [ -s a.txt ]
        TENSORRT_STAND_IN_SEED=2 polygraphy convert "$models/convolutions.onnx" -o b.engine --profiling-verbosity detailed \
            --trt-opt-shapes x:[1,3,12,11]
        run ! cmp -s <(tactics_of b.engine) a.txt
        for seed in 2 3 4; do
            export TENSORRT_STAND_IN_SEED=$seed
            run polygraphy convert "$models/convolutions.onnx" -o b.engine --load-tactics "$release.json" \
                --profiling-verbosity detailed --trt-opt-shapes x:[1,3,12,11]
            [ "$status" -eq 0 ]
            tactics_of b.engine | cmp - a.txt
        done
        TENSORRT_STAND_IN_FAULTS=unpinned run polygraphy convert "$models/convolutions.onnx" -o c.engine \
            --load-tactics "$release.json" --trt-opt-shapes x:[1,3,12,11]
        [ "$status" -eq 1 ]
        [ ! -e c.engine ]
        unset TENSORRT_STAND_IN_SEED
    done
}

@test "crashes, exceptions and build failures are errors, and leave no file" {
    local fault
    use_release 10.16
    for fault in crash-parse crash-build crash-run abort-build abort-run build-fails build-assertion run-fails null-builder \
        null-network null-parser null-context; do
        TENSORRT_STAND_IN_FAULTS=$fault run polygraphy run "$models/identity.onnx" --trt
        [ "$status" -eq 1 ]
        logged '^\[!\] '
    done
    TENSORRT_STAND_IN_FAULTS=crash-build run polygraphy convert "$models/identity.onnx" -o m.engine
    [ "$status" -eq 1 ]
    logged '^\[!\] .*(SIGSEGV|Segmentation)'
    [ ! -e m.engine ]
    TENSORRT_STAND_IN_FAULTS=build-fails run polygraphy convert "$models/identity.onnx" -o m.engine
    [ "$status" -eq 1 ]
    logged 'Could not find any implementation'
    [ ! -e m.engine ]
}

@test "device out of memory is an error of its own, which a search does not treat as the failure" {
    use_release 10.16
    local out_of_memory='the GPU is out of memory: free some, or pass --pool-limit workspace:SIZE: .*OutOfMemory'
    TENSORRT_STAND_IN_FAULTS=out-of-memory run polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 1 ]
    logged "^\\[!\\] TensorRT could not build an engine: $out_of_memory"
    CUDA_STAND_IN_MEMORY=16 run polygraphy run "$models/matmul_chain_64.onnx" --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] the GPU is out of memory: it has too little for a tensor of 256 bytes'
    TENSORRT_STAND_IN_FAULTS=out-of-memory POLYGRAPHY_ITERATION=0 run polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 125 ] # a check that says nothing
    TENSORRT_STAND_IN_FAULTS=out-of-memory run polygraphy debug build "$models/identity.onnx" --until 2 --check true
    logged 'SKIPPED \| Iteration 2'
    logged 'Passed: 0/2'
    TENSORRT_STAND_IN_FAULTS=out-of-memory run polygraphy debug accuracy "$models/identity.onnx" --onnxrt --trt -o folder
    [ "$status" -eq 1 ]
    logged "ends with 125: .*$out_of_memory"
    # once the original has failed for another reason
    cat >check.sh <<'END'
if [ -e original_failed ]; then export TENSORRT_STAND_IN_FAULTS=out-of-memory; fi
touch original_failed
exec polygraphy run polygraphy_debug.onnx --trt
END
    TENSORRT_STAND_IN_FAULTS=build-fails run polygraphy debug reduce "$models/identity_identity.onnx" -o reduced.onnx \
        --mode linear --signature off --check sh check.sh
    logged 'FAILED \| Check of the original model'
    logged 'SKIPPED \| Iteration 2'
}

# The record is written when the build begins.
@test "SIGINT terminates a hanging build and a hanging inference, and their worker processes" {
    local program status
    use_release 10.16
    for stage in build run; do
        rm -f record
        TENSORRT_STAND_IN_FAULTS=hang-$stage env --default-signal=INT polygraphy run "$models/identity.onnx" --trt \
            >log 2>&1 3>&- &
        program=$!
        while [ ! -s record ] && kill -0 $program; do sleep 0.05; done
        kill -INT $program
        status=0
        wait $program || status=$?
        [ "$status" -ne 0 ]
    done
}

@test "SIGINT cancels a build by the progress monitor, from 9.3 on" {
    local program release status
    for release in 9.3 10.0 11.1; do
        use_release "$release"
        TENSORRT_STAND_IN_FAULTS=endless-build env --default-signal=INT \
            polygraphy convert "$models/identity.onnx" -o x.engine >log 2>&1 3>&- &
        program=$!
        while ! grep -qs endless record && kill -0 $program; do sleep 0.05; done
        kill -INT $program
        status=0
        wait $program || status=$?
        [ "$status" -ne 0 ]
        [ ! -e x.engine ]
        recorded cancelled
    done
}

@test "without a device, auto uses the built-in engine with a warning, and tensorrt is an error" {
    local error
    for error in 35 100; do
        use_release 10.16
        export CUDA_STAND_IN_ERROR=$error
        run polygraphy run "$models/identity.onnx" --trt
        [ "$status" -eq 1 ]
        logged '^\[!\] '
        POLYGRAPHY_TRT=auto run polygraphy run "$models/identity.onnx" --trt --onnxrt
        agrees
        logged "^\\[W\\] TensorRT 10\\.16\\.1 is installed .* no NVIDIA GPU answers: .*\\(CUDA error $error\\): the built-in"
    done
}

@test "the error names the node that the parser refuses" {
    local release
    make_model refused
    for release in 8.6 10.0 10.16 11.1 rtx-1.7; do
        use_release "$release"
        run polygraphy run refused.onnx --trt
        [ "$status" -eq 1 ]
        logged '^\[!\] .* node 1[ :].*Plugin not found.*code 6'
        TENSORRT_STAND_IN_REFUSED=MatMul run polygraphy run "$models/matmul_chain_64.onnx" --trt
        [ "$status" -eq 1 ]
        logged '^\[!\] .* node 0[ :].*Plugin not found'
        [ "$release" = 8.6 ] || logged "^\[!\] .*'n0' \(MatMul\)"
    done
}

@test "debug reduce finds the node that the parser refuses" {
    use_release 10.16
    make_model refused
    run polygraphy debug reduce refused.onnx -o reduced.onnx --mode bisect \
        --check polygraphy convert polygraphy_debug.onnx -o e.engine
    [ "$status" -eq 0 ]
    run polygraphy inspect model reduced.onnx --show layers
    logged 'Secret'
    not_logged 'Relu'
    not_logged 'Neg'
}

@test "inspect capability asks the parser: at once from TensorRT 10.8 on, before node by node" {
    local release
    make_model refused
    for release in 8.6 10.0 10.8.0 10.16 11.1 rtx-1.7; do
        use_release "$release"
        CUDA_STAND_IN_ERROR=35 run polygraphy inspect capability refused.onnx --with-partitioning --json refused.json -o "parts-$release"
        [ "$status" -eq 0 ]
        logged "^\[I\] Nodes that TensorRT(-RTX)? ${release#rtx-}.* does not support:$"
        logged '^ +Secret +\| +1 \| .*Plugin not found.* \| \[\[1, 2\]\]$'
        [ -e "parts-$release/supported_subgraph-nodes-0-0.onnx" ]
        [ -e "parts-$release/unsupported_subgraph-nodes-1-"*.onnx ]
        grep -q '"operator": "Secret"' refused.json
        run polygraphy inspect capability "$models/matmul_chain_64.onnx"
        [ "$status" -eq 0 ]
        logged "Graph is fully supported by TensorRT"
    done
    TENSORRT_STAND_IN_REFUSED=MatMul,Relu run polygraphy inspect capability "$models/matmul_chain_64.onnx"
    [ "$status" -eq 0 ]
    [ "$(grep -c 'MatMul .*Plugin not found' <<<"$output")" -eq 6 ]
    POLYGRAPHY_TRT=builtin run polygraphy inspect capability refused.onnx
    [ "$status" -eq 0 ]
    logged '^\[I\] Nodes that the built-in engine does not support:$'
}

@test "a truncated engine, and shapes that do not fit a profile, are named" {
    use_release 10.16
    make_model empty_tensor
    polygraphy convert "$models/identity.onnx" -o whole.engine
    head -c 40 whole.engine >part.engine
    run polygraphy run part.engine --trt
    [ "$status" -ne 0 ]
    logged "\[!\] TensorRT does not load the engine, which is of the library's release, so it may be truncated or damaged: "
    run polygraphy run empty_tensor.onnx --trt --trt-min-shapes x:[3,3] --trt-opt-shapes x:[2,3] --trt-max-shapes x:[4,3]
    [ "$status" -ne 0 ]
    logged "\[!\] input 'x': the minimum shape \(3, 3\) exceeds the optimum shape \(2, 3\)"
    run polygraphy run empty_tensor.onnx --trt --trt-min-shapes x:[1,3] --trt-opt-shapes x:[2,3] --trt-max-shapes x:[4,3] \
        --input-shapes x:[9,3]
    [ "$status" -ne 0 ]
    logged "\[!\] the shape \(9, 3\) of the input 'x' does not fit the engine's profile"
}

@test "int8 is calibrated with data up to TensorRT 10, and the cache is written and read" {
    local release
    run polygraphy run "$models/convolutions.onnx" --onnxrt --input-shapes x:[2,3,12,11] --iterations 2 --save-inputs in.json
    for release in 8.6 9.3 10.16; do
        use_release "$release"
        rm -f scales.cache
        run polygraphy convert "$models/convolutions.onnx" -o first.engine --int8 --load-inputs in.json \
            --calibration-cache scales.cache --calib-base-cls IInt8MinMaxCalibrator --trt-min-shapes x:[1,3,12,11] \
            --trt-opt-shapes x:[1,3,12,11] --trt-max-shapes x:[4,3,12,11]
        [ "$status" -eq 0 ]
        logged 'Writing calibration cache to: scales.cache$'
        run ! grep 'randomly generated' <<<"$output"
        grep -q '^x: 3c' scales.cache
        recorded calibrator
        cp scales.cache before
        run polygraphy convert "$models/convolutions.onnx" -o second.engine --int8 --calibration-cache scales.cache
        [ "$status" -eq 0 ]
        logged 'Reading calibration cache from scales.cache$'
        run ! grep 'randomly generated' <<<"$output"
        cmp before scales.cache
        run polygraphy convert "$models/convolutions.onnx" -o third.engine --int8
        logged '\[W\] Int8 Calibration is using randomly generated input data'
    done
    /usr/bin/python3 -c "import numpy as n; [n.savez('%d.npz' % i, x=n.zeros((i, 3, 12, 11), n.float32)) for i in (1, 2)]"
    run polygraphy data concat 1.npz 2.npz -o both.json
    run polygraphy convert "$models/convolutions.onnx" -o fourth.engine --int8 --load-inputs both.json
    [ "$status" -eq 1 ]
    logged "\[!\] calibration: sample 2 of the input 'x': it has another shape than the first sample"
    use_release 11.0
    run polygraphy convert "$models/convolutions.onnx" -o fifth.engine --int8
    [ "$status" -eq 1 ]
    logged '\[!\] --int8: in TensorRT 11'
}

@test "inspect capability --trt shows flavour, version and device" {
    use_release 10.8.0
    run polygraphy inspect capability --trt --json library.json
    [ "$status" -eq 0 ]
    logged '==== TensorRT 10\.8\.0 ===='
    logged '^    GPU: answers$'
    grep -q '"rtx": false' library.json
    CUDA_STAND_IN_ERROR=35 run polygraphy inspect capability --trt
    [ "$status" -eq 0 ]
    logged '^    GPU: .*35'
    use_release rtx-1.7
    run polygraphy inspect capability --trt
    logged '==== TensorRT-RTX 1\.7\.1 ===='
    use_library "$PWD/nothing"
    run polygraphy inspect capability --trt
    [ "$status" -eq 1 ]
    run polygraphy inspect capability refused.onnx --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] --trt shows TensorRT.s library, not a model'
}

# The tables of the stand-in are independent of the program's: where they differ, calls fail.
@test "one slot or one enum value that differs makes tests fail" {
    local altered missed=
    use_release 10.16
    for altered in VBuilder.createBuilderConfig IParser.parseFromFile \
        VCudaEngine.getIOTensorName VExecutionContext.enqueueV3 \
        DataType.kFLOAT TensorIOMode.kINPUT; do
        TENSORRT_STAND_IN_ALTERED=$altered run polygraphy run "$models/matmul_chain_64.onnx" --trt --onnxrt
        [ "$status" -ne 0 ] || missed="$missed $altered"
    done
    [ -z "$missed" ] || {
        echo "runs pass although these were altered:$missed"
        return 1
    }
    TENSORRT_STAND_IN_ALTERED=BuilderFlag.kFP16 run polygraphy convert "$models/matmul_chain_64.onnx" -o m.engine --fp16
    not_recorded '^flag kFP16$'
}
