"""Leave out findings whose path leads through many calls or files, or is not known, but for the audit tier.

That data passes a call is true of nearly all programs, and wrong of some; of many in a row one is wrong more often than
not. So such a path is worth a look, but blocks no merge. Nor does one that a search gave up on, which winds more still,
or one through a call that may run anything: its result need hold nothing of its arguments; or one that leads
through several layers of a program, down or by many calls; or one over a variable that all functions share; or one on
which another file makes an address, where that is tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from posixpath import dirname

import facts
from analyzer.findings.from_relations import GUESS, HANDED_ON, KEPT, WAYS
from analyzer.report import Check, Finding, Place, SourceFile, Step

ENTERING = {WAYS["enter"], HANDED_ON}
PASSING = {*ENTERING, WAYS["leave"]}
MAX_FILES = 4
"""The most files that a path leads through, in several directories.

Of 24 findings beyond, in ten programs that nobody here had seen, two were true; of the others every other one.
"""
LAYER = 3
"""So many files in a directory make it a layer, which may check what it is given and what it passes on. Of 127 findings
whose paths go down from layer to layer, in 36 programs that nobody here had seen, seven were true; of 269 others 66."""
MAX_CALLS_OF_LAYERS = 6
"""The most calls that a path through several layers enters or leaves. Of 38 findings beyond, in 15 programs that nobody
here had seen, two were true."""
ACCESSOR = 3
"""The most steps from entering a function that does nothing to what it gives, to leaving it."""


def with_short_paths(
    findings: Iterable[Finding], checks: Sequence[Check], abandoned: Container[Place], files: Iterable[SourceFile]
) -> list[Finding]:
    """Return the findings whose paths enter and leave no more calls than their checks allow, and stay in one layer.

    Checks of other tiers allow any. The paths of those at the `abandoned` places were not found. `files` are those of
    the program.
    """
    files = list(files)
    sizes = Counter(dirname(file.path) for file in files)
    templates = {file.path for file in files if facts.LANGUAGES[file.language].is_template}
    bounded = {check.id: check for check in checks if check.tier == "default" and check.max_calls is not None}

    def proves(finding: Finding) -> bool:
        check = bounded[finding.check]
        found = bool(finding.path) or finding.place not in abandoned
        is_short = n_calls(finding) <= (check.max_calls or 0) and n_files_of_several_directories(finding) <= MAX_FILES
        winds = winds_through_layers(finding, sizes, check.calls_down, templates)
        is_sure = not is_guessed(finding) and not is_kept_for_others(finding)
        is_local = check.max_returns is None or n_returned(finding) <= check.max_returns
        return found and is_short and is_sure and is_local and not winds

    return [finding for finding in findings if finding.check not in bounded or proves(finding)]


def is_guessed(finding: Finding) -> bool:
    """Return True if the path goes through a call of which nothing is known: whether data passes it is a guess."""
    return any(step.message == GUESS for step in finding.path)


def is_kept_for_others(finding: Finding) -> bool:
    """Return True if the data is put into an object that the program shares, and files see only one of both ends.

    Of what a map or settings hold, one function puts in this, and another one takes out that. Of six findings, in four
    programs that nobody here had seen, none was true; of 217 others 70. In one file who writes stands beside who reads.
    """
    return any(step.message == KEPT for step in finding.path) and len({step.place.file for step in finding.path}) > 1


def n_returned(finding: Finding) -> int:
    """Return how often a function of another file gives the data to the path, but for accessors.

    An address that a function makes is compared there with the program's own, in many ways: of 20 redirects to what
    another file gave, by three causes in three programs that nobody here had seen, none was an open one; of 17 others
    twelve were.
    """
    path = finding.path
    given = [at for at, step in enumerate(path) if step.message == WAYS["leave"]]
    return sum(path[at - 1].place.file != path[at].place.file and not ends_accessor(path[:at]) for at in given)


def ends_accessor(path: Sequence[Step]) -> bool:
    """Return True if the last steps are all of a function: it hands out what it is given, or reads."""
    return any(step.message in {*ENTERING, WAYS["source"]} for step in path[-ACCESSOR:])


def n_calls(finding: Finding) -> int:
    """Return how often the path enters or leaves a function."""
    return sum(step.message in PASSING for step in finding.path)


def n_files_of_several_directories(finding: Finding) -> int:
    """Return how many files the path leads through, 0 if they lie in one directory."""
    files = {step.place.file for step in finding.path}
    return len(files) if len(set(map(dirname, files))) > 1 else 0


def winds_through_layers(
    finding: Finding, sizes: Mapping[str, int], calls_down: int, templates: Container[str]
) -> bool:
    """Return True if the path leads through layers of the program down to another one, or by more calls than it may.

    A layer is a directory of LAYER files; `sizes` are numbers of files in directories. A path goes down if it enters
    more calls than it leaves, and ends in another directory than it begins in, but for `templates`: they check nothing.
    By `calls_down` calls it may, beside accessors of what is passed, and functions that only hand it on: no other layer
    quotes what becomes part of a query or a command.
    """
    layers = {folder for step in finding.path if sizes[folder := dirname(step.place.file)] >= LAYER}
    if len(layers) < 2:
        return False
    depth = sum((step.message in ENTERING) - (step.message == WAYS["leave"]) for step in finding.path)
    first, last = dirname(finding.path[0].place.file), dirname(finding.path[-1].place.file)
    in_other_layer = first != last and {first, last} <= layers and finding.path[-1].place.file not in templates
    if depth > 0 and in_other_layer:
        return n_calls(finding) - 2 * n_accessors(finding) - n_handed_on(finding) > calls_down
    return n_calls(finding) > MAX_CALLS_OF_LAYERS


def n_accessors(finding: Finding) -> int:
    """Return how many calls the path leaves by the step after the next, or sooner: they hand out a field."""
    passing = [step.message if step.message in PASSING else None for step in finding.path]
    pairs = (passing[at : at + 1 + ACCESSOR] for at, message in enumerate(passing) if message in ENTERING)
    return sum(next(filter(None, after[1:]), None) == WAYS["leave"] for after in pairs)


def n_handed_on(finding: Finding) -> int:
    """Return how many functions on the path do nothing with the data but hand it on to another one."""
    return sum(step.message == HANDED_ON for step in finding.path)
