"""Marks of suites that call a flaw harmless or harmless code a flaw: `wrong_truths.tsv` has the reasons.

They are taken out of the copy that is scanned, so that no scorer counts them.
"""

import csv
import re
from pathlib import Path

TABLE = Path(__file__).with_suffix(".tsv")
MARK = re.compile(r"\b(ruleid|ok) ?: ?|/\* ?(BAD|OK)\b")


def without_wrong_marks(suite: str, tree: Path) -> int:
    """Take the wrong marks out of a copy of the suite; return how many there were. Fails if one is not there."""
    with TABLE.open(encoding="utf-8") as table:
        wrong = [row for row in csv.DictReader(table, delimiter="\t") if row["suite"] == suite]
    for row in wrong:
        if row["line"]:
            unmark(tree / row["file"], int(row["line"]) - 1)
        else:
            unlist(tree.with_suffix(".tsv"), row["file"].replace("/", "\t") + "\t")
    return len(wrong)


def unmark(path: Path, at: int) -> None:
    """Take away the mark of a line: it stands there, or in the line above."""
    lines = path.read_text(encoding="latin1").split("\n")
    at = at if MARK.search(lines[at]) else at - 1
    if not MARK.search(lines[at]):
        raise SystemExit(f"{path}, line {at + 1}: the suite has no mark here; is it another version?")
    lines[at] = MARK.sub("// ", lines[at])
    path.write_text("\n".join(lines), encoding="latin1")


def unlist(index: Path, beginning: str) -> None:
    """Take the sample out of the list that says how many flaws each has."""
    lines = index.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(beginning)]
    if len(kept) != len(lines) - 1:
        raise SystemExit(f"{index} has no sample {beginning!r}; is it another version of the suite?")
    index.write_text("".join(kept), encoding="utf-8")
