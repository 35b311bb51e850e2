# npm_package.bats: the npm package, installed without a network: the program starts, finds ONNX Runtime, ends as it should.

load debug_helper

model=$POLYGRAPHY_ROOT/tests/models/identity.onnx

# The package of this machine's program, and a package that stands in for onnxruntime-node: that has the same library for all
# systems, and is large.
setup_file()
{
    local library
    command -v npm >/dev/null || { skip_file "there is no npm" && return; }
    [ -z "${EMULATOR:-}" ] || { skip_file "npm can start this machine's programs only" && return; }
    [ -z "${SANITIZE:-}" ] || { skip_file "with sanitizers the program needs their libraries" && return; }
    library=${POLYGRAPHY_ONNXRUNTIME:-$(dirname "$POLYGRAPHY")/libonnxruntime.so.1}
    [ -f "$library" ] || { skip_file "ONNX Runtime is not there" && return; }
    library=$(realpath "$library")
    case $(uname -m) in
        x86_64) platform=x64 ;;
        aarch64) platform=arm64 ;;
        *) skip_file "there is no package for this machine" && return ;;
    esac
    # Some releases of npm copy a folder instead of linking to it, and leave out links that are in it.
    export platform npm_config_loglevel=error npm_config_offline=true npm_config_install_links=false
    cd "$BATS_FILE_TMPDIR"
    make -s -C "$POLYGRAPHY_ROOT" BUILD="$(dirname "$POLYGRAPHY")" NPM_FOLDER="$PWD" ARCHITECTURES=$platform npm
    mkdir -p "onnxruntime-node/bin/napi-v6/linux/$platform" project
    ln -s "$library" "onnxruntime-node/bin/napi-v6/linux/$platform/libonnxruntime.so.1"
    sed -n 's/.*"onnxruntime-node": *\("[^"]*"\).*/{"name": "onnxruntime-node", "version": \1}/p' \
        "$POLYGRAPHY_ROOT/scripts/onnxruntime/package.json" >onnxruntime-node/package.json
    cd project
    npm install ../polygraphy-*.tgz ../onnxruntime-node
}

# To be called first: where things are, and nothing that would help the package.
in_project()
{
    unset POLYGRAPHY_ONNXRUNTIME
    project=$BATS_FILE_TMPDIR/project
    program=$project/node_modules/polygraphy/linux-$platform/polygraphy
    launcher=$project/node_modules/.bin/polygraphy
}

@test "npx starts the program of the package, with the library of onnxruntime-node" {
    in_project
    cd "$project"
    run npx polygraphy --version
    [ "$status" -eq 0 ]
    [[ $output == "Polygraphy | Version: "*"Path: ['$program']" ]]
    run npx polygraphy run "$model" --onnxrt
    [ "$status" -eq 0 ]
    [[ $output == *PASSED* ]]
}

@test "exit codes are the program's" {
    in_project
    run "$launcher" run missing.onnx --onnxrt
    [ "$status" -eq 1 ]
    run "$launcher" nothing
    [ "$status" -eq 2 ]
}

@test "what was started has become the program, with the words that it was given" {
    in_project
    local child
    mkfifo checked
    "$launcher" debug repeat --until 1 --check sh -c 'echo >checked; read -r never <checked' 'two words' '' >log 2>&1 3>&- &
    child=$!
    read -r <checked # the check runs
    [ "/proc/$child/exe" -ef "$program" ]
    [[ $(tr '\0' '|' <"/proc/$child/cmdline") == *'|two words||' ]]
    kill -TERM $child
    status=0
    wait $child || status=$?
    [ "$status" -eq 143 ]
}

@test "Ctrl-C on a terminal reaches the program, and is what npx ends by, too" {
    in_project
    cd "$project"
    local command
    for command in "$launcher" 'npx polygraphy'; do
        run timeout 60 /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/terminal.py" run record 'INTERRUPT=starting inference' -- \
            $command run "$model" --onnxrt --iterations 1000000000
        [ "$output" = -2 ]
    done
}

@test "a check that starts polygraphy starts the program" {
    in_project
    "$launcher" debug repeat --until 1 --check sh -c 'command -v polygraphy >where'
    [ "$(cat where)" = "$program" ]
}

# on_a_machine WORDS COMMAND...: runs it where `uname -sm` says these words.
on_a_machine()
{
    mkdir -p bin
    printf '#!/bin/sh\necho %s\n' "$1" >bin/uname
    chmod +x bin/uname
    shift
    PATH=$PWD/bin:$PATH "$@"
}

@test "other systems are told why it cannot work" {
    in_project
    run on_a_machine 'Darwin arm64' "$launcher" --version
    [ "$status" -eq 1 ]
    [[ $output == 'polygraphy: this package has programs for Linux on x64 and arm64, and this is Darwin arm64: '* ]]
    [ "$platform" = x64 ] || skip "this machine is not x64"
    run on_a_machine 'Linux aarch64' "$launcher" --version
    [ "$status" -eq 1 ]
    if [ -e /lib/ld-linux-aarch64.so.1 ]; then
        [[ $output == 'polygraphy: this package was made without the program for arm64: '* ]]
    else
        [[ $output == 'polygraphy: the program needs glibc, '*' lacks /lib/ld-linux-aarch64.so.1: '* ]]
    fi
}
