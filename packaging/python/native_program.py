"""native_program.py: the step of the wheel's build that adds the program and its library.

Environment variables, which packaging/python/wheel.sh sets:
POLYGRAPHY_WHEEL_BUILD      the build folder with both; without it, `make` builds them for this machine
POLYGRAPHY_WHEEL_LIBRARIES  shared libraries that it loads at run time, separated by colons
POLYGRAPHY_WHEEL_LICENCES   a file with the licences of the libraries
POLYGRAPHY_WHEEL_PLATFORM   the platform of the wheel's name, as in linux_aarch64; default: this machine's
"""

import os
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = "portable/polygraphy"
LIBRARY = "public/libpolygraphy.so.0"


class NativeProgram(BuildHookInterface):
    def initialize(self, version, build_data):
        build = os.environ.get("POLYGRAPHY_WHEEL_BUILD") or self.build_program()
        platform = os.environ.get("POLYGRAPHY_WHEEL_PLATFORM") or sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + platform.replace("-", "_").replace(".", "_")
        build_data["shared_scripts"][os.path.join(build, PROGRAM)] = "polygraphy-native"
        build_data["force_include"][os.path.join(build, LIBRARY)] = "polygraphy_native/lib/" + os.path.basename(LIBRARY)
        if licences := os.environ.get("POLYGRAPHY_WHEEL_LICENCES"):
            build_data["force_include"][licences] = "polygraphy_native/THIRD-PARTY-LICENSES"
        for library in filter(None, os.environ.get("POLYGRAPHY_WHEEL_LIBRARIES", "").split(":")):
            build_data["force_include"][library] = "polygraphy_native/lib/" + os.path.basename(library)

    def build_program(self):
        files = ["build/" + PROGRAM, "build/" + LIBRARY]
        subprocess.run(["make", f"-j{os.cpu_count() or 1}", *files], cwd=self.root, check=True)
        return os.path.join(self.root, "build")
