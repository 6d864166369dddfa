"""Templates by their paths: a template is named by its path without suffix.

What includes or imports another one names it by its path from some directory of templates: the template whose path
ends so is meant, of several the one that has most directories in common with the importer.
"""

import os.path
import posixpath
from collections import defaultdict

from facts.module_layout import Layout


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the templates at the paths that `imports` has: their imports as (level, name)."""
    result = Layout()
    by_name = defaultdict(list)
    for path in sorted(imports):
        result.names.append((path, posixpath.splitext(path)[0], posixpath.dirname(path)))
        by_name[posixpath.basename(path)].append(path)
    for importer, wanted in imports.items():
        for level, name in wanted:
            target = _resolve(importer, name, by_name.get(posixpath.basename(name), []))
            if target is not None:
                result.resolved.append((importer, level, name, target))
    return result


def _resolve(importer: str, name: str, paths: list[str]) -> str | None:
    ending = "/" + posixpath.normpath(name).lstrip("./")
    found = [path for path in paths if ("/" + path).endswith(ending)]
    return max(found, key=lambda path: (len(os.path.commonprefix([path, importer])), path), default=None)
