"""Developers' tool: the facts of one file on the terminal.

python -m facts FILE            print the rows, entities by their labels
"""

import argparse
from pathlib import Path

from facts import extract, language_of
from facts.render_facts import render


def main() -> None:
    """Print facts."""
    parser = argparse.ArgumentParser(prog="facts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    path = parser.parse_args().path
    for relation, rows in render(extract(path.read_bytes(), language_of(path.name) or "python")).items():
        for row in rows:
            print(f"{relation}({', '.join(row)})")


if __name__ == "__main__":
    main()
