"""Tells code that a tool has made short from code that people read."""

LINE_BYTES = 300
"""Closure Compiler breaks lines at 500 bytes, so that many are shorter; people break them at 120."""
BLANK_BYTES = 12
"""In English texts every sixth character is a blank; regular expressions and tables, minified, have hardly any."""


def is_minified(data: bytes, least: int) -> bool:
    """Return True if a script is minified: it has `least` bytes, three quarters of it in lines of 300 bytes of code."""
    if len(data) < least:
        return False
    lines = (line for line in data.split(b"\n") if len(line) >= LINE_BYTES)
    return sum(len(line) for line in lines if _is_code(line)) * 4 > len(data) * 3


def _is_code(line: bytes) -> bool:
    """Return True if a long line is code, not prose or data: with its signs, or with commas and hardly any blanks."""
    least = len(line) // LINE_BYTES
    if line.count(b";") + line.count(b"{") > least:
        return True
    return line.count(b",") + line.count(b":") > least and line.count(b" ") * BLANK_BYTES < len(line)
