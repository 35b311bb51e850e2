# scripts/style_bats.awk: conditions in bats files that look like assertions but are not. bats ends a test at the first command
# that fails, as `set -e` does: not at one after `!`, and not at one before `&&`. Only as the last statement of a function, where
# they are its status, do these have an effect. Prints "file:line: what" for each violation.

# A statement that asserts nothing is reported only if another statement follows before the end of its function.
function end_of_statement(line) {
    if (waiting != "" && (in_test || line !~ /^}/))
        print waiting
    waiting = ""
}

FNR == 1 {
    end_of_statement("")
    heredoc = ""
    in_test = 0
}

heredoc != "" {
    if ($0 == heredoc)
        heredoc = ""
    next
}

/^ *(#.*)?$/ { next }

{ end_of_statement($0) }
/^@test / { in_test = 1 }
/^}/ { in_test = 0 }

# `! a || b` asserts b, and `[ a ] && [ b ] || c` asserts c.
/^ +! / && !/\|\|/ {
    waiting = FILENAME ":" FNR ": a bare `!` asserts nothing: run ! ..."
}
/^ +[^ '"#][^'"#]*(;|do|then|else|&&|\{) ! / && !/^ +(if|elif|while|until) / && !/\|\|/ {
    waiting = FILENAME ":" FNR ": a bare `!` asserts nothing: run ! ..."
}
/^ +\[\[? .* \]\]? && / && !/\|\|/ {
    waiting = FILENAME ":" FNR ": what stands before && is not asserted: a line for each"
}

match($0, /<<[^<A-Za-z]?[A-Z_]+/) && substr($0, RSTART - 1, 1) != "<" {
    heredoc = substr($0, RSTART, RLENGTH)
    gsub(/[^A-Z_]/, "", heredoc)
}

END { end_of_statement("") }
