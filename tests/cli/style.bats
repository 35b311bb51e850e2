# style.bats: rules of `make style`, tried on files that break them.

load debug_helper

findings()
{
    run awk -f "$POLYGRAPHY_ROOT/scripts/style_bats.awk" "$@"
    [ "$status" -eq 0 ]
}

# Breaches are put together here, so that this file has none, and nothing that bats takes for a test. The last line of a function is its status: no breach.
@test "what bats would not assert is found, and nothing else" {
    {
        echo '@''test "one" {'
        echo '    ''! grep it file'
        echo '    [ -e file ] ''&& [ -e other ]'
        echo '    [[ $output == it ]] ''&& logged it'
        echo '    for i in 1 2; do ''! grep it file; done'
        echo '    grep it file; ''! grep it other'
        echo '    ''! grep it file'
        echo '}'
    } >bad.bats
    sed 's/^A test/@test/' >good.bats <<'END'
helper()
{
    [ -e file ] && grep it file
}

A test "two" {
    run ! grep it file
    ! grep it file || [ -e other ]
    if [ -e file ] && ! grep it file; then return 1; fi
    sh -c 'grep it file; ! grep it other'
    [ -e file ] && [ -e other ] || {
        return 1
    }
    script check.sh <<'EOF'
    ! grep it file
    [ -e file ] && [ -e other ]
EOF
    [[ $output == it && -e file ]]
    cat <<<'it'
}
END
    findings good.bats
    [ -z "$output" ]
    findings bad.bats
    diff - <(echo "$output") <<'END'
bad.bats:2: a bare `!` asserts nothing: run ! ...
bad.bats:3: what stands before && is not asserted: a line for each
bad.bats:4: what stands before && is not asserted: a line for each
bad.bats:5: a bare `!` asserts nothing: run ! ...
bad.bats:6: a bare `!` asserts nothing: run ! ...
bad.bats:7: a bare `!` asserts nothing: run ! ...
END
}

@test "lines of C files end at 120 columns" {
    printf '/* %*s */\n' 114 x >good.c
    printf '/* %*s */\n' 115 x >bad.c
    run awk -f "$POLYGRAPHY_ROOT/scripts/style.awk" good.c bad.c
    [ "$status" -eq 0 ]
    [ "$output" = 'bad.c:1: line of 121 columns, at the most 120' ]
}

# tree_findings: what the rules on src/ as a whole say of the folder src/ here.
tree_findings()
{
    mapfile -t files < <(find src tests -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
    run awk -f "$POLYGRAPHY_ROOT/scripts/style.awk" -f "$POLYGRAPHY_ROOT/scripts/style_tree.awk" "${files[@]}"
    [ "$status" -eq 0 ]
}

# write_header FILE LINE...: a header that tells of its room where it is called like it.
write_header()
{
    local file=src/$1 room
    room=$(dirname "$1")
    shift
    mkdir -p "$(dirname "$file")"
    {
        echo "/* ${file#src/}: it."
        [ "$(basename "$file" .h)" != "$(basename "$room")" ] || printf ' *\n * The module %s/ holds it.\n' "$room"
        echo ' */'
        printf '%s\n' "$@"
    } >"$file"
}

@test "files that include each other in a circle are found, with the way round" {
    write_header base/base.h '#include "base/one.h"' 'int base_run(void);'
    write_header base/one.h '#include "base/two.h"'
    write_header base/two.h '#include <stdio.h>'
    echo '#include "base/one.h"' >src/base/one.c
    tree_findings
    [[ $output != *circle* ]]
    printf '#include "base/two.h"\n#include "base/base.h"\n' >src/base/two.c
    tree_findings
    [[ $output == *'src/base/base.h:5: circle of includes: base/base -> base/one -> base/two -> base/base'* ]]
    [ "$(grep -c circle <<<"$output")" -eq 1 ]
}

@test "a declaration that stands in for an include is found where that would close a circle" {
    write_header base/base.h 'struct thing;' 'struct other;'
    write_header base/middle.h '#include "base/base.h"'
    write_header base/thing.h '#include "base/middle.h"' 'struct thing {' '};'
    write_header base/other.h 'struct other {' '};'
    tree_findings
    [ "$output" = 'src/base/base.h:5: struct thing hides a circle: src/base/thing.h includes this file' ]
}

@test "functions and data that no other file uses are found" {
    write_header base/base.h '/* unused_one() */' 'int used(int a,' '         int b);' 'int unused_one(void);' \
        'int kept_to_itself(void);' 'int tested(void);' 'extern const int table[3], lost;' 'int parsed(void);' 'struct unused_two {' '};' \
        'struct unused_two *unused_two(void);' '#define DOUBLE(x) twice(x)' 'int twice(int x);'
    printf '%s\n' '#include "base/base.h"' 'int used(int a,' '         int b)' '{' '    return kept_to_itself() + tested();' '}' 'int tested(void)' '{' '}' \
        'int unused_one(void)' '{' '    return "unused_one()"[0];' '}' 'int kept_to_itself(void)' '{' '}' \
        'const int table[3] = {1};' 'const int lost = 2;' 'int twice(int x)' '{' '}' >src/base/base.c
    printf '%s\n' '#include "base/base.h"' 'static int run_it(struct unused_two *a)' '{' \
        '    return used(a->unused_one, table[0]);' '}' >src/base/other.c
    mkdir -p tests/fuzz tests/unit
    echo 'int main(void) { return parsed(); }' >tests/fuzz/fuzz_it.c
    echo 'int main(void) { return unused_one() + tested(); }' >tests/unit/test_it.c
    tree_findings
    diff - <(echo "$output") <<'END'
src/base/base.h:8: unused_one is used by nothing
src/base/base.h:9: kept_to_itself is used by its own file only
src/base/base.h:11: lost is used by nothing
src/base/base.h:15: unused_two is used by nothing
END
}

@test "each folder with headers tells once what it is" {
    write_header base/base.h
    write_header base/file/one.h
    write_header base/text/text.h
    sed 's|module base/text/|module base/|' src/base/text/text.h >src/base/text/other.h
    printf '/* base/twice.h: it.\n *\n * The module base/ again.\n */\n' >src/base/twice.h
    printf '/* base/late.h: it. */\n/*\n * The module base/ again.\n */\n' >src/base/late.h
    tree_findings
    diff - <(echo "$output") <<'END'
src/base/text/other.h:3: this is the module base/text/, not base/
src/base/twice.h:3: the module base/ is described in base.h already
src/base/file/one.h:1: no header of this folder opens with a paragraph "The module base/file/ ..."
END
}

@test "functions have 80 lines and 6 parameters at the most" {
    write_header base/base.h
    printf '%s\n' 'static int take_six(int a, int (*b)(int, int), int c,' '                    int d, int e, int f)' '{' '}' \
        'static int take_seven(int a, int (*b)(int, int), int c,' '                      int d, int e, int f, int g)' '{' '}' \
        'static void long_one(void)' '{' "$(yes '    run();' | head -n 78)" '}' \
        'static void too_long(void)' '{' "$(yes '    run();' | head -n 79)" '}' >src/base/base.c
    tree_findings
    diff - <(echo "$output") <<'END'
src/base/base.c:5: function of 7 parameters, at the most 6
src/base/base.c:91: function of 81 lines, at the most 80
END
}

@test "names that stand for several things are found" {
    write_header base/base.h 'struct thing {' '};'
    write_header base/other.h 'struct thing {' '};' 'struct backend_session {' '};'
    for file in one two three four; do
        printf '%s\n' 'struct backend_session {' '};' 'static int add_thing(int a);' 'static int add_thing(int a)' '{' '}' >src/base/$file.c
    done
    printf '%s\n' 'static void describe(void)' '{' '}' >>src/base/one.c
    tree_findings
    diff - <(echo "$output") <<'END'
src/base/one.c:7: static function describe: say what it does to what
src/base/other.h:3: struct thing is defined in src/base/base.h, too
src/base/two.c:3: static function add_thing stands in more than three files
END
}

@test "a function with three steps that are guarded by the result of the one before is refused" {
    write_header base/base.h
    printf '%s\n' 'static int guard_two(void)' '{' '    if (rc == 0)' '        rc = run();' '    return rc == 0 ? 1 : src == 0;' '}' \
        'static int guard_three(void)' '{' '    if (rc == 0)' '        rc = run();' '    for (; rc == 0 && i < 2; i++)' '        rc = run();' \
        '    return rc == 0;' '}' >src/base/base.c
    tree_findings
    [ "$output" = 'src/base/base.c:8: 3 steps guarded by rc == 0, at the most 2: goto done' ]
}

@test "what documents, comments and pictures say of the tree has to be there" {
    mkdir -p src/base/file src/search docs
    printf '/* docs/files.md, "Whole files", "; docs/files.md, "Halves"; docs/none.md */\n#include "search/search.h"\n' >src/base/file/file.h
    echo '/* docs/files.md */' >src/search/search.h
    printf '## Whole files\n`base/file/file.h` `base/file/gone.c` `file.c`\n[this](files.md#whole) [that](gone.md)\n' >docs/files.md
    {
        echo '<text class="name" x="1">base/file/</text><text class="name" x="1">minimal.onnx</text>'
        echo '<text class="name" x="1">base/gone/</text>'
        echo '<path data-from="search" data-to="base/file"/>'
        echo '<path data-from="search" data-to="base/text"/>'
    } >docs/picture.svg
    run awk -f "$POLYGRAPHY_ROOT/scripts/style_docs.awk" src/base/file/file.h src/search/search.h docs/files.md docs/picture.svg
    [ "$status" -eq 0 ]
    diff - <(echo "$output") <<'END'
src/base/file/file.h:1: docs/files.md has no heading "Halves"
src/base/file/file.h:1: there is no docs/none.md
docs/files.md:2: there is no base/file/gone.c
docs/files.md:3: there is no docs/gone.md
docs/picture.svg:2: there is no module base/gone/
docs/picture.svg:4: neither of search/ and base/text/ includes the other
END
}

@test "only src/base may use more than POSIX" {
    mkdir -p src/base src/onnx
    echo '#define _GNU_SOURCE /* pipe2 */' | tee src/base/good.c >src/onnx/bad.c
    run awk -f "$POLYGRAPHY_ROOT/scripts/style.awk" src/base/good.c src/onnx/bad.c
    [ "$status" -eq 0 ]
    [ "$output" = 'src/onnx/bad.c:1: only src/base uses more of the system than POSIX has: #define _GNU_SOURCE /* pipe2 */' ]
}
