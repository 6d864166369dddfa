"""`analyze rules`: the catalogue of checks, their own tests, and all rules for Soufflé."""

from __future__ import annotations

from pathlib import Path

import click

RULES_DIR = click.option(
    "--rules-dir", multiple=True, type=click.Path(path_type=Path), help="A directory of your own checks, too."
)

MODELS = click.option(
    "--models", multiple=True, type=click.Path(path_type=Path), help="Your own models: a file or directory."
)


@click.group()
def rules() -> None:
    """List, show, test and export checks."""


@rules.command("list")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
@RULES_DIR
def list_rules(format: str, rules_dir: tuple[Path, ...]) -> None:
    """List every check: id, severity, precision, CWE and name."""
    from analyzer.evaluation.rulebook import all_checks, as_report_check
    from cli.check_catalogue import print_checks

    print_checks([as_report_check(check) for check in all_checks(rules_dir)], format)


@rules.command("show")
@click.argument("rule")
@RULES_DIR
def show_rule(rule: str, rules_dir: tuple[Path, ...]) -> None:
    """Show the page of the check RULE: what it finds, why it matters, vulnerable and fixed code."""
    from analyzer.evaluation.rulebook import as_report_check, find_check
    from cli.check_catalogue import print_check

    print_check(as_report_check(find_check(rule, rules_dir)))


@rules.command("test")
@click.argument("selectors", nargs=-1)
@RULES_DIR
@MODELS
def test_rules(selectors: tuple[str, ...], rules_dir: tuple[Path, ...], models: tuple[Path, ...]) -> None:
    """Scan the examples of checks and compare the findings with those that their comments expect.

    Checks are those that are selected; without SELECTORS those of --rules-dir, or all.
    """
    from analyzer.ruletest import run_rule_tests
    from cli.check_catalogue import print_test_results

    raise SystemExit(print_test_results(run_rule_tests(selectors, rules_dir, models)))


@rules.command("export")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the program to FILE.")
@RULES_DIR
@MODELS
def export_rules(output: Path | None, rules_dir: tuple[Path, ...], models: tuple[Path, ...]) -> None:
    """Write the library, all models and checks as one program for Soufflé.

    It reads what 'analyze facts' writes; its first lines say how to run it.
    """
    from analyzer import VERSION
    from analyzer.graphs.rules_export import exported_rules
    from cli.output import write_file
    from cli.terminal import say

    text = exported_rules(models, rules_dir, VERSION)
    if output:
        write_file(output, text)
    else:
        say(text, nl=False)
