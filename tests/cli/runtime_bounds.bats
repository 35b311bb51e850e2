# runtime_bounds.bats: models with which ONNX Runtime crashes, never ends, or takes all memory, given to it in a process of its own.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# Each of the commands that have it there, on model $1 with further options: `each_command check $1` calls `check` behind every one.
each_command()
{
    local check=$1 model=$2 command
    shift 2
    for command in "check lint $model" "inspect capability $model -o capability" \
        "surgeon sanitize $model -o result.onnx --fold-constants" "convert $model -o result.onnx --fp-to-fp16"; do
        echo "$command"
        # shellcheck disable=SC2086
        run polygraphy $command "$@"
        "$check" || return 1
        [ ! -e result.onnx ] || return 1
        [ ! -e capability ] || return 1
    done
}

# A library that stands for ONNX Runtime: C statements $1, as soon as it is used.
make_runtime()
{
    printf '#include <%s.h>\n' fcntl signal stdio stdlib string unistd >runtime.c
    printf 'void *OrtGetApiBase(void) { %s return 0; }\n' "$1" >>runtime.c
    cc -shared -fPIC -O0 -o runtime.so runtime.c
}

# Models whose types are not stated, so that all commands ask for them.
make_models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/endless_models.py" .
}

skip_without_runtime()
{
    polygraphy run "$models/identity.onnx" --onnxrt >/dev/null 2>&1 || skip "ONNX Runtime is not there"
}

skip_without_bound_on_memory()
{
    [ "$(uname)" = Linux ] || skip "this system has no such bound"
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip "what a sanitizer takes is not bounded"
}

crash_is_told()
{
    [ "$status" -eq 1 ] && logged 'ONNX Runtime crashes: signal 6 \(Aborted\) ended its process'
}

@test "a crash of ONNX Runtime is one sentence, and nothing is written" {
    make_models
    make_runtime 'raise(SIGABRT);'
    each_command crash_is_told chain.onnx --onnxruntime-lib ./runtime.so
    run polygraphy surgeon sanitize chain.onnx -o result.onnx --onnxruntime-lib ./runtime.so
    logged "^\\[!\\] cannot infer the shapes of '.*chain\\.onnx': ONNX Runtime crashes: .*--no-onnxruntime-shape-inference"
    [ -z "$(find . -name 'core*')" ]
}

time_is_told()
{
    [ "$status" -eq 1 ] && logged 'ONNX Runtime timed out after 0\.5 s; --onnxrt-timeout raises the limit'
}

@test "ONNX Runtime that does not come to an end is ended" {
    make_models
    make_runtime 'for (;;) pause();'
    each_command time_is_told chain.onnx --onnxruntime-lib ./runtime.so --onnxrt-timeout 0.5
}

memory_is_told()
{
    [ "$status" -eq 1 ] &&
        logged 'ended its process at [01]\.[0-9] GB of memory \(limit: 1\.[0-9] GB\); --max-memory raises the limit'
}

@test "ONNX Runtime that takes more memory than it may have is told by that" {
    skip_without_bound_on_memory
    make_models
    make_runtime 'for (char *block; (block = malloc(1 << 22)) != NULL;) memset(block, 1, 1 << 22); abort();'
    each_command memory_is_told chain.onnx --onnxruntime-lib ./runtime.so --max-memory 1M
}

is_ended()
{
    [ "$status" -eq 1 ] && logged 'ONNX Runtime (crashes: signal|timed out after 3 s)'
}

@test "5,000 functions that call each other, and functions whose number doubles, are ended" {
    skip_without_runtime
    make_models
    run polygraphy inspect capability chain.onnx
    [ "$status" -eq 1 ] || skip "this release of ONNX Runtime takes such models"
    each_command is_ended chain.onnx --onnxrt-timeout 3
    each_command is_ended doubling.onnx --onnxrt-timeout 3
}

@test "inspect capability looks into a thousand calls of functions, not into any number" {
    skip_without_runtime
    make_models
    run polygraphy inspect capability refused.onnx --json capability.json
    [ "$status" -eq 0 ]
    logged '^\[W\] [0-9]+ unsupported calls of local functions are listed without their unsupported nodes: there are too many calls'
    [ "$(grep -c '"NoSuchOperator"' capability.json)" -gt 100 ]
    [ "$(grep -c '"NoSuchOperator"' capability.json)" -le 1000 ]
}

@test "64 GB of a constant are refused, and everything else about the model is told" {
    skip_without_runtime
    skip_without_bound_on_memory
    make_models
    run polygraphy check lint fill.onnx
    [ "$status" -eq 1 ]
    logged '^\[E\] LINT \| Name: fill, Op: ConstantOfShape \| .*(68719476736|64\.0 GiB).*--max-memory'
    run polygraphy surgeon sanitize fill.onnx -o result.onnx --fold-constants --partitioning recursive
    [ "$status" -eq 0 ]
    logged "^\\[W\\] .*cannot compute 'fill', which stays as it is: .*(68719476736|64\\.0 GiB).*--max-memory"
    polygraphy inspect capability fill.onnx
    polygraphy convert fill.onnx --fp-to-fp16 -o half.onnx
}

# Starts the command, ends it with signal $1 while ONNX Runtime hangs, and waits for its end and for that of the other
# process, which nothing else would bring about.
end_while_it_works()
{
    local pid copy
    polygraphy inspect capability chain.onnx --onnxruntime-lib ./runtime.so --onnxrt-timeout 0 3>&- &
    pid=$!
    while [ ! -s at_work ]; do sleep 0.01; done
    copy=$(cat at_work)
    kill "-$1" "$pid"
    wait "$pid" || ended=$?
    while kill -0 "$copy"; do sleep 0.01; done
    rm at_work
}

@test "a request to end ends ONNX Runtime's process, too, and so does the end of this one" {
    make_models
    make_runtime 'char number[16]; int size = sprintf(number, "%d", (int)getpid());
        write(creat("at_work", 0600), number, size); for (;;) pause();'
    end_while_it_works TERM
    [ "$ended" -eq 143 ]
    [ "$(uname)" = Linux ] || return 0
    end_while_it_works KILL
    [ "$ended" -eq 137 ]
}

@test "bounds that make no sense are refused" {
    run polygraphy check lint "$models/identity.onnx" --onnxrt-timeout -1
    [ "$status" -eq 1 ]
    logged '--onnxrt-timeout'
}
