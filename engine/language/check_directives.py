"""Checks of `.input`, `.output`, `.printsize` and `.limitsize`: their relations and their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.language.diagnostics import Report, did_you_mean
from engine.language.syntax import Declaration, Directive

DEVICES = {
    "input": ("file", "jsonfile", "sqlite", "parquet", "stdin"),
    "output": ("file", "jsonfile", "sqlite", "parquet", "stdout", "stdoutprintsize"),
}
FLAGS = ("headers", "rfc4180", "escapes")
FILES = ("IO", "filename", "delimiter", "headers", "rfc4180", "escapes", "dbname", "format")
PARAMETERS = {
    "input": (*FILES, "columns"),
    "output": (*FILES, "compress"),
    "printsize": ("IO",),
    "limitsize": ("n",),
}


def check_directives(directives: Iterable[Directive], relations: Mapping[str, Declaration], report: Report) -> None:
    of_stdin: list[str] = []
    for directive in directives:
        declaration = relations.get(directive.relation)
        if declaration is None:
            help = did_you_mean(directive.relation, relations)
            report.error("E010", f"relation '{directive.relation}' is not declared", directive.span, help)
            continue
        check_parameters(directive, report)
        if directive.kind == "limitsize":
            check_limit(directive, declaration, report)
        elif directive.kind in DEVICES:
            check_file(directive, declaration, report)
            if directive.kind == "input" and dict(directive.parameters).get("IO") == "stdin":
                of_stdin.append(directive.relation)
                if len(of_stdin) > 1:
                    message = f"standard input is read for '{of_stdin[0]}' already"
                    report.error("E053", message, directive.span, "read all but one relation from files")


def check_parameters(directive: Directive, report: Report) -> None:
    known = PARAMETERS[directive.kind]
    for name, _ in directive.parameters:
        if name not in known:
            help = did_you_mean(name, known, f"parameters are {', '.join(known)}")
            report.error("E053", f"'.{directive.kind}' has no parameter '{name}'", directive.span, help)


def check_limit(directive: Directive, declaration: Declaration, report: Report) -> None:
    if "eqrel" in declaration.qualifiers:
        message = f"equivalence relation '{directive.relation}' has a size limit"
        report.error("E050", message, directive.span, "limit the relation that it is made of")
    if not dict(directive.parameters).get("n", "").isdecimal():
        message = f"'.limitsize {directive.relation}' needs a number n"
        report.error("E053", message, directive.span, f"write '.limitsize {directive.relation}(n=100)'")


def check_file(directive: Directive, declaration: Declaration, report: Report) -> None:
    parameters, devices = dict(directive.parameters), DEVICES[directive.kind]

    def wrong(message: str, help: str) -> None:
        report.error("E053", message, directive.span, help)

    if parameters.get("IO", "file") not in devices:
        wrong(f"'.{directive.kind}' has no IO={parameters['IO']}", f"IO is one of {', '.join(devices)}")
    for name in FLAGS:
        if parameters.get(name, "false") not in ("true", "false"):
            wrong(f"{name}={parameters[name]} is neither true nor false", f"write {name}=true, or leave it out")
    delimiter = parameters.get("delimiter", ",")
    if not delimiter or "\n" in delimiter or (parameters.get("rfc4180") == "true" and len(delimiter) != 1):
        wrong("the delimiter does not separate fields", "give at least one character, exactly one with rfc4180=true")
    if parameters.get("escapes") == "true" and (parameters.get("rfc4180") == "true" or "delimiter" in parameters):
        wrong("escapes=true is for fields separated by tabs", "leave out delimiter and rfc4180")
    if parameters.get("format", "list") not in ("list", "object"):
        wrong(f"format={parameters['format']} is not a format of JSON", "write format=list or format=object")
    fields = parameters["columns"].split(":") if directive.kind == "input" and "columns" in parameters else None
    if fields is not None and (len(fields) < len(declaration.attributes) or not all(f.isdecimal() for f in fields)):
        help = 'write their positions in the file, from 0: columns="2:0:1"'
        wrong(f'columns="{parameters["columns"]}" names no field for each attribute', help)
