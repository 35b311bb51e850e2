# completion.bats: Tab in a real bash, zsh and fish, in a terminal that tmux stands in for.


setup()
{
    cd "$BATS_TEST_TMPDIR"
    ln -s "$POLYGRAPHY" polygraphy
    # Names that shells take apart: no name becomes longer, so that the file stays what it is.
    sed 's/rows_float/rows $(id)/g; s/twice_float/twice:float/g; s/columns/col$(1)/g' \
        "$POLYGRAPHY_ROOT/tests/models/dynamic_shapes.onnx" >model.onnx
    echo '{}' >replay.json
}

teardown()
{
    tmux -L "polygraphy-$BATS_ROOT_PID-$BATS_TEST_NUMBER" kill-server 2>/dev/null || :
}

terminal()
{
    tmux -L "polygraphy-$BATS_ROOT_PID-$BATS_TEST_NUMBER" -f /dev/null "$@"
}

# start SHELL OPTION...: where the tools for it are.
start()
{
    local tool
    for tool in tmux "$1"; do
        command -v "$tool" >/dev/null || skip "there is no $tool"
    done
    terminal new-session -d -x 250 -y 50 env HOME="$PWD" PATH="$PWD:$PATH" PS1='> ' HISTFILE= "$@"
    shows '>'
}

# Waits until the text is on the screen. Blanks at the ends of lines do not count.
shows()
{
    local deadline=$((SECONDS + 30))
    until terminal capture-pane -p 2>/dev/null | grep -qF -- "$1"; do
        if ((SECONDS > deadline)); then
            echo "not on the screen: $1"
            terminal capture-pane -p
            return 1
        fi
        sleep 0.05
    done
}

# press TEXT [EXPECTED...]: types the text and Tab, then presses Tab once more for each further text that has to show up.
press()
{
    terminal send-keys -l -- "$1"
    shift
    while [ $# -gt 0 ]; do
        terminal send-keys Tab
        shows "$1"
        shift
    done
}

# One line is completed from its beginning to its end. What the shell writes for the names with blanks and for shapes is
# given.
complete_a_line()
{
    local line='> polygraphy debug reduce model.onnx'
    press 'polygraphy deb' '> polygraphy debug'
    press 're' 'repeat'
    press 'd' '> polygraphy debug reduce'
    press 'mo' "$line"
    press '--load-debug-replay=re' "$line --load-debug-replay=replay.json"
    line+=' --load-debug-replay=replay.json'
    press '--mode=li' "$line --mode=linear"
    line+=' --mode=linear'
    press '--model-input-sh' "$line --model-input-shapes"
    press 'x' "$line --model-input-shapes x:" "$line --model-input-shapes x:$1"
    press ' --check polygraphy run polygraphy_debug.onnx --onnx-ex' ' --onnx-exclude-outputs'
    press 'rows\ ' " --onnx-exclude-outputs $2"
    press 'twice:' " $2 twice:float"
    press '"co' " twice:float \"$3\""
}

@test "bash completes a line" {
    printf '%s\n' "PS1='> '" 'bind "set show-all-if-ambiguous on"' \
        'source <(polygraphy completion bash)' >start.bash
    start bash --rcfile start.bash
    complete_a_line '\[1,2,4\]' 'rows\ \$\(id\)' 'col\$(1)'
}

@test "zsh completes a line" {
    echo 'autoload -U compinit; compinit -D -u; source <(polygraphy completion zsh)' >.zshrc
    start zsh -d
    complete_a_line '\[1,2,4\]' 'rows\ \$\(id\)' 'col\$(1)'
}

@test "fish completes a line" {
    start fish --no-config --init-command 'polygraphy completion fish | source
        set fish_autosuggestion_enabled 0
        function fish_prompt; echo "> "; end'
    complete_a_line '\[1,2,4\]' 'rows\ \$\(id\)' 'col\$(1)'
}

@test "a line break in a word is no line of the answer" {
    [ "$(./polygraphy completion --line ' ' 'polygraphy run a' '')" = $'\tfiles\tonnx engine plan\ta' ]
    [ -z "$(./polygraphy completion --line ' ' $'polygraphy run \'a\nb' '')" ]
    [ -z "$(./polygraphy completion --line ' ' $'polygraphy debug reduce \'a\nb\' --check ls ' '')" ]
}

@test "scripts that are installed are those that the program prints" {
    make -s -C "$POLYGRAPHY_ROOT" BUILD="$PWD" completions
    ./polygraphy completion bash | cmp - completions/polygraphy.bash
    ./polygraphy completion zsh | cmp - completions/_polygraphy
    ./polygraphy completion fish | cmp - completions/polygraphy.fish
}
