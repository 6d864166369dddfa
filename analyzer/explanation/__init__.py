"""Explanations: why something is found, and why something is not."""
