# debug_reduce_slurm.bats: checks on the nodes of a Slurm cluster. scripts/slurm.sh makes one of this machine, where Slurm
# is installed; `make setup-slurm` installs it.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

setup_file()
{
    local program
    PATH=$PATH:/usr/sbin
    for program in munged slurmctld slurmd srun; do
        command -v $program >/dev/null || return 0
    done
    cluster=$(mktemp -d /tmp/slurm.XXXXXX) # sockets need short names
    export cluster
    "$POLYGRAPHY_ROOT/scripts/slurm.sh" start "$cluster" >"$BATS_FILE_TMPDIR/environment" 3>&-
    . "$BATS_FILE_TMPDIR/environment"
}

eval "helper_$(declare -f setup)"

setup()
{
    helper_setup
    [ -n "${cluster:-}" ] || skip 'Slurm is not installed'
}

teardown_file()
{
    [ -n "${cluster:-}" ] || return 0
    "$POLYGRAPHY_ROOT/scripts/slurm.sh" stop "$cluster"
    no_process_left "$cluster" || false
    [ ! -e "$cluster" ]
}

# ---- Helpers ----

# Slurm needs a moment to be done with a job.
no_job_left()
{
    local attempt
    for attempt in $(seq 200); do
        [ -n "$(squeue --noheader)" ] || return 0
        sleep 0.05
    done
    squeue
    return 1
}

# job_is STATE: waits until there is one.
job_is()
{
    local attempt
    for attempt in $(seq 200); do
        [ -z "$(squeue --noheader --states="$1")" ] || return 0
        sleep 0.05
    done
    echo "no job is $1"
    return 1
}

# here_and_there CHECKS MODEL OPTION...: the same reduction in the folders `here` and `there`, the latter through srun, with
# at least so many checks.
here_and_there()
{
    local checks=$1 folder options
    shift
    for folder in here there; do
        options=()
        [ $folder = here ] || options=(--launcher 'srun -n1')
        mkdir $folder
        cd $folder
        reduce "$1" -o reduced.onnx --min-good good.onnx "${options[@]}" "${@:2}"
        worked
        cat >log <<<"$output"
        cd ..
        [ "$(grep -c 'Running check command' $folder/log)" -ge "$checks" ]
    done
}

# A log without what is of the launcher, and without times. srun finds programs on the PATH itself, and calls them by path.
plain_log()
{
    sed -E -e '/^ *srun: /d' -e "s/ --launcher 'srun -n1'| --launcher srun -n1//; s/(check command:) srun -n1/\1/" \
        -e 's/(Duration|Runtime:|time:|in) [0-9.e-]+ ?(m?s)/\1 # \2/g' -e 's|N0-[0-9/]+-[0-9:]+|N0-#|g' \
        -e 's|Command: [^ ]*/polygraphy|Command: polygraphy|' "$1"
}

verdicts_of()
{
    sed '/"_session"/,/}/d' "$1"
}

same_here_and_there()
{
    cmp here/reduced.onnx there/reduced.onnx
    [ ! -e here/good.onnx ] || cmp here/good.onnx there/good.onnx
    diff <(verdicts_of here/polygraphy_debug_replay.json) <(verdicts_of there/polygraphy_debug_replay.json)
    [ "$(grep -c '"_N' here/polygraphy_debug_replay.json)" -gt 0 ]
    diff <(plain_log here/log) <(plain_log there/log)
    no_job_left
}

# ---- Results ----

@test "a node of the cluster gives the same result, replay and log as this machine" {
    reduce_models make infinity model.onnx
    here_and_there 5 "$PWD/model.onnx" --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    same_here_and_there
    [ "$(reduce_models show there/reduced.onnx)" = 'div [t3->t4] const zero' ]
}

@test "so it does for light_densenet121" {
    model=$POLYGRAPHY_TEST_MODELS/onnx_light/light_densenet121.onnx
    [ -e "$model" ] || skip "light_densenet121 is not here"
    here_and_there 15 "$model" --check "$check_nodes" polygraphy_debug.onnx --fail-node n66
    same_here_and_there
}

@test "each check is a job of its own, which knows its candidate and where it is" {
    "$make_chain" model.onnx 12 0 chain
    script check.sh <<<"
        echo \$SLURM_JOB_ID \$PWD >>jobs
        exec $check_nodes \$POLYGRAPHY_ARTIFACT --fail-node node_5"
    reduce model.onnx -o reduced.onnx --launcher 'srun -n1' --check ./check.sh
    worked
    [ "$(wc -l <jobs)" -eq "$(grep -c 'Running check command' <<<"$output")" ]
    [ "$(grep -cE "^[0-9]+ $PWD\$" jobs)" -eq "$(wc -l <jobs)" ]
    [ -z "$(sort jobs | uniq -d)" ]
}

@test "several jobs at a time give the same result" {
    "$make_chain" model.onnx 40 0 branches
    mkdir shared
    check=(--check "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_31)
    reduce model.onnx -o here.onnx --mode minimal --save-debug-replay here.json "${check[@]}"
    worked
    reduce model.onnx -o there.onnx --mode minimal --save-debug-replay there.json -j 2 --work-dir "$PWD/shared" \
        --launcher 'srun -n1' "${check[@]}"
    worked
    cmp here.onnx there.onnx
    diff <(verdicts_of here.json) <(verdicts_of there.json)
    [ -z "$(ls -A shared)" ]
    no_job_left
}

@test "in an allocation checks are steps of its job" {
    "$make_chain" model.onnx 12 0 chain
    script check.sh <<<"
        echo \$SLURM_JOB_ID >>jobs
        exec $check_nodes \$1 --fail-node node_5"
    run --separate-stderr salloc --quiet -n2 polygraphy debug reduce model.onnx -o reduced.onnx -j 2 \
        --launcher 'srun -n1 --exact' --check ./check.sh '{artifact}'
    worked
    [ "$(wc -l <jobs)" -gt 3 ]
    [ "$(sort -u jobs | wc -l)" -eq 1 ]
    no_job_left
}

@test "the commands of docs/clusters.md do what it says" {
    cp "$POLYGRAPHY_ROOT"/examples/overflow/detector.onnx "$POLYGRAPHY_ROOT"/examples/launchers/one_gpu.sh .
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/docs/clusters.md"
    [ "$(reduce_models show minimal.onnx | cut -d ' ' -f 1)" = 'block2/norm/div' ]
    rm "$TMPDIR"/polygraphy_gpu*.lock
    no_job_left
}

# ---- Ends that are no verdicts ----

@test "an error of Slurm's is told from a failure of the check" {
    "$make_chain" model.onnx 4 0 chain
    export SLURM_EXIT_ERROR=125
    reduce model.onnx -o reduced.onnx --skip-code 125 --launcher 'srun -n1 --partition nonesuch' --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *'the check is inconclusive for the original model'* ]]
    logged 'SKIPPED \| Check of the original model'
}

@test "crashes, and jobs that somebody cancels, have codes of their own" {
    repeat --until 1 --launcher 'srun -n1' --fail-code 139 --check 'kill -SEGV $$'
    worked
    logged 'FAILED \| Iteration 1'
    repeat --until 1 --launcher 'srun -n1' --skip-code 143 --check 'scancel $SLURM_JOB_ID; sleep 1000'
    worked
    logged 'SKIPPED \| Iteration 1'
    no_job_left
}

@test "a check that runs out of time leaves no job" {
    repeat --until 1 --check-timeout 1 --launcher 'srun -n1' --check sleep 1000
    worked
    logged 'FAILED \| Iteration 1'
    no_job_left
}

# ---- Before the end ----

@test "whatever ends this program ends the job that it waits for" {
    "$make_chain" model.onnx 12 0 chain
    mkfifo stuck
    script check.sh <<<'echo >../stuck; sleep 1000 & exec sleep 1000'
    for signal in INT TERM HUP KILL; do
        mkdir session
        cd session
        env --default-signal polygraphy debug reduce ../model.onnx -o reduced.onnx --launcher 'srun -n1' \
            --check ../check.sh >out 2>errors 3>&- &
        session=$!
        cd ..
        read -r _ <stuck
        [ -n "$(squeue --noheader --states=RUNNING)" ]
        kill -$signal $session
        status=0
        wait $session || status=$?
        [ $status -eq $((128 + $(kill -l $signal))) ]
        no_job_left
        no_process_left "$PWD/session" || false
        rm -r session
    done
}

@test "so it does with jobs that are still in the queue" {
    "$make_chain" model.onnx 12 0 chain
    srun --exclusive -n1 sleep 1000 >/dev/null 2>&1 3>&- &
    blocker=$!
    job_is RUNNING
    polygraphy debug reduce model.onnx -o reduced.onnx --launcher 'srun -n1' --check false >out 2>errors 3>&- &
    session=$!
    job_is PENDING
    kill -TERM $session
    status=0
    wait $session || status=$?
    [ $status -eq 143 ]
    [ -z "$(squeue --noheader --states=PENDING)" ]
    kill $blocker
    wait $blocker || true
    no_job_left
}

@test "Ctrl-C on a terminal ends program and job, and once is enough" {
    "$make_chain" model.onnx 12 0 chain
    script check.sh <<<'echo This is the job >"$TERMINAL"; exec sleep 1000'
    for moment in 'Running check command' 'This is the job'; do
        run timeout 60 /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/terminal.py" run ../record "INTERRUPT=$moment" -- \
            sh -c "TERMINAL=\$(tty) exec polygraphy debug reduce model.onnx -o reduced.onnx --launcher 'srun -n1' --check ./check.sh"
        [ "$output" = -2 ]
        no_job_left
    done
}

# ---- The cluster ----

@test "a cluster is started once, and folders of other people are left alone" {
    run "$POLYGRAPHY_ROOT/scripts/slurm.sh" start "$cluster"
    [ "$status" -eq 0 ]
    [ "$output" = "$(cat "$BATS_FILE_TMPDIR/environment")" ]
    mkdir full
    touch full/slurm.conf
    run "$POLYGRAPHY_ROOT/scripts/slurm.sh" start "$PWD/full"
    [ "$status" -eq 1 ]
    run "$POLYGRAPHY_ROOT/scripts/slurm.sh" stop "$PWD/full"
    [ "$status" -eq 0 ]
    [ -e full/slurm.conf ]
}
