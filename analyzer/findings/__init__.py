"""Make a report's findings from derived relations."""
