"""The modules of a language as given by the layout of files. Language-neutral."""

from dataclasses import dataclass, field


@dataclass
class Layout:
    """Names of modules and targets of imports; every module is given by its path.

    `names`: (path, dotted name, package that relative imports start from); `directories`: the paths of directories that
    are modules without a file of their own; `children`: (package, attribute, module); `resolved`: (importer, level,
    imported name, target).
    """

    names: list[tuple[str, str, str]] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    children: list[tuple[str, str, str]] = field(default_factory=list)
    resolved: list[tuple[str, int, str, str]] = field(default_factory=list)
