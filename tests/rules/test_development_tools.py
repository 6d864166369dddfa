"""Scripts that developers run on their own files, beside a program."""

from marked_lines import lines_with_findings

IN_PYTHON = 'import re\n\n\ndef read(text):\n    return re.match("(a+)+$", text)\n'
IN_JAVASCRIPT = "{}\nexports.read = (text) => /(a+)+$/.test(text);\n"


def test_expressions_in_scripts_of_developers_read_their_own_files():
    tools = {
        "scripts/words.py": IN_PYTHON,
        "web/tools/words.js": IN_JAVASCRIPT.format('const fs = require("fs");'),
        "web/src/scripts/words.mjs": IN_JAVASCRIPT.format('import { readFile } from "node:fs/promises";'),
    }
    program = {
        "app.py": "import tools.parse\n" + IN_PYTHON,
        "tools/parse.py": IN_PYTHON,
        "package/__init__.py": "",
        "package/scripts/__init__.py": "",
        "package/scripts/run.py": IN_PYTHON,
        "static/scripts/page.js": IN_JAVASCRIPT.format(""),
        "web/tools/serve.js": IN_JAVASCRIPT.format('const fs = require("fs"), http = require("http");'),
    }
    found = {file for file, _ in lines_with_findings(tools | program, checks="exponential-regex")}
    assert found == set(program) - {"package/__init__.py", "package/scripts/__init__.py"}


def test_scripts_alone_are_a_program():
    files = {"scripts/words.py": IN_PYTHON}
    assert {file for file, _ in lines_with_findings(files, checks="exponential-regex")} == set(files)
