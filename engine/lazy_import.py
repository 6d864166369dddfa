"""Public names of a package that load on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module


def load_on_use(package: str, public: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562) whose public names stand in the modules given by name."""

    def load(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(public[name]), name)

    return load
