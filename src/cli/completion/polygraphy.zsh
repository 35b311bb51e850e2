#compdef polygraphy
# Completion of polygraphy's command lines in zsh. The program itself says what fits; what it answers is told by
# `polygraphy completion --help-all`.

_polygraphy()
{
    local program=${${(Q)words[1]}/#\~\//$HOME/} line
    local -a answers fields typed ready open kinds
    typed=("${(@Q)words}")
    typed[CURRENT]=${(Q)PREFIX}
    answers=("${(@f)$("$program" completion --words $((CURRENT - 1)) "${(@)typed}" 2>/dev/null)}")
    for line in "${(@)answers}"; do
        fields=("${(@ps:\t:)line}")
        case $line in
            '') ;;
            $'\t'*) kinds=("${(@)fields[2,-1]}") ;;
            *)
                # _describe takes what stands behind the first colon for the description.
                line=${${fields[1]//\\/\\\\}//:/\\:}:$fields[2]
                if [[ $fields[1] == *[:=] ]]; then
                    open+=("$line")
                else
                    ready+=("$line")
                fi
                ;;
        esac
    done
    (($#ready + $#open == 0)) || _describe -V -t values value ready -- open -S ''
    [[ $kinds[1] == command ]] || compset -P '--[^=]##='
    case $kinds[1] in
        command)
            shift $kinds[2] words
            ((CURRENT -= kinds[2]))
            _normal
            ;;
        folders) _files -/ ;;
        files) _files ${kinds[2]:+-g} ${kinds[2]:+"*.(${kinds[2]// /|})(-.)"} ;;
    esac
}

if [[ $funcstack[1] == _polygraphy ]]; then
    _polygraphy "$@"
else
    compdef _polygraphy polygraphy
fi
