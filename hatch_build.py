"""Compile the bundled rules and the engine's kernels into the wheel, so that the first scan on a machine need not."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Compiled(BuildHookInterface):
    """Adds compiled rules and kernels to a wheel; not to an editable one, whose sources change.

    Machines that kernels are not made for, and other versions of Python or Numba, compile their own.
    """

    def initialize(self, version, build_data):
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # Other processes compile kernels; where builds are isolated, packages are on the path.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (self.root, os.environ.get("PYTHONPATH"))))
        from analyzer.evaluation import program
        from analyzer.evaluation.rulebook import build_rulebook
        from engine import compile_kernels, kernel_directory

        self.made = TemporaryDirectory()
        made = Path(self.made.name)
        kernels = made / "kernels"
        kernels.mkdir()
        if not compile_kernels(2, kernels):
            raise RuntimeError("the kernels could not be compiled")
        program.compile_rulebook(build_rulebook([], ()), made)
        for compiled, place in ((kernels, kernel_directory.SHIPPED), (made / "programs", program.SHIPPED)):
            for file in compiled.iterdir():
                if file.suffix == kernel_directory.SUFFIX or place == program.SHIPPED:
                    build_data["force_include"][str(file)] = (place.relative_to(self.root) / file.name).as_posix()

    def finalize(self, version, build_data, artifact_path):
        if version != "editable":
            self.made.cleanup()
