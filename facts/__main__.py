"""Developers' tool: `python -m facts PATH -o DIR` writes the facts of the files below PATH as `NAME.facts`."""

import argparse
from pathlib import Path

from facts import export, extract, language_of, mount


def main() -> None:
    """Write the facts of a directory."""
    parser = argparse.ArgumentParser(prog="facts", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    found = ((path.relative_to(arguments.path).as_posix(), path) for path in sorted(arguments.path.rglob("*")))
    files = ((name, extract(path.read_bytes(), language)) for name, path in found
             if path.is_file() and (language := language_of(name)))
    export(mount(files), arguments.output)


if __name__ == "__main__":
    main()
