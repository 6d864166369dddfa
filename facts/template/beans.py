"""Beans of Spring in files of its configuration: their classes, and the properties that they are given.

A bean is a function of the name of its class, whose parameters are called as the properties. Source: the Spring
Framework reference, "XML-based Configuration Metadata".
"""

import re

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.mybatis import attributes
from facts.template.page import Page, Span

_MARK = re.compile(rb"<!--|<(/?)(?:bean|(property))\b((?:[^<>\"'/]|/(?!>)|\"[^\"]*\"|'[^']*')*)(/?)>")
_COMMENT_END = re.compile(rb"-->|\Z")
_NAMED = re.compile(r"p:([\w-]+)")


def extract(data: bytes) -> FileFacts:
    """Return the facts of a configuration."""
    return Configuration(SourceText(data), "beans").extract()


class Configuration(Page):
    """A configuration of beans."""

    def extract(self) -> FileFacts:
        """Return the facts of the configuration. Of beans within beans, each is given its own properties."""
        self._open_beans: list[tuple[str, Span, list[str]]] = []
        at = 0
        while (mark := _MARK.search(self.source, at)) is not None:
            at = mark.end() if mark[0] != b"<!--" else _COMMENT_END.search(self.source, mark.end()).end()
            if mark[0] != b"<!--":
                self._read(mark)
        while self._open_beans:
            self._close()
        return self.finish()

    def _read(self, mark: re.Match[bytes]) -> None:
        given = attributes(self.text(Span(*mark.span(3))))
        if mark[1]:
            if not mark[2] and self._open_beans:
                self._close()
        elif mark[2]:
            if self._open_beans and "name" in given:
                self._open_beans[-1][2].append(given["name"])
        else:
            named = [name[1] for each in given if (name := _NAMED.fullmatch(each))]
            self._open_beans.append((given.get("class", ""), Span(*mark.span()), named))
            if mark[4]:
                self._close()

    def _close(self) -> None:
        name, span, properties = self._open_beans.pop()
        if name:
            self.begin_macro("bean", name, sorted(set(properties)), span)
            self.end("bean")
