"""The library tier: what parameters of exported functions reach, apart from what sources reach."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree


def findings(files, **flags):
    files = {path: text.encode() for path, text in files.items()}
    report = scan_tree(MemoryTree(files, "memory"), ScanRequest(Path("."), None, flags)).report
    assert not [problem for problem in report.problems if problem.level == "error"]
    return sorted((finding.check, finding.place.file, finding.place.line) for finding in report.findings)


EXPORTED = {
    "a.py": """\
import os
class Archive:
    def __init__(self, path):
        self.path = path
    def pack(self):
        os.system("tar cf " + self.path)  # exported
    def _hidden(self, path):
        os.system("tar cf " + path)
class _Private:
    def pack(self, path):
        os.system("tar cf " + path)
def pack(path, *, level: int, **options):
    os.system("tar cf " + path)  # exported
    os.system("tar -%d" % level)
    os.system("tar " + options["x"])  # exported
    helper(path)
def _hidden(path):
    os.system(path)
def helper(path):
    _runs(path)
def _runs(path):
    os.system(path)  # exported
""",
    "a.js": """\
const { exec } = require("child_process");
exports = module.exports = pack;
function pack(path) {
  exec(["tar", path].join(" ")); // exported
}
function hidden(path) {
  exec(path);
}
function Maker(path) {}
Maker.prototype.run = function (path) {
  exec(path); // exported
};
module.exports.Maker = Maker;
module.exports.table = {
  run(path) {
    exec(path); // exported
  },
};
""",
    "made.js": """\
const { exec } = require("child_process");
(function (root, factory) {
  if (typeof module === "object" && module.exports) module.exports = factory();
  else root.packer = factory();
})(this, function () {
  function make(options) {
    var packer = function (path) {
      exec(path); // exported
    };
    packer.all = function (path) {
      exec(path); // exported
    };
    packer._one = function (path) {
      exec(path);
    };
    return packer;
  }
  var packer = make();
  packer.make = make;
  return packer;
});
""",
    "client.js": """const { exec } = require("child_process");
class Client {
  run(path) {
    exec(path); // exported
  }
  _close(path) {
    exec(path);
  }
}
class Other {
  run(path) {
    exec(path);
  }
}
exports.connect = (options) => new Client();
exports.archive = (options) => {
  const parts = new Other();
  return {
    run(path) {
      exec(path); // exported
    },
    tools: { pack: (path) => exec(path) }, // exported
  };
};
""",
    "a.ts": """\
import { exec } from "child_process";
export class Archive {
  pack(path: string) {
    exec(path); // exported
  }
  _hidden(path: string) {
    exec(path);
  }
}
export const pack = (path: string) => {
  exec(path); // exported
};
class Private {
  pack(path: string) {
    exec(path);
  }
}
""",
    "A.java": """\
public class A {
    public void pack(String path, int level) throws java.io.IOException {
        Runtime.getRuntime().exec("tar " + path); // exported
        Runtime.getRuntime().exec("tar -" + level);
    }
    void hidden(String path) throws java.io.IOException {
        Runtime.getRuntime().exec("tar " + path);
    }
}
class B {
    public void pack(String path) throws java.io.IOException {
        Runtime.getRuntime().exec("tar " + path);
    }
}
""",
    "a.go": """\
package archive

import "os/exec"

type Archive struct{ path string }

func Pack(path string) {
	exec.Command("sh", "-c", path).Run() // exported
}

func (a *Archive) Add(path string) {
	exec.Command("sh", "-c", path).Run() // exported
}

func hidden(path string) {
	exec.Command("sh", "-c", path).Run()
}
""",
    "a.c": """\
#include <stdlib.h>
void pack(const char *path)
{
    system(path); // exported
}
static void hidden(const char *path)
{
    system(path);
}
""",
}


@pytest.mark.parametrize("path", EXPORTED)
def test_parameters_of_what_a_package_exports_are_followed(path):
    text = EXPORTED[path]
    expected = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("exported")]
    found = findings({path: text}, rules=("*-command", "command-injection"), tier=("library",))
    assert found == [("exported-command", path, line) for line in expected]
    assert not findings({path: text}, rules=("command-injection",))


WEB = """\
import os
from flask import Flask, request
app = Flask(__name__)
@app.route("/")
def index():
    run(request.args["x"])
def run(command):
    os.system(command)
def other(command):
    os.system(command)
"""


def test_what_a_source_reaches_is_reported_by_the_check_of_the_default_tier():
    default = findings({"a.py": WEB})
    assert default == [("command-injection", "a.py", 8)]
    assert findings({"a.py": WEB}, tier=("library",)) == [*default, ("exported-command", "a.py", 10)]


def test_sanitizers_and_tests_count():
    text = """\
import os, re, shlex
def quoted(name):
    os.system("ls " + shlex.quote(name))
def checked(name):
    if re.fullmatch("[a-z]+", name):
        os.system("ls " + name)
"""
    assert not findings({"a.py": text}, rules=("exported-command",))


def test_the_path_begins_at_the_parameter():
    files = {"a.py": b"import os\ndef run(command):\n    text = 'sh ' + command\n    os.system(text)\n"}
    request = ScanRequest(Path("."), None, {"rules": ("exported-command",)})
    (finding,) = scan_tree(MemoryTree(files, "memory"), request).report.findings
    assert "'command' comes from the callers" in finding.message
    assert list(dict.fromkeys(step.place.line for step in finding.path)) == [2, 3, 4]


def test_what_builds_a_package_is_not_exported():
    text = "import os\ndef build(path):\n    os.system('make ' + path)\n"
    files = dict.fromkeys(("setup.py", "docs/conf.py", "noxfile.py", "package/setup_tools.py", "package/conf.py"), text)
    found = findings(files, rules=("exported-command",))
    assert found == [("exported-command", "package/conf.py", 3), ("exported-command", "package/setup_tools.py", 3)]
