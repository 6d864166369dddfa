"""Files made to keep extraction busy: each costs its own facts and no other file's."""

import pytest

from analyzer.configuration.config import Config
from analyzer.extraction.collect_facts import collect
from analyzer.extraction.discovery import is_binary
from analyzer.extraction.machine import ThisMachine
from analyzer.extraction.pool import MAX_FALSE_STARTS
from analyzer.sources.trees import MemoryTree

# A sum of so many calls takes many times the limit of a tenth of a second.
SLOW = b"x = " + b" + ".join(b"g(%d)" % n for n in range(30_000)) + b"\n"

# A call behind each of the ways in which a compiler takes a null character, by language.
HIDDEN = {
    "python": ("a.py", b"x = 1  # \0\nevil()\n"),
    "java": ("A.java", b"/*\0*/ class A { void m() { evil(); } }\n"),
    "c": ("a.c", b"/*\0*/ void m(void) { evil(); }\n"),
    "c, between words": ("a.c", b"void\0m(void) { evil(); }\n"),
    "javascript": ("a.js", b"/*\0*/ evil();\n"),
    "javascript, in a string": ("a.js", b"x = '\0'; evil();\n"),
    "typescript": ("a.ts", b"/*\0*/ evil();\n"),
    "tsx": ("a.tsx", b"/*\0*/ evil();\n"),
    "go": ("a.go", b"package p\n/*\0*/ func m() { evil() }\n"),
    "typescript in UTF-16": ("a.ts", "evil();\n".encode("utf-16")),
    "controls in a comment": ("a.js", b"/*\x7fELF\1\2\0*/ evil();\n"),
    "controls in a comment of Unicode escapes": ("A.java", rb"\u002f*" + b"\1*/ class A { void m() { evil(); } }\n"),
    "controls in a comment of HTML": ("a.js", b"<!-- \1\nevil();\n"),
}


@pytest.mark.parametrize("way", HIDDEN)
def test_null_characters_hide_no_code(attack, tmp_path, way):
    path, data = HIDDEN[way]
    found = collect(MemoryTree({path: data}), Config(), tmp_path, ThisMachine(1))
    calls = found.mounted.relations["call"].shape[1]
    attack(f"code hidden by a null character: {way}", expected="1 call", got=f"{calls} call")


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\2\1\1\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1",
        b"PK\3\4\x14\0",
        b"\x1f\x8b\x08\0",
        b"G@\0\x10\0\0\xb0\r\0\1",
    ],
)
def test_what_no_compiler_reads_is_binary(data):
    assert is_binary(data)


def test_files_over_the_limit_cost_their_own_facts_only(attack, tmp_path, monkeypatch):
    n_slow = MAX_FALSE_STARTS + 1
    files = {f"slow{n}.py": SLOW + b"# %d\n" % n for n in range(n_slow)} | {"good.py": b"import os\n"}
    config = Config(extract_timeout_s=0.1)
    found = collect(MemoryTree(files), config, tmp_path, ThisMachine(2))
    attack(
        "nine files that take longer than extract-timeout-s",
        expected=f"{n_slow} problems, good.py analysed",
        got=f"{sum('longer' in problem.message for problem in found.problems)} problems, "
        + ", ".join(f"{source.path} analysed" for source in found.files),
    )
