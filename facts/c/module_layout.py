"""C's files by their paths: every file is named by its path, and `#include`s are looked for as compilers are told to.

An include in quotes (level 1) is looked for beside the file that has it. Then, and for those in angle brackets (level
0), in directories that compilers are likely to be given: the file whose path ends with what is written, the nearest to
the includer first. The directory of the mount itself may be named before a path in it. Headers of the C library in
angle brackets lead out of the mount, unless a directory is named.
"""

import posixpath
from collections import defaultdict

from facts.module_layout import Layout

_LIBRARY = frozenset(
    """
aio alloca arpa assert complex cpio ctype dirent dlfcn errno fcntl features fenv float fmtmsg fnmatch ftw getopt glob
grp iconv ifaddrs inttypes iso646 langinfo libgen limits linux locale malloc math memory monetary mqueue ndbm net netdb
netinet nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool
stdckdint stddef stdint stdio stdlib stdnoreturn string strings stropts sys syslog tar termios tgmath threads time trace
uchar ulimit unistd utime utmpx wait wchar wctype windows winsock2 wordexp ws2tcpip
""".split()
)


def layout(imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and targets for the files at the paths that `imports` has: their includes as (level, path)."""
    files = _Files(sorted(imports))
    result = Layout(names=[(path, path, posixpath.dirname(path)) for path in sorted(imports)])
    for importer, wanted in imports.items():
        for level, name in wanted:
            target = files.resolve(importer, level, name)
            if target is not None:
                result.resolved.append((importer, level, name, target))
    return result


class _Files:
    """The files of a mount, by path and by the last part of it."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = set(paths)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[posixpath.basename(path)].append(path)

    def resolve(self, importer: str, level: int, name: str) -> str | None:
        """Return the file that an include means, None if it is not in the mount."""
        name = name.replace("\\", "/")
        if level:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))
            if beside in self._paths:
                return beside
        elif posixpath.splitext(name)[0].partition("/")[0] in _LIBRARY:
            return None
        return self._nearest(importer, posixpath.normpath(name).removeprefix("../"))

    def _nearest(self, importer: str, name: str) -> str | None:
        while name.startswith("../"):
            name = name.removeprefix("../")
        candidates = (
            path for path in self._by_name.get(posixpath.basename(name), ()) if ("/" + path).endswith("/" + name)
        )
        nearest = min(candidates, key=lambda path: (-_shared(importer, path), path.count("/"), path), default=None)
        return nearest or self._below_mount(name)

    def _below_mount(self, name: str) -> str | None:
        """Return the file that `mount/directory/file` means: a compiler may look beside the mount, too."""
        below = name.partition("/")[2]
        return below if "/" in below and below in self._paths else None


def _shared(first: str, second: str) -> int:
    """Return how many directories two paths share from the root on."""
    count = 0
    for left, right in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
