"""GitHub's line hash against the values its own uploader publishes in its tests, and against a direct transcription."""

import pytest

from analyzer.findings.fingerprint import line_hashes

# From github/codeql-action, src/fingerprints.test.ts.
GREETINGS = ["e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1"]
GREETINGS += ["b3edc88f2938467e:1", "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1"]
PUBLISHED = [
    ("", ["c129715d7a2bc9a3:1"]),
    (" a\nb\n  \t\tc\n d", ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]),
    (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", GREETINGS),
    (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", GREETINGS),
    (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", GREETINGS),
]


@pytest.mark.parametrize(("text", "hashes"), PUBLISHED)
def test_line_hashes_equal_githubs_published_ones(text, hashes):
    assert line_hashes(text) == hashes


def rolling(text):
    """The rolling formulation: a ring of 100 units, one update per unit, a line's hash read as its slot is reused."""
    units = [int.from_bytes(text.encode("utf-16-le")[i : i + 2], "little") for i in range(0, 2 * utf16_length(text), 2)]
    ring, owner, index, value = [0] * 100, [None] * 100, 0, 0
    out, seen = {}, {}

    def push(unit):
        nonlocal index, value
        value = (37 * value + unit - pow(37, 100, 2**64) * ring[index]) % 2**64
        ring[index], index = unit, (index + 1) % 100

    def emit():
        if owner[index] is not None:
            digits = f"{value:x}"
            seen[digits] = seen.get(digits, 0) + 1
            out[owner[index]] = f"{digits}:{seen[digits]}"
            owner[index] = None

    line, fresh, after_cr = 0, True, False
    for unit in [*units, 65535]:
        if unit in (32, 9) or (after_cr and unit == 10):
            after_cr = False
            continue
        after_cr = unit == 13
        unit = 10 if after_cr else unit
        emit()
        if fresh:
            line, fresh = line + 1, False
            owner[index] = line
        fresh = unit == 10
        push(unit)
    for _ in range(100):
        emit()
        push(0)
    return [out[number] for number in sorted(out)]


def utf16_length(text):
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    "text",
    [
        "x" * 250,
        "x\n" * 400,
        "same line\n" * 3 + "other\n",
        "é\n𝄞 = 'clef'\r\n\tä",
        "\n\n\n",
        "a" * 99 + "\n" + "b" * 101,
    ],
)
def test_line_hashes_equal_the_rolling_formulation(text):
    assert line_hashes(text) == rolling(text)
