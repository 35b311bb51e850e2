# guides_helper.bash: what tests of the guides' commands share, whichever engine `--trt` means.

load debug_helper

setup_file()
{
    require_onnxruntime
    # The guides say `python`, which not every system has under that name.
    mkdir "$BATS_FILE_TMPDIR/bin"
    ln -s /usr/bin/python3 "$BATS_FILE_TMPDIR/bin/python"
    export PATH=$BATS_FILE_TMPDIR/bin:$PATH
}

# Whether the last command ended with status 0.
succeeded()
{
    [ "$status" -eq 0 ] || {
        echo "${release:+TensorRT $release: }status $status"
        cut -c 1-400 <<<"$output"
        return 1
    }
}

# How many artifacts of this name the folder holds: "tactics.json" stands for tactics_<moment>_N0.json and so on.
kept()
{
    find "$1" -name "${2%.*}_*_N*.${2##*.}" 2>/dev/null | wc -l
}
