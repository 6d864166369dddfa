"""The `analyze` command: click commands and rich rendering over `analyzer`. Thin: no analysis happens here."""
