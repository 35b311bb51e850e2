"""The program polygraphy-native, and where it is."""

import os
import sysconfig

__all__ = ["program"]


def program() -> str:
    """Returns the path of the program that this package has installed.

    Raises FileNotFoundError if it is in none of the folders for programs of this environment and of the user.
    """
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in folders:
        path = os.path.join(folder, "polygraphy-native")
        if os.path.isfile(path):
            return path
    raise FileNotFoundError("polygraphy-native is in none of these folders: " + ", ".join(folders))
