#!/usr/bin/env bash
# scripts/style.sh: checks the style rules of this project. One line per finding, "file:line: what"; fails when there
# is one. The rules on the text of C files are in style.awk, those on src/ as a whole in style_tree.awk, those on tests of
# the commands in style_bats.awk; expressions that messages, comments and documents avoid are in banned_expressions.txt.
set -u
cd "$(dirname "$0")/.." || exit 1

# All existing files that are or could be committed.
all_files()
{
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard
    else
        find . -type f -not -path './.git/*' -not -path './build*' | sed 's|^\./||'
    fi | while read -r file; do
        [ -f "$file" ] && echo "$file"
    done
}

mapfile -t files < <(all_files | LC_ALL=C sort)
mapfile -t c_files < <(printf '%s\n' "${files[@]}" | grep -E '\.[ch]$')
mapfile -t bats_files < <(printf '%s\n' "${files[@]}" | grep -E '\.bats$|^tests/cli/.*\.bash$')
mapfile -t documents < <(printf '%s\n' "${files[@]}" | grep -E '\.(md|svg)$' | grep -v '^tests/')
mapfile -t headers < <(printf '%s\n' "${files[@]}" | grep -E '^src/.*\.h$')
mapfile -t public_headers < <(printf '%s\n' "${files[@]}" | grep -E '^include/.*\.h$')
mapfile -t written < <(printf '%s\n' "${files[@]}" | grep -vE '^(LICENSE|tests/(golden|models|fuzz/corpus)/)')

layout()
{
    clang-format --dry-run -Werror "${c_files[@]}" 2>&1 |
        sed -nE 's/^([^ ]+:[0-9]+):[0-9]+: error: .*/\1: layout: clang-format differs/p' |
        uniq
    grep -nIE '[[:blank:]]+$' "${written[@]}" | sed -E 's/^([^:]+:[0-9]+):.*/\1: blanks at the end of the line/'
    grep -nIP '\t' "${written[@]}" | grep -vE '^(Makefile|debian/rules):' | sed -E 's/^([^:]+:[0-9]+):.*/\1: tab/'
    for file in "${written[@]}"; do
        if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ] && grep -qI . "$file"; then
            echo "$file:$(($(wc -l <"$file") + 1)): no line end at the end of the file"
        fi
    done
}

# A header must include what it uses: it has to compile alone. Public headers must do so as plain C17.
headers_alone()
{
    local compiler=${CC:-cc}
    {
        [ ${#headers[@]} -eq 0 ] ||
            "$compiler" -std=c17 -D_XOPEN_SOURCE=700 -Isrc -Iinclude -Wall -Wextra -fsyntax-only -x c "${headers[@]}"
        [ ${#public_headers[@]} -eq 0 ] ||
            "$compiler" -std=c17 -Iinclude -Wall -Wextra -Wpedantic -fsyntax-only -x c "${public_headers[@]}"
    } 2>&1 | sed -nE 's/^([^ ]+:[0-9]+):[0-9]+: ((fatal )?error|warning): (.*)/\1: header alone: \4/p'
}

# Names of single machines and networks must not be in the tree.
foreign_names()
{
    grep -nIE '(registry\.[n]pmjs|[d]eb\.debian|[s]napshot\.debian|[p]ypi\.org|[f]iles\.pythonhosted)' "${files[@]}" |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: name of a package registry/'
    grep -nIE '(^|[^A-Za-z0-9_.])/([w]ork/|[f]arm/|tmp/[b]uild)' "${files[@]}" |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: path of one machine/'
    grep -nIE '[.][.]/[s]hared' "${files[@]}" | grep -v 'POLYGRAPHY_TEST_MODELS' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: reference to a folder outside the tree/'
}

# Words of formats and tests that codespell reports by mistake.
not_misspelled=cann,debians,fro,nd,statics,upto

spelling()
{
    if command -v codespell >/dev/null; then
        printf '%s\n' "${written[@]}" | grep -E '^(src|include|docs|examples|scripts|bench)/.*\.(c|h|md|sh|py)$|^README\.md$' |
            xargs codespell --ignore-words-list "$not_misspelled" | sed -E 's/^([^:]+:[0-9]+): (.*)/\1: spelling: \2/'
    else
        echo "style: spelling is not checked: codespell is not installed (scripts/setup.sh style)" >&2
    fi
}

findings=$(
    layout
    [ ${#c_files[@]} -eq 0 ] || awk -f scripts/style.awk -f scripts/style_tree.awk "${c_files[@]}"
    [ ${#bats_files[@]} -eq 0 ] || awk -f scripts/style_bats.awk "${bats_files[@]}"
    awk -f scripts/style_docs.awk "${c_files[@]}" "${documents[@]}" /dev/null
    headers_alone
    foreign_names
    scripts/banned_expressions.py
    spelling
)
if [ -n "$findings" ]; then
    echo "$findings"
    echo "style: $(wc -l <<<"$findings") findings"
    exit 1
fi
echo "style: ${#files[@]} files, no findings"
