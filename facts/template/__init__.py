"""The extractors of templates: what they print, of what they are rendered with.

A package for a family of languages, with a module a syntax, which finds what is code in the text of a page. `page`
holds the state and makes the facts; `expressions` reads expressions; `page_places` tells where in the page they stand.
Pages of HTML are read in the syntax that they are written in: `extract` finds out which. Scripts that stand in pages
are modules of their own (`facts.page`).
"""

import importlib
import re

from facts.file_facts import FileFacts
from facts.joined_facts import joined
from facts.page import scripts

_SYNTAXES = (
    (rb"\{\{[<%]-?[ \t]?/?[ \t]?\w[^{}]*[>%]\}\}", "go"),
    (rb"\sth:[\w-]+\s*=|\[[\[(]\$\{", "thymeleaf"),
    (rb"<#(?:list|if|assign|include|import|macro|ftl)\b", "freemarker"),
    (rb"<%(?:inherit|def|include|namespace|page|block)\b|(?m:^[ \t]*% (?:for|if)\b.*:[ \t]*$)", "mako"),
    (rb"(?m:^[ \t]*#(?:set|foreach|parse)\s*\()", "velocity"),
    (rb"\{%", "jinja"),
    (rb"\{\{~?[#/]\w", "handlebars"),
    (
        rb"\{\{-?\s*(?:[.$]|(?:range|define|template|block|with)\s|if\s+(?:[.$(]|(?:eq|ne|not|and|or|gt|lt|len)\s)"
        rb"|end\s*-?\}\})",
        "go",
    ),
    (rb"\{\{-?\s*/\*", "go"),
    (rb"\{\{~?[{#/^>&!]", "handlebars"),
    (rb"\{\{-?\s*\w+\s+(?:[\"`.$(])", "go"),
    (rb"\{\{", "jinja"),
)
_OF_BROWSERS = re.compile(
    rb"\b(?:v-(?:for|if|else|bind|model|on|html)|ng-[a-z]+|x-data)\b|\*ng(?:For|If)|\{\{::"
    rb"|\s(?:\[\(?[\w.-]+\)?\]|\([\w.]+\))\s*=\s*\"|(?m:^[ \t]*@(?:if|for|switch|let)\b)"
)
_SIGNS = [(re.compile(sign), name) for sign, name in _SYNTAXES]


def syntax_of(data: bytes) -> str | None:
    """Return the syntax of templates that a page is written in, None if it is no template.

    Pages for libraries of browsers, such as Vue and Angular, are none.
    """
    found = next((name for sign, name in _SIGNS if sign.search(data)), None)
    if found and b"{%" not in data and b"{{" in data and _OF_BROWSERS.search(data):
        return None
    return found


def extract(data: bytes) -> FileFacts:
    """Return the facts of a page of HTML, in the syntax that it is written in, with those of its scripts."""
    syntax = syntax_of(data)
    found = scripts.extract(data, syntax)
    if syntax is None and found is not None:
        return found
    template = importlib.import_module(f"facts.template.{syntax or 'jinja'}").extract(data)
    return template if found is None else joined(template, found)


def extract_as(syntax: str, data: bytes) -> FileFacts:
    """Return the facts of a template in a syntax, with those of its scripts."""
    template, found = importlib.import_module(f"facts.template.{syntax}").extract(data), scripts.extract(data, syntax)
    return template if found is None else joined(template, found)


def has_code(data: bytes) -> bool:
    """Return True if a page of HTML is a template, or has scripts to be read."""
    return syntax_of(data) is not None or next(scripts.scripts_of(data), None) is not None
