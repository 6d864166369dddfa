"""TypeScript with JSX: the extractor of JavaScript with another grammar."""

from facts.file_facts import FileFacts
from facts.javascript import extract_with
from facts.javascript.unit import Tsx


def extract(data: bytes) -> FileFacts:
    """Return the facts of a TypeScript with JSX file."""
    return extract_with(Tsx, data)
