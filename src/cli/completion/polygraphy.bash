# Completion of polygraphy's command lines in bash. The program itself says what fits; what it answers is told by
# `polygraphy completion --help-all`.

# Offers files with one of the extensions, and folders; all files where there are none.
_polygraphy_files()
{
    local typed=$1 extension path
    local -a all
    shift
    mapfile -t all < <(compgen -f -- "$typed")
    for path in "${all[@]}"; do
        [[ -d ${path/#\~\//"$HOME"/} ]] && COMPREPLY+=("$path")
        for extension; do
            [[ $path == *."$extension" ]] && COMPREPLY+=("$path")
        done
    done
    ((${#COMPREPLY[@]} > 0)) || COMPREPLY=("${all[@]}")
    compopt -o filenames
}

# Has the command line behind an option completed as one of its own. $1 is what stands before it.
_polygraphy_command()
{
    local before=$1 offset=0
    while [[ $before == *[![:blank:]]* ]] && ((offset < COMP_CWORD)); do
        before=${before#"${before%%[![:blank:]]*}"}
        before=${before#"${COMP_WORDS[offset]}"}
        ((offset += 1))
    done
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$offset"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$offset"
    elif ((COMP_CWORD == offset)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_polygraphy()
{
    local program=${COMP_WORDS[0]/#\~\//"$HOME"/} line
    local -a answers fields extensions
    COMPREPLY=()
    mapfile -t answers < <("$program" completion --line "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" \
        "${COMP_LINE:COMP_POINT}" 2>/dev/null)
    for line in "${answers[@]}"; do
        case $line in
            $'\topen') compopt -o nospace ;;
            $'\tcommand\t'*) _polygraphy_command "${line#$'\tcommand\t'}" ;;
            $'\tfolders\t'*)
                mapfile -t COMPREPLY < <(compgen -d -- "${line#$'\tfolders\t'}")
                compopt -o filenames
                ;;
            $'\tfiles\t'*)
                line=${line#$'\tfiles\t'}
                IFS=' ' read -ra extensions <<<"${line%%$'\t'*}"
                _polygraphy_files "${line#*$'\t'}" "${extensions[@]}"
                ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done
}

complete -F _polygraphy polygraphy
