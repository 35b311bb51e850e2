# tensorrt_library.bats: which library of TensorRT `--trt` calls, and what is said where there is none.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# A library of another kind, called as TensorRT's is.
make_impostor()
{
    mkdir -p "$1"
    cp "$(ldconfig -p | awk '/libz\.so\.1 /{print $NF; exit}')" "$1/libnvinfer.so.10"
}

@test "a name without a library is an error, whatever the command" {
    export POLYGRAPHY_TENSORRT=$PWD/nothing
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused 'POLYGRAPHY_TENSORRT names no library of TensorRT'
    run --separate-stderr polygraphy convert "$models/identity.onnx" -o x.engine
    refused 'POLYGRAPHY_TENSORRT names no library of TensorRT'
    [ ! -e x.engine ]
    run --separate-stderr polygraphy inspect model "$models/identity.onnx" --display-as trt
    refused 'POLYGRAPHY_TENSORRT names no library of TensorRT'
}

@test "the built-in engine does not look for a library" {
    export POLYGRAPHY_TENSORRT=$PWD/nothing POLYGRAPHY_TRT=builtin
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    worked
}

@test "a file that is called otherwise, and one that is no library, are refused" {
    mkdir -p folder
    : >folder/libother.so
    POLYGRAPHY_TENSORRT=$PWD/folder/libother.so run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused 'which is not called as a library of TensorRT is'
    : >folder/libnvinfer.so.10
    POLYGRAPHY_TENSORRT=$PWD/folder run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused 'folder/libnvinfer.so.10'
}

@test "a library that is not TensorRT is refused" {
    command -v ldconfig >/dev/null || skip 'no ldconfig'
    make_impostor impostor
    POLYGRAPHY_TENSORRT=$PWD/impostor run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused 'is not TensorRT: it lacks createInferRuntime_INTERNAL'
}
