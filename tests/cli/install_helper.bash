# install_helper.bash: what tests of installations share.

# `make install` or the like of what is built.
make_into()
{
    local log
    log=$(make -s -C "$POLYGRAPHY_ROOT" BUILD="$(dirname "$POLYGRAPHY")" "$@" 2>&1) || {
        echo "$log"
        return 1
    }
}
