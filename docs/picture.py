#!/usr/bin/env python3
"""Draw docs/scan.svg: what `analyze scan docs/demo` prints on a terminal of 96 columns."""

import io
import re
from dataclasses import replace
from os import chdir
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from analyzer.outputs.relative_paths import from_here
from analyzer.scan import ScanRequest, scan
from cli.text import render_text

HERE = Path(__file__).parent
COLOURS = [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221)]
THEME = TerminalTheme((33, 37, 43), (215, 218, 224), [*COLOURS, (86, 182, 194), (171, 178, 191)])


def main():
    chdir(HERE.parent)
    result = scan(ScanRequest(Path("docs/demo")))
    result = replace(result, report=from_here(result.report))
    console = recorder(96)
    console.print("[bold]$ analyze scan docs/demo[/bold]")
    render_text(result, console)
    save("scan.svg", "analyze scan", console)


def recorder(width):
    return Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)


def save(name, title, console):
    """Write what a console has recorded. Fonts are taken from the reader's machine: the picture loads nothing."""
    svg = console.export_svg(title=title, theme=THEME)
    svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.S)
    (HERE / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
