# tensorrt_helper.bash: what tests of TensorRT share: the releases of the stand-in (tests/tensorrt_stand_in/), and models.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
stand_ins=$POLYGRAPHY_TEST_PROGRAMS/../tests/tensorrt
unset POLYGRAPHY_TRT POLYGRAPHY_TENSORRT ${!TENSORRT_STAND_IN_*} ${!CUDA_STAND_IN_*}

# Takes a release of the stand-in. What it is asked for goes to the file ./record.
use_release()
{
    use_library "$stand_ins/$1"
    export TENSORRT_STAND_IN_RECORD=$PWD/record
    rm -f record
}

# use_library FOLDER: its libraries, and CUDA's runtime next to them.
use_library()
{
    export POLYGRAPHY_TENSORRT=$1 POLYGRAPHY_TRT=tensorrt LD_LIBRARY_PATH=$1
}

# Whether the last build was asked for each of these lines.
recorded()
{
    local line
    for line in "$@"; do
        grep -qxF -e "$line" record || {
            echo "no line '$line' in the record of builds:"
            cat record
            return 1
        }
    done
}

not_recorded()
{
    ! grep -E -e "$1" record
}

begins_with()
{
    [ "$(head -c "${#2}" "$1")" = "$2" ]
}

# make_model NAME: writes NAME.onnx, one of the models below.
make_model()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/tensorrt_models.py" "$@"
}
