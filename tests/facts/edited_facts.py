"""The changes that an edit of a source makes to its facts."""

from collections import Counter

import facts
from facts.render_facts import render

PLACES = {"location", "order_in_block"}
"""Relations that say where things stand, in the text or within a block."""


def rows_of(language, source):
    return {relation: Counter(rows) for relation, rows in render(facts.extract(source.encode(), language)).items()}


def difference(language, before, after):
    """Return the rows that an edit took away and those that it added, as (relation, row)."""
    before, after = rows_of(language, before), rows_of(language, after)
    gone = {(relation, row) for relation in before for row in before[relation] - after.get(relation, Counter())}
    new = {(relation, row) for relation in after for row in after[relation] - before.get(relation, Counter())}
    return gone, new


def inserted(source, at, *texts):
    """Return the source with further lines before line `at`."""
    lines = source.splitlines()
    return "\n".join([*lines[:at], *texts, *lines[at:]]) + "\n"
