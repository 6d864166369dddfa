"""`analyze run --engine spark`: what needs no session."""

import pytest


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--master", "local[2]"], "--master goes only with --engine spark"),
        (["--members", "2"], "--members goes only with --engine spark"),
        (["--conf", "spark.cores.max=2"], "--conf goes only with --engine spark"),
        (["--engine", "spark", "--conf", "cores=2"], "'cores=2' is not KEY=VALUE, such as spark.executor.memory=4g"),
        (["--engine", "spark", "--conf", "spark.cores.max"], "'spark.cores.max' is not KEY=VALUE"),
        (
            ["--engine", "spark", "--conf", "spark.analyze.wait=soon", "--master", "local[1]", "-D", "out"],
            "spark.analyze.wait=soon is not a number of seconds",
        ),
        (["--stats"], "--stats goes only with --engine spark"),
        (["--engine", "spark", "--partition", "p"], "--partition is NAME=COLUMN,COLUMN…, not 'p'"),
        (["--engine", "spark", "--partition", "q=x"], "the program declares no relation 'q'"),
        (["--engine", "spark", "--partition", "p=y"], "'y' is not a column to partition by; known: x"),
        (["--engine", "spark", "--explain"], "--explain goes not with --engine spark"),
        (["--engine", "spark", "--query", "p(1)"], "--query goes not with --engine spark"),
    ],
)
def test_options_that_do_not_go_together_are_refused(analyze, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.dl").write_text(".decl p(x: number)\np(1).\n")
    assert told in analyze("run", tmp_path / "p.dl", *arguments, code=2).stderr


def test_an_output_that_is_there_is_not_written_over_by_spark(analyze, tmp_path):
    (tmp_path / "p.dl").write_text(".decl p(x: number)\n.output p\np(1).\n")
    (tmp_path / "out" / "p.parquet").mkdir(parents=True)
    told = analyze("run", tmp_path / "p.dl", "-D", tmp_path / "out", "--engine", "spark", code=2).stderr
    assert "p.parquet already exists; remove it, or choose another directory (-D)" in told
