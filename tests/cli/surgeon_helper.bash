# surgeon_helper.bash: what tests of `surgeon` share, on top of debug_helper.bash.

models=$POLYGRAPHY_ROOT/tests/models

# Runs `polygraphy surgeon` with $output and $stderr apart.
surgeon()
{
    run --separate-stderr polygraphy surgeon "$@"
}

# make NAME FILE: a model of surgeon_models.py.
make()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" make "$@"
}

# All that a model holds, one line each.
show()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" show "$@"
}

# Whether a model holds exactly these lines, given on standard input, of those that begin with one of the words.
holds()
{
    local file=$1 words=$2
    diff <(show "$file" | grep -E "^($words) ") -
}

values()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" values "$@"
}

# The shown lines with folders and durations taken out, but for what is shown of models before and after.
lines_are()
{
    diff <(sed -E "/^\[I\] (Original|New) Model:$/,/ Node\(s\) ----$/d; /^ *$/d" <<<"$output" |
        sed -E "s#[^ ]*/([^ /]+\.onnx)#\1#g; s#Runtime: [0-9.]+s#Runtime: TIME#") -
}

# Whether the tool failed with one error line that holds the text, and wrote nothing to the file.
refused_without()
{
    refused "$1" && [ ! -e "$2" ]
}
