"""python -m polygraphy_native ARGUMENT...: runs the program.

python -m polygraphy_native --install-alias: makes the link `polygraphy` next to polygraphy-native, unless a program
of that name exists. `pip uninstall` removes it.
"""

import importlib.metadata
import os
import shutil
import sys

from polygraphy_native import program


def install_alias() -> str:
    """Makes the link and adds it to the package's list of files. Returns an error message, or ""."""
    target = program()
    link = os.path.join(os.path.dirname(target), "polygraphy")
    taken = shutil.which("polygraphy") or (link if os.path.lexists(link) else None)
    if taken is not None:
        if os.path.realpath(taken) == os.path.realpath(target):
            return ""
        return f"'{taken}' exists and is another program: nothing was changed"
    files = importlib.metadata.distribution("polygraphy-native").files or []
    record = next((file for file in files if file.name == "RECORD"), None)
    if record is None:
        return "the package has no list of its files, so that `pip uninstall` would leave the link"
    place = os.fspath(record.locate())
    with open(place, "a", encoding="utf-8", newline="") as out:
        out.write(os.path.relpath(link, os.path.dirname(os.path.dirname(place))) + ",,\n")
    os.symlink("polygraphy-native", link)
    print(f"{link} -> polygraphy-native")
    return ""


def main() -> int:
    if sys.argv[1:] == ["--install-alias"]:
        error = install_alias()
        if error:
            print(f"polygraphy_native: --install-alias: {error}", file=sys.stderr)
        return 1 if error else 0
    os.execv(program(), ["polygraphy-native", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
