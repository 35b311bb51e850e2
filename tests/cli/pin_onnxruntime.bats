# pin_onnxruntime.bats: scripts/pin_onnxruntime.sh in a copy of the scripts, with programs that stand for npm and pip.

load debug_helper

# Makes the copy. npm has 1.90.1 only, in a package of its own layout; PyPI has all releases.
make_tree()
{
    mkdir -p tree/scripts bin
    cp "$POLYGRAPHY_ROOT"/scripts/{setup,pin_onnxruntime}.sh tree/scripts
    cp -r "$POLYGRAPHY_ROOT/scripts/onnxruntime" tree/scripts
    rm -f tree/scripts/onnxruntime/requirements.txt
    cat >bin/npm <<'END'
#!/bin/sh
case $1 in
    view) [ "$2" != onnxruntime-node@1.90.1 ] || echo 1.90.1 ;;
    install) sed 's/^/lock of /' package.json >package-lock.json ;;
    pack)
        mkdir -p package/bin/napi-v9/linux/x64 package/bin/napi-v9/linux/arm64
        for processor in x64 arm64; do echo "npm $processor" >package/bin/napi-v9/linux/$processor/libonnxruntime.so.1; done
        tar -czf onnxruntime-node.tgz package && rm -r package ;;
esac
END
    cat >bin/python3 <<'END'
#!/bin/sh
case $2 in
    pip)
        while [ "$1" != --dest ]; do
            case $2 in manylinux*) machine=${2#*2_2?_} ;; esac
            shift
        done
        echo "wheel for $machine" >"$2/onnxruntime-$machine.whl" ;;
    zipfile)
        mkdir -p "$5/onnxruntime/capi"
        sed 's/wheel/library/' "$4" >"$5/onnxruntime/capi/libonnxruntime.so.1.90.2" ;;
esac
END
    chmod +x bin/*
}

pin()
{
    PATH=$PWD/bin:$PATH run --separate-stderr tree/scripts/pin_onnxruntime.sh "$@"
}

# set_up_release MACHINE: downloads the pinned one as setup.sh does.
set_up_release()
{
    rm -rf cache build
    (cd tree && PATH=$PWD/../bin:$PATH XDG_CACHE_HOME=$PWD/../cache BUILD=$PWD/../build scripts/setup.sh onnxruntime)
}

@test "a release that npm has is taken from npm, with the hashes of its libraries" {
    make_tree
    pin 1.90.1
    [ "$status" -eq 0 ]
    [[ $output == 'ONNX Runtime '*' -> 1.90.1, from npm'* ]]
    [ "$(tree/scripts/setup.sh pinned)" = 1.90.1 ]
    grep -q "^$(echo 'npm x64' | sha256sum | cut -c 1-64)  linux/x64/libonnxruntime.so.1$" tree/scripts/onnxruntime/SHA256SUMS
    grep -q 'lock of .*1.90.1' tree/scripts/onnxruntime/package-lock.json
}

@test "another release is taken from PyPI, and setup.sh downloads it from there" {
    make_tree
    pin 1.90.2
    [ "$status" -eq 0 ]
    [[ $output == 'ONNX Runtime '*' -> 1.90.2, from PyPI'* ]]
    [ "$(tree/scripts/setup.sh pinned)" = 1.90.2 ]
    [ "$(grep -c -- '--hash=sha256:' tree/scripts/onnxruntime/requirements.txt)" -eq 2 ]
    set_up_release
    cmp build/libonnxruntime.so.1 <(echo "library for $(uname -m)")
    sed -i 's/^..../0000/' tree/scripts/onnxruntime/SHA256SUMS
    run ! set_up_release
    [[ $output == *'what was downloaded is not the ONNX Runtime that scripts/onnxruntime/SHA256SUMS names'* ]]
    pin 1.90.1
    [ "$(tree/scripts/setup.sh pinned)" = 1.90.1 ]
    [ ! -e tree/scripts/onnxruntime/requirements.txt ]
}

@test "--dry-run shows the differences and writes nothing" {
    make_tree
    cp -r tree before
    pin --dry-run 1.90.2
    [ "$status" -eq 0 ]
    [[ $output == *'+onnxruntime==1.90.2 '* ]]
    diff -r tree before
    pin 1.90
    [ "$status" -eq 2 ]
}
