"""Facts and results as files, with Soufflé's conventions.

`load` reads what a program's `.input` directives name into a Database; `store` writes what its `.output` directives
name. `place` says where; `textfile`, `jsonfile`, `sqlitefile` and `parquetfile` read and write one relation; `values`
turns records and other values into text and back.
"""

from engine.io.errors import FactsError
from engine.io.place import file_name
from engine.io.read import load
from engine.io.write import lines, store

__all__ = ["FactsError", "file_name", "lines", "load", "store"]
