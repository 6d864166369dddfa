"""Developers' tool: the facts of one file on the terminal, or of a directory as files.

python -m facts FILE            print the rows, entities by their labels
python -m facts PATH -o DIR     write NAME.facts for every relation
"""

import argparse
from pathlib import Path

from facts import export, extract, language_of, mount
from facts.render import render


def main() -> None:
    """Print or write facts."""
    parser = argparse.ArgumentParser(prog="facts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.output is None:
        _print(arguments.path)
    else:
        export(mount(_extracted(arguments.path)), arguments.output)


def _print(path: Path) -> None:
    for relation, rows in render(extract(path.read_bytes(), language_of(path.name) or "python")).items():
        for row in rows:
            print(f"{relation}({', '.join(row)})")


def _extracted(root: Path):
    paths = ((path.relative_to(root).as_posix(), path) for path in sorted(root.rglob("*")) if path.is_file())
    return ((name, extract(path.read_bytes(), language)) for name, path in paths if (language := language_of(name)))


if __name__ == "__main__":
    main()
