"""Facts and results as text files, with Soufflé's conventions.

`load` reads what a program's `.input` directives name into a Database; `store` writes what its `.output` directives
name. `read` and `write` do it for one relation; `values` turns records and other values into text and back.
"""

from engine.io.errors import FactsError
from engine.io.read import load
from engine.io.write import lines, store

__all__ = ["FactsError", "lines", "load", "store"]
