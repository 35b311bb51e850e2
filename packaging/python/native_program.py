"""native_program.py: the step of the wheel's build that adds the program.

Environment variables, which packaging/python/wheel.sh sets:
POLYGRAPHY_WHEEL_PROGRAM    the program; without it, `make` builds one for this machine
POLYGRAPHY_WHEEL_LIBRARIES  shared libraries that it loads at run time, separated by colons
POLYGRAPHY_WHEEL_LICENCES   a file with the licences of the libraries
POLYGRAPHY_WHEEL_PLATFORM   the platform of the wheel's name, as in linux_aarch64; default: this machine's
"""

import os
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeProgram(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("POLYGRAPHY_WHEEL_PROGRAM") or self.build_program()
        platform = os.environ.get("POLYGRAPHY_WHEEL_PLATFORM") or sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + platform.replace("-", "_").replace(".", "_")
        build_data["shared_scripts"][program] = "polygraphy-native"
        if licences := os.environ.get("POLYGRAPHY_WHEEL_LICENCES"):
            build_data["force_include"][licences] = "polygraphy_native/THIRD-PARTY-LICENSES"
        for library in filter(None, os.environ.get("POLYGRAPHY_WHEEL_LIBRARIES", "").split(":")):
            build_data["force_include"][library] = "polygraphy_native/lib/" + os.path.basename(library)

    def build_program(self):
        program = "build/portable/polygraphy"
        subprocess.run(["make", f"-j{os.cpu_count() or 1}", program], cwd=self.root, check=True)
        return os.path.join(self.root, program)
