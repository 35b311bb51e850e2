# exit_codes.bats: each line of docs/exit-codes.md is run as it stands there.

load debug_helper

# "CODE<tab>COMMAND" of each line of the tables.
lines()
{
    sed -nE 's/^\| ([0-9]+) \|.*\| `([^`]*)` \|$/\1\t\2/p' "$POLYGRAPHY_ROOT/docs/exit-codes.md"
}

@test "each line of the table of exit codes holds" {
    ln -s "$POLYGRAPHY_ROOT/tests/models/impossible_nodes.onnx" impossible.onnx
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/one_node.py" good.onnx Add 1
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/one_node.py" infinite.onnx Div 0
    [ "$(lines | wc -l)" -eq "$(grep -cE '^\| [0-9]' "$POLYGRAPHY_ROOT/docs/exit-codes.md")" ]
    wrong=0
    while IFS=$'\t' read -r code command; do
        rm -rf ./*.json polygraphy_debug* polygraphy_accuracy
        status=0
        bash -c "$command" >output.txt 2>&1 </dev/null || status=$?
        if [ "$status" -ne "$code" ]; then
            echo "$command ends with $status, not $code: $(tail -c 400 output.txt)"
            wrong=1
        fi
    done < <(lines)
    [ "$wrong" -eq 0 ]
}

@test "manuals know the same exit codes" {
    polygraphy help --write-manuals manuals
    diff <(sed -n '/^\.Sh EXIT STATUS/,/^\.El/s/^\.It //p' manuals/polygraphy.1 | sort -nu) <(lines | cut -f 1 | sort -nu)
}
