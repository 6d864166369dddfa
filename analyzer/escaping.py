"""Escaping of untrusted text for output: names of files, code, messages, rules, configuration, git's messages.

A terminal acts upon control characters, and marks of direction reorder what a reader sees.
"""

from __future__ import annotations

import json
import re
from typing import Any

TAB = "    "
SHOWN_AS = "·"
C0, DEL, C1, SURROGATES = range(32), 127, range(128, 160), range(0xD800, 0xE000)
DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
SEPARATORS = (0x2028, 0x2029)
TAGS = range(0xE0000, 0xE0080)
CODES = frozenset({*C0, DEL, *C1, *SURROGATES, *DIRECTIONS, *SEPARATORS, *TAGS})
HIDDEN = dict.fromkeys(CODES, SHOWN_AS)
IN_LINES = {code: sign for code, sign in HIDDEN.items() if code not in (ord("\n"), ord("\t"))}
ESCAPES = {code: json.dumps(chr(code))[1:-1] if code in TAGS else f"\\u{code:04x}" for code in CODES - set(C0)}
BEYOND_ASCII = re.compile("[\x7f-\U0010ffff]+")


def printable(text: str) -> str:
    """Return text as one line, with control characters and bidirectional marks escaped."""
    return text.replace("\t", TAB).translate(HIDDEN)


def printable_lines(text: str) -> str:
    """Return the same of lines, with their tabs."""
    return text.translate(IN_LINES)


def json_text(document: Any) -> str:
    """Return a document as JSON in which every such character is escaped."""
    # Between strings there are none of them, and JSON itself escapes those below 32.
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # To translate all of a text that is not ASCII takes seven times as long as to look for where it is not.
    return BEYOND_ASCII.sub(lambda found: found[0].translate(ESCAPES), text) + "\n"
