"""The extractors of templates: what they print, of what they are rendered with.

A package for a family of languages, with a module a syntax, which finds what is code in the text of a page. `page`
holds the state and makes the facts; `expressions` reads expressions; `page_places` tells where in the page they stand.
Pages of HTML are read in the syntax that they are written in: `extract` finds out which.
"""

import re

from facts.file_facts import FileFacts

_SYNTAXES = ((re.compile(rb"\{%|\{\{"), "jinja"),)


def syntax_of(data: bytes) -> str | None:
    """Return the syntax of templates that a page is written in, None if it is no template."""
    return next((name for sign, name in _SYNTAXES if sign.search(data)), None)


def extract(data: bytes) -> FileFacts:
    """Return the facts of a page of HTML, in the syntax that it is written in."""
    from facts.template import jinja

    return jinja.extract(data)
