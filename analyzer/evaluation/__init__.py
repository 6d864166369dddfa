"""Derive relations from facts: selection of rules, compilation and evaluation."""
