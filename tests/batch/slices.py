#!/usr/bin/env python3
"""Make many small repositories of git's from the Python packages of a few large ones.

    tests/batch/slices.py DIRECTORY REPOSITORY... [--repositories 200] [--most 400]

A directory of 3 to so many Python files becomes a repository of its own in DIRECTORY. REPOSITORY is any clone of yours,
also a bare one: what is taken are the Python files at HEAD.
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

FEWEST = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("sources", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--most", type=int, default=400, help="Python files in a slice")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        trees = [checked_out(source, Path(folder)) for source in arguments.sources]
        for number, (tree, package) in enumerate(in_turn(trees, arguments.most, arguments.repositories)):
            make(arguments.directory / f"{number:03}-{tree.name}-{package.name}", package)


def checked_out(source, folder):
    """The Python files of a repository at HEAD, in a directory named like it."""
    name = source.resolve().parent.name if source.name in ("repo", ".git") else source.name
    tree = folder / name.rpartition("+")[2]
    tree.mkdir()
    command = ["git", "-C", source, "archive", "HEAD", ":(glob)**/*.py"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    return tree


def in_turn(trees, most, wanted):
    """Packages of all trees in turn, as many as are wanted."""
    found = [(tree, list(packages(tree, most))) for tree in trees]
    chosen = []
    while len(chosen) < wanted and any(rest for _, rest in found):
        chosen += [(tree, rest.pop(0)) for tree, rest in found if rest]
    return chosen[:wanted]


def packages(tree, most):
    """Directories that make a slice, the outermost first."""
    for path in sorted((path for path in tree.rglob("*") if path.is_dir()), key=lambda path: (len(path.parts), path)):
        if FEWEST <= sum(1 for _ in path.rglob("*.py")) <= most:
            yield path


def make(place, package):
    shutil.copytree(package, place / package.name, symlinks=True)
    for command in (["init", "-q"], ["add", "--force", "."], ["commit", "-qm", "slice"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=place, check=True)


if __name__ == "__main__":
    main()
