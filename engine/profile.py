"""The costs of an evaluation as plain data, to write as JSON or to show."""

from __future__ import annotations

from engine.result import Costs, Result, RuleStatistics, StratumStatistics


def profile(result: Result) -> dict[str, object]:
    """Return the costs of all strata, of their rules, and of each rule by iteration.

    Seconds of rules are summed over threads. Iteration 0 is the first run of rules that read no relation of their own
    stratum.
    """
    return {
        "elapsed_s": sum(stratum.elapsed_s for stratum in result.statistics),
        "peak_bytes": max((stratum.peak_bytes for stratum in result.statistics), default=0),
        "strata": [stratum_profile(stratum) for stratum in result.statistics],
    }


def stratum_profile(stratum: StratumStatistics) -> dict[str, object]:
    return {
        "relations": list(stratum.relations),
        "recursive": stratum.recursive,
        "local_fixpoints": stratum.local,
        "elapsed_s": stratum.elapsed_s,
        "arranging_s": stratum.arranging_s,
        "iterations": stratum.iterations,
        "restarts": stratum.restarts,
        "discarded_rows": stratum.discarded,
        "rows": stratum.rows,
        "peak_bytes": stratum.peak_bytes,
        "rules": [rule_profile(rule) for rule in stratum.rules],
    }


def rule_profile(rule: RuleStatistics) -> dict[str, object]:
    iterations = sorted((rule.iterations or {}).items())
    return {
        "rule": rule.rule,
        "text": rule.text,
        "relation": rule.relation,
        "planning_s": rule.planning_s,
        "runs": rule.runs,
        **costs(rule),
        "peak_bytes": max((at.peak_bytes for _, at in iterations), default=0),
        "iterations": [{"iteration": n, **costs(at), "peak_bytes": at.peak_bytes} for n, at in iterations],
    }


def costs(of: Costs) -> dict[str, object]:
    return {"elapsed_s": of.elapsed_s, "rows_in": of.read, "rows_out": of.added, "duplicates": of.duplicates}


def dearest(result: Result, n: int = 10) -> list[RuleStatistics]:
    """Return the n rules that took most time, planning included, the dearest first."""
    rules = [rule for stratum in result.statistics for rule in stratum.rules if rule.runs or rule.planning_s]
    return sorted(rules, key=lambda rule: -(rule.elapsed_s + rule.planning_s))[:n]
