#!/usr/bin/env bash
# scripts/fresh.sh [RELEASE...] [root | user] [demo | check]: runs the README's two commands on fresh Debians.
#
# Without arguments: Debian 12 and 13, as root and as an ordinary user, `make demo` and then `make check`; each argument
# narrows that down ("13 user", "12 13 root check"). What is tried is the last commit, cloned: nothing that only this
# working tree has. Each pair of release and user gets a system of its own, of what every Debian has, and `make`. Root's
# commands install the rest themselves; for the user, root first runs the line that scripts/setup.sh tells the user.
#
# At the end comes a table of what this commit has gone through so far, and how often tests were skipped for which
# reason. So a run that was broken off is taken up by asking for what is missing. Fails when a command of it has failed.
#
# Needs root and debootstrap. Everything is below FRESH (default /srv/fresh): cache/ has the unpacked systems and the
# packages, so that a second run is faster, and results/ what the commands wrote; the systems that they ran in are
# removed. Mounts are made in a namespace of their own and end with it, however the script ends. TIME_LIMIT is how many
# seconds a command may take (default 3600). Packages come from where this machine has its Debian packages from, or from
# MIRROR; npm's settings, proxies and certificates of this machine hold inside as well.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=${FRESH:-/srv/fresh}
time_limit=${TIME_LIMIT:-3600}
person=tester # the ordinary user
child=        # what runs in a namespace
system=       # the folder of the system that is in use

give_up()
{
    echo "fresh.sh: $1" >&2
    exit 1
}

# ---- What was asked for ----

releases=() people=() commands=()
for argument in "$@"; do
    case $argument in
        12 | 13) releases+=("$argument") ;;
        root | user) people+=("$argument") ;;
        demo | check) commands+=("$argument") ;;
        *)
            echo "usage: scripts/fresh.sh [12] [13] [root | user] [demo | check]" >&2
            exit 2
            ;;
    esac
done
[ ${#releases[@]} -gt 0 ] || releases=(12 13)
[ ${#people[@]} -gt 0 ] || people=(root user)
[ ${#commands[@]} -gt 0 ] || commands=(demo check)

[ "$(id -u)" = 0 ] || give_up "only root can make a system to try things in; run it with sudo"
for tool in debootstrap unshare git flock; do
    command -v "$tool" >/dev/null || give_up "'$tool' is missing: apt-get install debootstrap util-linux git"
done
commit=$(git rev-parse --short HEAD)
results=$fresh/results/$commit
mkdir -p "$fresh/cache" "$results"
exec 9>"$fresh/lock"
flock -n 9 || give_up "it runs already in '$fresh'; name another folder with FRESH"
rm -rf --one-file-system "$fresh"/system.* # of a run that was killed: its mounts have ended with it

# ---- Leaving nothing behind ----

clean_up()
{
    if [ -n "$child" ]; then
        kill -KILL "$child" 2>/dev/null || : # everything in its namespace ends with it
        wait "$child" 2>/dev/null || :
    fi
    [ -z "$system" ] || rm -rf --one-file-system "$system"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# apart COMMAND...: the command with mounts and processes of its own. In the background, because a signal reaches a shell
# that waits for a foreground program only when that has ended.
apart()
{
    local status=0
    unshare --mount --pid --fork --kill-child "$@" </dev/null 9>&- &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

# ---- Systems ----

# What holds for this machine's network holds inside as well: proxies, npm's settings, local certificates.
network=()
while IFS= read -r -d '' setting; do
    case ${setting%%=*} in
        http_proxy | https_proxy | no_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY | npm_config_* | NPM_CONFIG_*)
            network+=("$setting")
            ;;
    esac
done < <(env -0)

mirror_of_this_machine()
{
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | grep -v security | head -n 1
}

# The unpacked system of a release, made once: debootstrap's smallest, and `make`, with which all begins.
make_archive()
{
    local release=$1 archive=$2 suite mirror
    case $release in
        12) suite=bookworm ;;
        13) suite=trixie ;;
    esac
    mirror=${MIRROR:-$(mirror_of_this_machine)}
    [ -n "$mirror" ] || give_up "this machine has no Debian packages: name their address with MIRROR"
    system=$(mktemp -d "$fresh/system.XXXXXX")
    echo "making a Debian $release"
    apart debootstrap --variant=minbase --include=make "$suite" "$system" "$mirror" >"$archive.log" 2>&1 ||
        give_up "debootstrap has failed, see '$archive.log'"
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
    echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/90-outside" # nothing in there has to survive a power cut
    cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
    mkdir -p "$system/usr/local/share/ca-certificates"
    for file in /usr/local/share/ca-certificates/*.crt; do
        [ ! -f "$file" ] || cp "$file" "$system/usr/local/share/ca-certificates/"
    done
    [ ! -f /etc/npmrc ] || cp /etc/npmrc "$system/etc/"
    chroot "$system" useradd --create-home --shell /bin/bash "$person"
}

# inside PERSON COMMAND...: runs it in the tree's clone. The first process of a namespace inherits those whose parents
# have ended, and has to wait for them: the shell does.
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
        sh -c 'cd "$HOME/polygraphy" && exec "$@"' inside "$@"
}

clone_tree()
{
    local home=$system/root
    [ "$1" = root ] || home=$system/home/$1
    git clone -q --no-local . "$home/polygraphy"
    [ ! -f "${HOME:-/root}/.npmrc" ] || cp "${HOME:-/root}/.npmrc" "$home/"
    chroot "$system" chown -R "$1:$1" "${home#"$system"}"
}

# What an ordinary user cannot do: root runs the very line that the user is told.
install_what_is_missing()
{
    local said line status=0
    said=$(mktemp "$system/tmp/said.XXXXXX")
    inside "$person" scripts/setup.sh >"$said" 2>&1 || status=$?
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
    # Root's clone is the user's: the folder does not matter to apt-get.
    chroot "$system" ln -sfn "/home/$person/polygraphy" /root/polygraphy
    inside root apt-get update && inside root env DEBIAN_FRONTEND=noninteractive "$@"
}

# ---- Runs ----

# Writes a log, and beside it one line for the table: release, who, command, exit status, seconds.
run_command()
{
    local release=$1 who=$2 command=$3 name=$4 log status=0 started=$SECONDS
    log=$results/$release-$who-$command.log
    rm -f "$results/$release-$who-$command.line"
    echo "Debian $release, $who: make $command    (tail -f $log)"
    inside "$name" timeout --kill-after=10 "$time_limit" make "$command" >"$log" 2>&1 || status=$?
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
                give_up "what the user lacks could not be installed, see '$results/$release-user-packages.log'"
            fi
            for command in "${commands[@]}"; do
                run_command "$release" "$who" "$command" "$name"
            done
            rm -rf --one-file-system "$system"
            system=
        done
    done
}

# Tests in C give no reason: their file stands for it.
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

# The closing line of `make check` is its sum; of another command, or where there is none, the exit status says it.
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
