#!/usr/bin/env bash
# scripts/slurm.sh start [FOLDER] | stop [FOLDER]: a Slurm cluster of one node, this machine, for testing --launcher.
#
# Everything is in FOLDER (default: slurm in the build folder, BUILD): configuration, key, state, spool and logs. Its
# ports are unused ones, on the loopback interface only. An installed and running Slurm or munge is not
# changed. Works as root or as a user (who can run jobs only under the same account), and in containers: no cgroups.
#
# `start` installs Debian's packages when they are missing (root), and prints the environment variables to set:
#
#     eval "$(scripts/slurm.sh start)"
#     polygraphy debug reduce model.onnx -o minimal.onnx --launcher 'srun -n1' --check ...
#     scripts/slurm.sh stop
#
# When the cluster is already running, `start` only prints them again. `stop` cancels the jobs, ends all daemons, and removes FOLDER.
set -eu
daemons=(munged slurmctld slurmd) # in the order in which they start
processors=8                      # number that Slurm is configured with: how many jobs run at once
tries=300                         # one every tenth of a second

usage()
{
    echo "usage: scripts/slurm.sh start [FOLDER] | stop [FOLDER]" >&2
    exit 2
}

give_up()
{
    echo "slurm.sh: $1" >&2
    exit 1
}

# try_until COMMAND...: until it succeeds; fails when it never does.
try_until()
{
    local attempt
    for ((attempt = 0; attempt < tries; attempt++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}

# ---- Daemons ----

# pid_of DAEMON: of the one that was started here; fails when it has ended. Its id may belong to another program by now.
pid_of()
{
    local pid
    pid=$(cat "$folder/$1.pid" 2>/dev/null) && grep -qsF "$folder/" "/proc/$pid/cmdline" && echo "$pid"
}

has_ended()
{
    ! pid_of "$1"
}

# run_daemon DAEMON ARGUMENT...: it goes to the background by itself, and must not inherit the caller's open files.
run_daemon()
{
    local fd
    (
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-"
        done
        cd "$folder" && exec "$@" </dev/null >"$folder/$1.start" 2>&1
    ) || give_up "$1 does not start: $(tail -q -n 5 "$folder/$1.start" "$folder/$1.log" 2>/dev/null)"
}

end_daemon()
{
    local pid
    pid=$(pid_of "$1") || return 0
    kill "$pid" 2>/dev/null || return 0
    try_until has_ended "$1" || kill -KILL "$pid" 2>/dev/null || true
}

# Steps outlive slurmd. Those of this cluster are recognized by their working folder.
end_steps()
{
    local process
    find /proc -maxdepth 2 -name cwd -lname "$folder*" 2>/dev/null | while IFS= read -r process; do
        process=${process%/cwd}
        case $(cat "$process/comm" 2>/dev/null) in
            slurmstepd) kill -KILL "${process#/proc/}" 2>/dev/null || true ;;
        esac
    done
}

# ---- Starting ----

install_slurm()
{
    local command
    for command in slurmctld slurmd munged srun sinfo; do
        if ! command -v "$command" >/dev/null; then
            "$(dirname "$0")/setup.sh" slurm >&2 || give_up "$command is missing"
            return
        fi
    done
}

listens()
{
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# A port that no process listens on, below the range for outgoing connections.
free_port()
{
    local port attempt
    for ((attempt = 0; attempt < tries; attempt++)); do
        port=$((20000 + RANDOM % 12000))
        if [ "$port" != "${1:-}" ] && ! listens $port; then
            echo $port
            return
        fi
    done
    give_up "no free port found between 20000 and 32000"
}

# slurmd loads a plug-in for cgroups although none are used. This one works without cgroups; from 24.05 on
# it has a name.
cgroup_plugin()
{
    local version
    version=$(slurmd -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
    if [ "$(printf '%s\n' 24.05 "$version" | sort -V | head -n 1)" = 24.05 ]; then
        echo disabled
    else
        echo cgroup/v1
    fi
}

write_configuration()
{
    local user controller_port node_port
    user=$(id -un)
    controller_port=$(free_port)
    node_port=$(free_port "$controller_port")
    mkdir -p "$folder/state" "$folder/spool"
    (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
    echo "CgroupPlugin=$(cgroup_plugin)" >"$folder/cgroup.conf"
    cat >"$folder/slurm.conf" <<END
ClusterName=one_node
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$processors State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
}

controller_answers()
{
    scontrol ping | grep -q ' is UP'
}

node_is_idle()
{
    [ "$(sinfo --noheader --format=%T)" = idle ]
}

is_running()
{
    local daemon
    for daemon in "${daemons[@]}"; do
        pid_of "$daemon" >/dev/null || return 1
    done
    controller_answers
}

show_environment()
{
    echo "export SLURM_CONF='$SLURM_CONF'"
}

start()
{
    local socket=$folder/munge.socket
    case $folder in
        *[!A-Za-z0-9/._+-]*) give_up "Slurm's configuration cannot hold the name of this folder: $folder" ;;
    esac
    [ ${#socket} -lt 100 ] || give_up "the name of the folder is too long for a socket in it, choose another: $folder"
    install_slurm
    if is_running 2>/dev/null; then
        show_environment
        return
    fi
    stop
    [ -z "$(ls -A "$folder" 2>/dev/null)" ] || give_up "there is something else in this folder, which is to hold a cluster: $folder"
    mkdir -p "$folder"
    chmod 700 "$folder"
    touch "$mark"
    trap 'stop' EXIT
    trap 'exit 130' INT TERM HUP
    write_configuration
    # --force: the folder may be inside one that others can write to, which does not matter for this key.
    run_daemon munged --force --key-file="$folder/munge.key" --socket="$socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" --num-threads=2
    run_daemon slurmctld -c -f "$SLURM_CONF"
    try_until controller_answers || give_up "slurmctld does not answer: $(tail -n 5 "$folder/slurmctld.log" 2>&1)"
    run_daemon slurmd -c -f "$SLURM_CONF"
    try_until node_is_idle || give_up "the node does not become idle: $(sinfo --format='%T %E'; tail -n 5 "$folder/slurmd.log" 2>&1)"
    trap - EXIT
    show_environment
}

# ---- Stopping ----

no_job_left()
{
    [ -z "$(squeue --noheader)" ]
}

stop()
{
    local daemon
    [ -e "$mark" ] || return 0 # nothing was ever started there
    if is_running 2>/dev/null; then
        scancel --user="$(id -un)" >&2 || true
        try_until no_job_left || echo "slurm.sh: jobs do not end; going on" >&2
    fi
    for daemon in slurmd slurmctld munged; do
        end_daemon "$daemon"
    done
    end_steps
    rm -rf "$folder"
}

[ $# -ge 1 ] && [ $# -le 2 ] || usage
folder=$(realpath -m -- "${2:-${BUILD:-$(dirname "$0")/../build}/slurm}")
mark=$folder/by_slurm.sh # shows that the folder was created by this script and may be removed
node=$(uname -n)
node=${node%%.*}
export SLURM_CONF=$folder/slurm.conf
PATH=$PATH:/usr/sbin
case $1 in
    start) start ;;
    stop) stop ;;
    *) usage ;;
esac
