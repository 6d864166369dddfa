"""The facts of a TypeScript file, from its bytes."""

from facts.file_facts import FileFacts
from facts.javascript.extract import extract_with
from facts.javascript.unit import TypeScript


def extract(data: bytes) -> FileFacts:
    """Return the facts of a TypeScript file."""
    return extract_with(TypeScript, data)
