# Completion of polygraphy's command lines in fish. The program itself says what fits; what it answers is told by
# `polygraphy completion --help-all`.

# Offers the paths that fit with one of the endings; all of them where none does. What stands in front of the path in its
# word is the first argument.
function __polygraphy_paths
    set -l attached $argv[1]
    set -l typed (string replace -- "$attached" '' (commandline -ct))
    set -l all (complete -C "__fish_command_without_completions $typed" | string replace -r '\t.*' '')
    set -l matching
    for path in $all
        for ending in $argv[2..-1]
            string match -q -- "*$ending" $path; and set -a matching $path
        end
    end
    set -q matching[1]; or set matching $all
    set -q matching[1]; and printf '%s\n' $attached$matching
end

# Without the quotes that are still open.
function __polygraphy_current_word
    set -l raw (commandline -ct)
    string unescape -- "$raw"; or string unescape -- "$raw\""; or string unescape -- "$raw'"; or echo -- "$raw"
end

function __polygraphy_complete
    set -l before (commandline -opc)
    set -l current (__polygraphy_current_word)
    set -l behind (commandline -op)
    set -l program (string replace -r '^~/' $HOME/ -- $before[1])
    set -l attached (string match -r -- '^--[^=]*=' $current)
    set behind $behind[(math (count $before) + 1)..-1]
    test -n "$(commandline -t)"; and set -e behind[1]

    for answer in ($program completion --words (count $before) $before "$current" $behind 2>/dev/null)
        set -l fields (string split \t -- $answer)
        switch $answer
            case \tcommand\*
                set -l words (string escape -- $before[(math $fields[3] + 1)..-1])
                complete -C "$words $(commandline -ct)"
            case \tfolders\*
                __polygraphy_paths "$attached" /
            case \tfiles\*
                if test -n "$fields[3]"
                    __polygraphy_paths "$attached" / .(string split ' ' -- $fields[3])
                else
                    __polygraphy_paths "$attached" ''
                end
            case '*'
                echo -- $answer
        end
    end
end

complete -c polygraphy -f -k -a '(__polygraphy_complete)'
