"""Compile the bundled rules into the wheel, so that the first scan on a machine need not."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledRules(BuildHookInterface):
    """Adds the compiled rules to a wheel; not to an editable one, whose rules change."""

    def initialize(self, version, build_data):
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from analyzer.evaluation.program import SHIPPED, compile_rulebook
        from analyzer.evaluation.rulebook import build_rulebook

        self.made = TemporaryDirectory()
        compile_rulebook(build_rulebook([], ()), Path(self.made.name))
        for file in Path(self.made.name, "programs").iterdir():
            build_data["force_include"][str(file)] = (SHIPPED.relative_to(self.root) / file.name).as_posix()

    def finalize(self, version, build_data, artifact_path):
        if version != "editable":
            self.made.cleanup()
