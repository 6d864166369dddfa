"""A report as SARIF, JSON and SQLite."""
