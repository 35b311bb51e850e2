# bench/workplace.sh: for scripts that measure, which source it with BUILD as their first argument. Sets `root` and `build`
# (this tree and the build folder, as whole paths), selects the build folder's ONNX Runtime, and changes to a folder of the
# script's own, which is removed at exit.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
: "${POLYGRAPHY_ONNXRUNTIME:=$build/libonnxruntime.so.1}"
export POLYGRAPHY_ONNXRUNTIME
folder=$(mktemp -d "$build/$(basename "$0" .sh).XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
[ -z "${POLYGRAPHY_TEST_MODELS:-}" ] || POLYGRAPHY_TEST_MODELS=$(cd "$POLYGRAPHY_TEST_MODELS" && pwd)
cd "$folder"

# real_model NAME: the path of NAME.onnx in the folder of models. Fails, with a message, where it is not there.
real_model()
{
    local path
    path=$(find -L "$POLYGRAPHY_TEST_MODELS" -name "$1.onnx" | head -n 1)
    [ -n "$path" ] || { echo "there is no $1.onnx in '$POLYGRAPHY_TEST_MODELS'" >&2 && return 1; }
    echo "$path"
}
