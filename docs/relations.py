"""Write docs/relations.md, the reference of what modules of the rule library offer, from its files.

python docs/relations.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

from rules import catalogue

PAGE = Path(__file__).with_name("relations.md")
HEAD = """\
# Relations of the rule library

What the modules of [`rules/lib`](../rules/lib) offer to others, and to [rules of your own](writing-rules.md); written
by `docs/relations.py` from their files. Facts, which all modules see, are in [`schema.dl`](../facts/schema.dl). A
relation marked **open** takes rules from other modules, too. Each module's text says how precise it is and what it
costs.
"""
OFFERED = re.compile(
    r"""^(?P<comment>(?:[ ]*//[^\n]*\n)*)
        (?:\.comp[ ](?P<component>\w+)
        | \.decl[ ](?P<relation>\w+)\((?P<columns>[^)]*)\).*?[ ](?P<kind>public|open)(?:[ ]inline)?$)""",
    re.MULTILINE | re.VERBOSE,
)
HEADER = re.compile(r"(?://[^\n]*\n)*")


def page() -> str:
    return HEAD + "".join(map(section, catalogue.library()))


def section(file: catalogue.DatalogFile) -> str:
    """Return what a file says about itself and offers; nothing if it offers nothing."""
    rows = [row(found) for found in OFFERED.finditer(file.text)]
    if not rows:
        return ""
    about = "\n".join(comment(HEADER.match(file.text)[0])).strip()
    title = f"\n## [{file.module}](../{file.name})\n\n{about}\n\n"
    return title + "| relation | a row means |\n|---|---|\n" + "".join(rows)


def comment(lines: str) -> Iterator[str]:
    return (line.strip().removeprefix("//").removeprefix(" ") for line in lines.splitlines())


def row(found: re.Match[str]) -> str:
    said = " ".join(comment(found["comment"])).replace("|", "\\|")
    if found["component"]:
        return f"| component `{found['component']}` | {said} |\n"
    columns = " ".join(found["columns"].split())
    return f"| `{found['relation']}({columns})`{' **open**' * (found['kind'] == 'open')} | {said} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
