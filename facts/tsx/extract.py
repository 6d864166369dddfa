"""The facts of a TSX file, from its bytes."""

from facts.file_facts import FileFacts
from facts.javascript.extract import extract_with
from facts.javascript.unit import Tsx


def extract(data: bytes) -> FileFacts:
    """Return the facts of a file of TypeScript with JSX."""
    return extract_with(Tsx, data)
