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

# For setup_file(): the installation that tests of a file only look at, in $installed, where pkg-config finds it, too.
install_for_all_tests()
{
    export installed=$BATS_FILE_TMPDIR/installed
    export PKG_CONFIG_PATH=$installed/lib/pkgconfig
    make_into install PREFIX="$installed" DESTDIR=
}
