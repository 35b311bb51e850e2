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
END
}

@test "lines of C files end at 120 columns" {
    printf '/* %*s */\n' 114 x >good.c
    printf '/* %*s */\n' 115 x >bad.c
    run awk -f "$POLYGRAPHY_ROOT/scripts/style.awk" good.c bad.c
    [ "$status" -eq 0 ]
    [ "$output" = 'bad.c:1: line of 121 columns, at the most 120' ]
}
