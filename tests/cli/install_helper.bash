# install_helper.bash: what tests of installations share.

# `make install` or the like of what is built, in a folder of this test.
make_into()
{
    make -s -C "$POLYGRAPHY_ROOT" BUILD="$(dirname "$POLYGRAPHY")" "$@" >make.log 2>&1 || {
        cat make.log
        return 1
    }
}
