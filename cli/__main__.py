"""`python -m cli`: the same as `analyze`, from a checkout."""

from cli import main

main()
