"""Texts of files: what earlier texts know of the very same bytes is taken over, and nothing else."""

from analyzer.findings.source_texts import Texts


class Tree:
    """Files in memory; the same object each time that one is read."""

    def __init__(self, **files):
        self.files = files

    def read(self, path):
        return self.files[path]


def test_lines_of_the_same_bytes_are_taken_over_and_others_are_read():
    same, old, new = b"one\ntwo", b"three", b"four"
    earlier = Texts(Tree(a=same, b=old))
    before = earlier.lines("a"), earlier.lines("b"), earlier.line_hash("b", 1)
    texts = Texts(Tree(a=same, b=new), earlier)
    assert texts.lines("a") is before[0]
    assert texts.lines("b") == ["four"] and texts.line_hash("b", 1) != before[2]
    assert texts.line("a", 2) == "two"


def test_texts_do_not_hold_all_earlier_ones():
    first = Texts(Tree(a=b"one"))
    second = Texts(Tree(a=b"two"), first)
    Texts(Tree(a=b"three"), second)
    assert second._earlier is None
