"""The `analyze` command: click commands and rich rendering over `analyzer`. Thin: no analysis happens here.

Importing this package loads click and nothing heavier, so that `analyze --help` answers at once; each command imports
what it needs when it runs.
"""

from cli.main import cli, main

__all__ = ["cli", "main"]
