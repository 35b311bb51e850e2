# library.bats: the library as programs of others use it: installed, found by pkg-config, alone in its names.

load debug_helper
load install_helper

header=$POLYGRAPHY_ROOT/include/polygraphy/reduce.h
example=$POLYGRAPHY_ROOT/examples/reduce_library/reduce_library.c
detector=$POLYGRAPHY_ROOT/examples/overflow/detector.onnx

# All tests use one installation, in $installed, where pkg-config finds it.
setup_file()
{
    export installed=$BATS_FILE_TMPDIR/there PKG_CONFIG_PATH=$BATS_FILE_TMPDIR/there/lib/pkgconfig
    make_into install PREFIX="$installed" DESTDIR=
}

# The archive of a build with sanitizers needs their library.
compile()
{
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${SANITIZE:+"-fsanitize=$SANITIZE"} "$@" \
        $(pkg-config --cflags --libs polygraphy)
}

@test "the headers compile alone, as C11 and as C++" {
    local options=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$POLYGRAPHY_ROOT/include")
    cc -std=c11 "${options[@]}" -x c "$header" "${header/reduce/command}"
    command -v c++ >/dev/null || skip "there is no C++ compiler"
    c++ -std=c++11 "${options[@]}" -x c++ "$header" "${header/reduce/command}"
}

@test "the shared library has the same names, and a version" {
    local library=${POLYGRAPHY%/*}/public/libpolygraphy.so.0
    [ -f "$library" ] || skip "the shared library is not built"
    [ "$(nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort | paste -sd ' ')" = \
        'polygraphy_command_result_release polygraphy_graph_result_release polygraphy_model_result_release polygraphy_reduce_graph polygraphy_reduce_model polygraphy_run_command' ]
    readelf -d "$library" | grep -F 'soname: [libpolygraphy.so.0]'
}

@test "the installed archive has no global names but its own" {
    run nm -g --defined-only "$installed/lib/libpolygraphy.a"
    [ "$status" -eq 0 ]
    [ "$(awk 'NF == 3 { print $3 }' <<<"$output" | LC_ALL=C sort | paste -sd ' ')" = \
        'polygraphy_command_result_release polygraphy_graph_result_release polygraphy_model_result_release polygraphy_reduce_graph polygraphy_reduce_model polygraphy_run_command' ]
}

@test "a program finds all that it needs with pkg-config" {
    compile -o reduce_library "$example"
    for name in command.h reduce.h tactic_plugin.h; do
        cmp "$installed/include/polygraphy/$name" "$POLYGRAPHY_ROOT/include/polygraphy/$name"
    done
    [[ $(pkg-config --modversion polygraphy) =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
    [[ $(polygraphy --version) == *"Version: $(pkg-config --modversion polygraphy) "* ]]
}

@test "every library that pkg-config names is used" {
    nm -u "$installed/lib/libpolygraphy.a" >undefined
    [ "$(pkg-config --print-requires polygraphy | paste -sd ' ')" = 'jansson libxxhash zlib' ]
    grep -q ' U json_' undefined
    grep -q ' U XXH3_' undefined
    grep -q ' U inflate' undefined
}

@test "names of a program do not meet names of the library" {
    cat >main.c <<'END'
#include <polygraphy/reduce.h>
/* Functions of the library that a program may well have, too, under the same name. */
int bitset_add(void), error_set(void), model_open(void), hash_bytes(void);
int bitset_add(void) { return 1; }
int error_set(void) { return 2; }
int model_open(void) { return 3; }
int hash_bytes(void) { return 4; }
static int32_t fails(void *context, const uint32_t *elements, size_t count, const struct polygraphy_progress *progress)
{
    (void)context, (void)elements, (void)count, (void)progress;
    return POLYGRAPHY_FAILS;
}
int main(void)
{
    struct polygraphy_graph_request request = {.element_count = 100, .oracle = fails};
    struct polygraphy_graph_result result;
    int right = polygraphy_reduce_graph(&request, &result, NULL) == 0 && result.element_count == 1;
    polygraphy_graph_result_release(&result);
    return right && bitset_add() + error_set() + model_open() + hash_bytes() == 10 ? 0 : 1;
}
END
    compile -o main main.c
    ./main
}

@test "a C++ program can use it" {
    command -v c++ >/dev/null || skip "there is no C++ compiler"
    cat >main.cc <<'END'
#include <polygraphy/reduce.h>
#include <vector>
int main()
{
    polygraphy_graph_request request = {};
    polygraphy_graph_result result;
    request.element_count = 50;
    request.oracle = [](void *, const uint32_t *elements, size_t count, const polygraphy_progress *) -> int32_t {
        for (size_t i = 0; i < count; i++)
            if (elements[i] == 31)
                return POLYGRAPHY_FAILS;
        return POLYGRAPHY_PASSES;
    };
    if (polygraphy_reduce_graph(&request, &result, nullptr) != 0)
        return 1;
    std::vector<uint32_t> found(result.elements, result.elements + result.element_count);
    polygraphy_graph_result_release(&result);
    return found == std::vector<uint32_t>{31} ? 0 : 1;
}
END
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror ${SANITIZE:+"-fsanitize=$SANITIZE"} -o main main.cc \
        $(pkg-config --cflags --libs polygraphy)
    ./main
}

@test "the example prints what its page shows" {
    require_onnxruntime
    compile -o reduce_library "$example"
    POLYGRAPHY_ONNXRUNTIME=${POLYGRAPHY_ONNXRUNTIME:-$(dirname "$POLYGRAPHY")/libonnxruntime.so.1} \
        run --separate-stderr ./reduce_library "$detector" smallest.onnx
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    sed -n '/^\$ \.\/reduce_library/,/^```/p' "$POLYGRAPHY_ROOT/examples/reduce_library/README.md" | sed '1d;$d' >shown
    diff shown - <<<"$output"
    run polygraphy inspect model smallest.onnx
    logged '---- 2 Node\(s\) ----'
}

@test "an oracle in the library and a check of a program find the same" {
    require_onnxruntime
    compile -o reduce_library "$example"
    POLYGRAPHY_ONNXRUNTIME=${POLYGRAPHY_ONNXRUNTIME:-$(dirname "$POLYGRAPHY")/libonnxruntime.so.1} \
        ./reduce_library "$detector" by_library.onnx
    script check.sh <<'END'
polygraphy inspect model polygraphy_debug.onnx --show layers >layers
! { grep -q 'Op: Div' layers && grep -q 'Op: Gemm' layers; }
END
    reduce "$detector" -o by_program.onnx --mode minimal --check ./check.sh
    worked
    cmp by_library.onnx by_program.onnx
}
