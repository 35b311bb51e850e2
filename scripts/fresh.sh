#!/usr/bin/env bash
# scripts/fresh.sh [RELEASE...] [root | user] [demo | check | install | deb | npm | wheel]: runs the instructions of the README on
# fresh Debian systems.
#
# Without arguments: Debian 12 and 13, as root and as an ordinary user, all commands in turn; each argument narrows that
# down ("13 user", "12 13 root check"). The last commit is cloned and tested, without uncommitted changes.
# Each pair of release and user gets its own system, a minimal Debian with `make`. Root's commands install
# the rest themselves; for the user, root first runs the command that scripts/setup.sh prints.
#
#   demo, check   make demo, make check
#   install       make install; the demo with the installed program, without access to the build folder; make uninstall,
#                 which must restore the previous state of the folders
#   deb           make deb, without an error of lintian; the example of the library is compiled with
#                 the installed packages; in another fresh system, which has no compiler, the demo with the installed package
#   npm           make npm; in another fresh system, with npm alone, the demo with the program of the installed package
#   wheel         make wheel; in another fresh system, with Python alone, the demo and the Python tests with the installed package,
#                 whose ONNX Runtime is PyPI's; pip uninstall, which must leave nothing
#
# At the end prints a table of all runs of this commit so far, and how often tests were skipped for which
# reason. An interrupted run is continued by naming what is missing. Fails if a command of this run failed.
#
# Needs root and debootstrap. Everything is below FRESH (default /srv/fresh): cache/ has the unpacked systems and the
# packages, so that a second run is faster, and results/ the output of the commands; the systems that they ran in are
# removed. Mounts are made in a separate namespace and end with it, however the script ends. TIME_LIMIT is how many
# seconds a command may take (default 3600). Packages come from this machine's own source of Debian packages, or from
# MIRROR; npm's settings, proxies and certificates of this machine are used inside as well. With SHARE_ONNXRUNTIME=1 the
# systems are given this machine's ONNX Runtime, if it has the pinned one, and need not install npm to download it.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=${FRESH:-/srv/fresh}
time_limit=${TIME_LIMIT:-3600}
person=tester # the ordinary user
child=        # process id of the command that runs in a namespace
system=       # the folder of the system that is in use

give_up()
{
    echo "fresh.sh: $1" >&2
    exit 1
}

# ---- Arguments ----

releases=() people=() commands=()
for argument in "$@"; do
    case $argument in
        12 | 13) releases+=("$argument") ;;
        root | user) people+=("$argument") ;;
        demo | check | install | deb | npm | wheel) commands+=("$argument") ;;
        *)
            echo "usage: scripts/fresh.sh [12] [13] [root | user] [demo | check | install | deb | npm | wheel]" >&2
            exit 2
            ;;
    esac
done
[ ${#releases[@]} -gt 0 ] || releases=(12 13)
[ ${#people[@]} -gt 0 ] || people=(root user)
[ ${#commands[@]} -gt 0 ] || commands=(demo check install deb npm wheel)

[ "$(id -u)" = 0 ] || give_up "creating a system requires root; run it with sudo"
for tool in debootstrap unshare git flock; do
    command -v "$tool" >/dev/null || give_up "'$tool' is missing: apt-get install debootstrap util-linux git"
done
commit=$(git rev-parse --short HEAD)
results=$fresh/results/$commit
mkdir -p "$fresh/cache" "$results"
exec 9>"$fresh/lock"
flock -n 9 || give_up "another run is using '$fresh'; set FRESH to another folder"
rm -rf --one-file-system "$fresh"/system.* # left by a killed run: its mounts ended with it

# ---- Cleaning up ----

clean_up()
{
    if [ -n "$child" ]; then
        kill -KILL "$child" 2>/dev/null || : # everything in its namespace ends with it
        wait "$child" 2>/dev/null || :
    fi
    rm -rf --one-file-system "$fresh"/system.*
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# apart COMMAND...: runs it in its own mount and process namespaces, and without a network when `offline` is set. In the
# background, because a signal reaches a shell that waits for a foreground program only when that has ended.
apart()
{
    local status=0
    unshare --mount --pid ${offline:+--net} --fork --kill-child "$@" </dev/null 9>&- &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

# ---- Systems ----

# Copies this machine's network settings into the system: proxies, npm's and pip's settings, local certificates.
network=()
while IFS= read -r -d '' setting; do
    case ${setting%%=*} in
        http_proxy | https_proxy | no_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY | npm_config_* | NPM_CONFIG_* | PIP_*)
            network+=("$setting")
            ;;
    esac
done < <(env -0)

mirror_of_this_machine()
{
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | grep -v security | head -n 1
}

# The unpacked system of a release, made once: debootstrap's smallest variant, and `make`.
make_archive()
{
    local release=$1 archive=$2 suite mirror
    case $release in
        12) suite=bookworm ;;
        13) suite=trixie ;;
    esac
    mirror=${MIRROR:-$(mirror_of_this_machine)}
    [ -n "$mirror" ] || give_up "no Debian package source found on this machine: set MIRROR to its address"
    system=$(mktemp -d "$fresh/system.XXXXXX")
    echo "creating a Debian $release system"
    apart debootstrap --variant=minbase --include=make "$suite" "$system" "$mirror" >"$archive.log" 2>&1 ||
        give_up "debootstrap failed, see '$archive.log'"
    rm -f "$system"/var/cache/apt/archives/*.deb
    tar -C "$system" --one-file-system -cf "$archive.part" .
    mv "$archive.part" "$archive"
    rm -rf --one-file-system "$system" "$archive.log"
    system=
}

make_system()
{
    local release=$1 archive=$fresh/cache/debian-$1.tar file
    [ -f "$archive" ] || make_archive "$release" "$archive"
    system=$(mktemp -d "$fresh/system.XXXXXX")
    tar -C "$system" -xf "$archive"
    chmod 755 "$system" # its own mode comes from mktemp
    apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$system/etc/apt/apt.conf.d/90-outside" || :
    echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/90-outside" # nothing in it has to survive a power failure
    cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
    mkdir -p "$system/usr/local/share/ca-certificates"
    for file in /usr/local/share/ca-certificates/*.crt; do
        [ ! -f "$file" ] || cp "$file" "$system/usr/local/share/ca-certificates/"
    done
    for file in /etc/npmrc /etc/pip.conf; do
        [ ! -f "$file" ] || cp "$file" "$system/etc/"
    done
    chroot "$system" useradd --create-home --shell /bin/bash "$person"
}

# inside PERSON COMMAND...: runs it in the tree's clone, for TIME_LIMIT seconds at most. The first process of a namespace
# inherits orphaned processes and has to reap them: the shell does.
inside()
{
    local who=$1 home=/root
    shift
    [ "$who" = root ] || home=/home/$who
    apart bash -c '
        set -e
        system=$1 packages=$2 who=$3
        shift 3
        mount -t proc proc "$system/proc"
        mount -t sysfs -o ro sysfs "$system/sys"
        mount -t tmpfs -o mode=755 tmpfs "$system/dev"
        mkdir "$system/dev/pts" "$system/dev/shm"
        mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$system/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
        for device in null zero full random urandom tty; do
            touch "$system/dev/$device"
            mount --bind "/dev/$device" "$system/dev/$device"
        done
        ln -s pts/ptmx "$system/dev/ptmx"
        ln -s /proc/self/fd "$system/dev/fd"
        for number in 0:stdin 1:stdout 2:stderr; do
            ln -s "/proc/self/fd/${number%:*}" "$system/dev/${number#*:}"
        done
        mount --bind "$packages" "$system/var/cache/apt/archives"
        set +e
        chroot --userspec="$who" --groups= "$system" "$@"
        exit $?
    ' inside "$system" "$packages" "$who:$who" /usr/bin/env -i "HOME=$home" "USER=$who" "LOGNAME=$who" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${network[@]}" \
        timeout --kill-after=10 "$time_limit" sh -c 'cd "$HOME/polygraphy" && exec "$@"' inside "$@"
}

clone_tree()
{
    local home=$system/root
    [ "$1" = root ] || home=$system/home/$1
    git clone -q --no-local . "$home/polygraphy"
    [ ! -f "${HOME:-/root}/.npmrc" ] || cp "${HOME:-/root}/.npmrc" "$home/"
    if [ -n "${SHARE_ONNXRUNTIME:-}" ]; then
        mkdir -p "$home/.cache/polygraphy"
        cp -r "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}"/polygraphy/onnxruntime-* "$home/.cache/polygraphy/" || :
    fi
    chroot "$system" chown -R "$1:$1" "${home#"$system"}"
    [ "$1" = root ] || ln -s "/home/$1/polygraphy" "$system/root/polygraphy" # only a working directory for root
}

# For commands that need root: root runs the command that scripts/setup.sh PURPOSE prints for the user.
install_what_is_missing()
{
    local said line status=0
    said=$(mktemp "$system/tmp/said.XXXXXX")
    inside "$person" scripts/setup.sh "$@" >"$said" 2>&1 || status=$?
    cat "$said"
    line=$(sed -n 's/^missing packages; run: sudo \(apt-get .*\)/\1/p' "$said")
    if [ -z "$line" ] || [ "$status" = 0 ]; then
        echo "scripts/setup.sh did not tell the user what to install (exit status $status)"
        return 1
    fi
    sudo_line $line
}

sudo_line()
{
    inside root apt-get update && inside root env DEBIAN_FRONTEND=noninteractive "$@"
}

# keep_what_was_made PERSON FOLDER DESTINATION: the folder is one below build/.
keep_what_was_made()
{
    local home=$system/root
    [ "$1" = root ] || home=$system/home/$1
    rm -rf "$3"
    cp -r "$home/polygraphy/build/$2" "$3"
}

# in_another_system RELEASE PERSON FOLDER FUNCTION...: calls FUNCTION with a fresh system instead of this one, with the tree and
# with the folder's files in /made.
in_another_system()
{
    local release=$1 who=$2 folder=$3 outer=$system status=0
    shift 3
    make_system "$release"
    clone_tree "$who"
    mkdir "$system/made"
    cp -r "$folder"/* "$system/made"
    "$@" || status=$?
    rm -rf --one-file-system "$system"
    system=$outer
    return "$status"
}

# ---- Tests ----

# Each takes the release and the person's name. A folder below `results` holds the files for the second system.

try_install()
{
    inside "$2" bash -euc '
        prefix=/usr/local
        [ "$(id -u)" = 0 ] || prefix=$HOME/.local
        tree() { [ ! -d "$prefix" ] || find "$prefix" -printf "%p %y %m %l\n" | LC_ALL=C sort; }
        scripts/setup.sh
        tree >/tmp/before
        make -j"$(nproc)" install PREFIX="$prefix"
        mv build out-of-reach
        scripts/demo.sh "$prefix/bin"
        mv out-of-reach build
        make uninstall PREFIX="$prefix"
        tree | diff /tmp/before - && echo "uninstalled: the tree is as it was"'
}

try_deb()
{
    local made=$results/$1-$2-deb
    [ "$2" = root ] || install_what_is_missing deb || return
    inside "$2" make deb &&
        inside root apt-get install -y --no-install-recommends lintian &&
        inside root sh -c 'lintian --allow-root --fail-on error build/deb/*.changes' &&
        keep_what_was_made "$2" deb "$made" &&
        inside root sh -ec '
            apt-get install -y --no-install-recommends ./build/deb/*.deb
            cd /tmp
            examples=/usr/share/doc/polygraphy/examples
            cc -o reduce_library $examples/reduce_library/reduce_library.c $(pkg-config --cflags --libs polygraphy)
            POLYGRAPHY_ONNXRUNTIME=$(pkg-config --variable=onnxruntime polygraphy) \
                ./reduce_library $examples/overflow/detector.onnx smallest.onnx' &&
        in_another_system "$1" "$2" "$made" try_installed_deb "$2"
}

# With the dependencies that apt installs, which include oneDNN, but no compiler.
try_installed_deb()
{
    inside root sh -ec '
        apt-get update
        apt-get install -y /made/polygraphy_*.deb /made/polygraphy-doc_*.deb
        if command -v cc; then exit 1; fi' &&
        inside "$1" scripts/demo.sh /usr/bin &&
        inside "$1" polygraphy inspect model /usr/share/doc/polygraphy/examples/overflow/detector.onnx &&
        inside root apt-get purge -y polygraphy polygraphy-doc &&
        nothing_is_left
}

nothing_is_left()
{
    local left
    left=$(find "$system/usr" "$system/etc" "$system/var/lib" -path '*/dpkg/*' -o -name '*polygraphy*' -print)
    [ -z "$left" ] || { echo "left behind after apt-get purge: $left"; return 1; }
}

try_npm()
{
    local made=$results/$1-$2-npm
    inside "$2" sh -ec 'scripts/setup.sh; make -j"$(nproc)" npm ARCHITECTURES="$(uname -m | sed "s/x86_64/x64/; s/aarch64/arm64/")"' &&
        keep_what_was_made "$2" npm "$made" &&
        in_another_system "$1" "$2" "$made" try_installed_npm "$2"
}

# With Debian's npm and no compiler; the installed package without a network.
try_installed_npm()
{
    inside root sh -ec '
        apt-get update
        apt-get install -y --no-install-recommends npm
        if command -v cc; then exit 1; fi' &&
        inside "$1" sh -ec '
            mkdir ~/project
            cd ~/project
            ONNXRUNTIME_NODE_INSTALL=skip npm install --no-audit --no-fund /made/polygraphy-*.tgz' &&
        offline=yes inside "$1" sh -exc '
            tree=$PWD
            cd ~/project
            npx polygraphy run "$tree/tests/models/convolutions.onnx" --onnxrt --trt
            npx polygraphy run missing.onnx --onnxrt && exit 1 || [ $? = 1 ]
            npx polygraphy nothing && exit 1 || [ $? = 2 ]
            "$tree/scripts/demo.sh" node_modules/.bin'
}

try_wheel()
{
    local made=$results/$1-$2-wheel
    install_pip && inside "$2" sh -ec 'scripts/setup.sh; make wheel' &&
        keep_what_was_made "$2" wheel "$made" &&
        in_another_system "$1" "$2" "$made" try_installed_wheel "$2"
}

install_pip()
{
    inside root sh -ec 'apt-get update; apt-get install -y --no-install-recommends python3-venv ca-certificates git
        update-ca-certificates'
}

# With Debian's Python, and no compiler and no oneDNN.
try_installed_wheel()
{
    install_pip && inside "$1" sh -exc '
        if command -v cc; then exit 1; fi
        python3 -m venv ~/environment
        PATH=$HOME/environment/bin:$PATH
        find ~/environment -path "*polygraphy*" >/tmp/before
        pip install /made/polygraphy_native-*.whl
        polygraphy-native run tests/models/identity.onnx --onnxrt 2>&1 | grep "pip install onnxruntime"
        pip install onnxruntime
        polygraphy-native run tests/models/convolutions.onnx --onnxrt --trt -vv >/tmp/run
        grep "Using oneDNN" /tmp/run
        tail -1 /tmp/run | grep PASSED
        python -m polygraphy_native --version
        POLYGRAPHY_ROOT=$PWD PYTHONPATH=tests/python PYTHONDONTWRITEBYTECODE=1 python -m unittest test_polygraphy_native
        python -m polygraphy_native --install-alias
        scripts/demo.sh ~/environment/bin
        pip uninstall -y polygraphy-native
        find ~/environment -path "*polygraphy*" | diff /tmp/before - && echo "uninstalled: nothing is left"'
}

# ---- Runs ----

# Writes a log and, in a file next to it, one line for the table: release, who, command, exit status, seconds.
run_command()
{
    local release=$1 who=$2 command=$3 name=$4 log status=0 started=$SECONDS
    log=$results/$release-$who-$command.log
    rm -f "$results/$release-$who-$command.line"
    echo "Debian $release, $who: make $command    (tail -f $log)"
    case $command in
        demo | check) inside "$name" make "$command" >"$log" 2>&1 || status=$? ;;
        *) "try_$command" "$release" "$name" >"$log" 2>&1 || status=$? ;;
    esac
    echo "$release $who $command $status $((SECONDS - started))" >"$results/$release-$who-$command.line"
}

run_all()
{
    local release who name command
    for release in "${releases[@]}"; do
        packages=$fresh/cache/packages-$release
        mkdir -p "$packages"
        for who in "${people[@]}"; do
            name=$who
            [ "$who" = root ] || name=$person
            make_system "$release"
            clone_tree "$name"
            if [ "$who" = user ] && ! install_what_is_missing >"$results/$release-user-packages.log" 2>&1; then
                give_up "packages for the user could not be installed, see '$results/$release-user-packages.log'"
            fi
            for command in "${commands[@]}"; do
                run_command "$release" "$who" "$command" "$name"
            done
            rm -rf --one-file-system "$system" || echo "'$system' could not be removed" >&2
            system=
        done
    done
}

# Tests in C give no reason: the name of their file is shown instead.
count_skips()
{
    awk '
        /^# tests\// { file = $2 }
        /^(not )?ok .* # (SKIP|skip)/ {
            sub(/.* # (SKIP|skip) */, "")
            count[/ / ? $0 : "in " file]++
        }
        END { for (reason in count) printf "%5d  %s\n", count[reason], reason }' "$1" | sort -rn
}

# The result is the last line of `make check`, its summary; for other commands, or without that line, the exit status.
print_table()
{
    local line release who command status seconds log closing bad=0
    printf '\nCommit %s\n%-8s %-5s %-11s %8s  %s\n' "$commit" Debian who command seconds result
    for line in "$results"/*.line; do
        [ -f "$line" ] || continue
        read -r release who command status seconds <"$line"
        log=${line%.line}.log
        closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || closing=
        [ "$status" = 0 ] || { bad=1 closing="${closing:+$closing, }exit status $status, see $log"; }
        printf '%-8s %-5s %-11s %8s  %s\n' "$release" "$who" "make $command" "$seconds" "${closing:-exit status 0}"
    done
    for line in "$results"/*-check.line; do
        [ -f "$line" ] || continue
        read -r release who command status seconds <"$line"
        printf '\nSkipped on Debian %s as %s:\n' "$release" "$who"
        count_skips "${line%.line}.log"
    done
    return "$bad"
}

run_all
print_table
