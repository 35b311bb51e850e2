# manuals.bats: the manuals of all commands: as formatters want them, and complete.

load debug_helper

bats_require_minimum_version 1.5.0

@test "every command has a manual, and all are the same on any day" {
    polygraphy help --write-manuals one
    SOURCE_DATE_EPOCH=0 polygraphy help --write-manuals two
    polygraphy help debug --write-manuals one/debug
    [ -f one/polygraphy.1 ]
    [ -f one/polygraphy-debug-reduce.1 ]
    # A page for each name in the lists of commands.
    for tool in '' $(polygraphy --help-all | sed -n '/^Tools:/,/^$/s/^  \([a-z-]*\)  .*/\1/p'); do
        for subtool in '' $(polygraphy $tool --help-all | sed -n '/^Tools:/,/^$/s/^  \([a-z-]*\)  .*/\1/p'); do
            [ -s "one/polygraphy${tool:+-$tool}${subtool:+-$subtool}.1" ]
        done
    done
    [ "$(head -n 1 two/polygraphy.1)" = '.Dd January 1, 1970' ]
    for page in one/*.1; do
        cmp <(sed 1d "$page") <(sed 1d "two/${page#one/}")
    done
    [ "$(cd one/debug && echo *reduce.1 *surgeon*)" = 'polygraphy-debug-reduce.1 *surgeon*' ]
    SOURCE_DATE_EPOCH=x run polygraphy help --write-manuals three
    [ "$status" -eq 1 ]
    [ ! -e three ]
}

@test "mandoc and groff have nothing to say against any page" {
    command -v mandoc >/dev/null || skip "mandoc is not installed"
    command -v groff >/dev/null || skip "groff is not installed"
    polygraphy help --write-manuals pages
    run mandoc -T lint -W warning pages/*.1
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    # As `man --warnings` calls it.
    for page in pages/*.1; do
        groff -mandoc -Tutf8 -ww "$page" 2>complaints >/dev/null
        [ ! -s complaints ]
    done
}

@test "the manual has all environment variables and exit statuses that there are in the source" {
    polygraphy help --write-manuals pages
    mapfile -t names < <(cd "$POLYGRAPHY_ROOT/src" && {
        grep -rhoP 'getenv\("\K[A-Z_]+' .
        grep -rhoP '(define [A-Z_]*VARIABLE|char variable\[\] =) "\K[A-Z_]+' .
    } | sort -u)
    [ ${#names[@]} -ge 20 ]
    for name in "${names[@]}"; do
        grep -qx ".It Ev $name" pages/polygraphy.1
    done
    mapfile -t names < <(grep -rhoP 'define EXIT_STATUS_[A-Z_]+ \K[0-9]+' "$POLYGRAPHY_ROOT/src" | sort -u)
    [ ${#names[@]} -ge 4 ]
    for name in "${names[@]}"; do
        grep -qx ".It $name" pages/polygraphy.1
    done
}
