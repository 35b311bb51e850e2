#!/usr/bin/env bash
# packaging/licences.sh PACKAGE...: prints the licences of the libraries that are linked into the program, of Debian's
# packages.
set -euo pipefail
for name; do
    [ -f "/usr/share/doc/$name/copyright" ] ||
        { echo "'/usr/share/doc/$name/copyright' is missing, which the package has to bring" >&2 && exit 1; }
    printf '==== %s ====\n\n' "${name%-dev}"
    cat "/usr/share/doc/$name/copyright"
    printf '\n'
done
