"""Where a batch works: what may be gone on with, and what is refused. No Spark is needed to tell."""

import json

import pytest

from analyzer.batch.batch_plan import Plan, Target
from analyzer.batch.result_files import part, publish, write_failure
from analyzer.batch.workspace import failed_in, is_finished, opened, unfinished
from analyzer.errors import AnalyzeError

LIMITS = [60.0, 2**30, 1]


def plan(commit="c" * 40, problem="", flags=None, tool="1", names=("a",)):
    targets = tuple(Target(name, f"repos/{name}", "", commit, 10, problem) for name in names)
    return Plan(targets, flags or {}, {"tool": tool, "rules": ""})


def fail(workspace, name="a", limits=LIMITS):
    """Publish a failure under limits."""
    attempt = workspace.directory / "attempts" / "x"
    attempt.mkdir(parents=True, exist_ok=True)
    write_failure(workspace.plan.targets[0], "crashed (SIGSEGV)", attempt)
    publish(attempt, name, workspace.directory)
    (workspace.directory / "costs").mkdir(exist_ok=True)
    (workspace.directory / "costs" / f"{name}.json").write_text(json.dumps({"limits": limits}))


def code_of(context):
    with pytest.raises(AnalyzeError) as raised, context:
        pass
    assert raised.value.help
    return raised.value.code


def test_the_output_is_there_when_all_is_done_and_not_before(tmp_path):
    output = tmp_path / "out"
    assert not is_finished(output, plan())
    with opened(output, plan(), LIMITS) as workspace:
        fail(workspace)
        assert not output.exists()
        workspace.finish({})
    assert is_finished(output, plan()) and not unfinished(output).exists()
    assert sorted(path.name for path in output.iterdir()) == [
        *("batch.json", "coverage", "files", "findings", "sarif", "timings.json")
    ]


def test_what_was_done_is_kept_and_litter_is_not(tmp_path):
    with opened(tmp_path / "out", plan(), LIMITS) as workspace:
        fail(workspace)
        litter = [workspace.directory / name for name in ("attempts/b-1/findings.parquet", "running/b", ".tmp-1")]
        for path in litter:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    with opened(tmp_path / "out", plan(), LIMITS) as workspace:
        assert workspace.finished() == {"a"}
        assert not any(path.exists() for path in litter)


def test_a_failure_is_tried_again_under_other_limits_and_when_the_batch_had_ended(tmp_path):
    output = tmp_path / "out"
    with opened(output, plan(), LIMITS) as workspace:
        fail(workspace)
    with opened(output, plan(), [90.0, *LIMITS[1:]]) as workspace:
        assert workspace.finished() == set()
        fail(workspace)
        workspace.finish({"repositories": workspace.costs()})
    assert failed_in(output)
    with opened(output, plan(), LIMITS) as workspace:
        assert workspace.finished() == set()
        assert not (workspace.directory / part("a", "findings")).exists()


def test_a_repository_that_could_not_be_resolved_is_gone_on_with_when_it_can(tmp_path):
    output = tmp_path / "out"
    with opened(output, plan("", "cannot be read: no answer"), LIMITS) as workspace:
        fail(workspace)
    with opened(output, plan(), LIMITS) as workspace:
        assert workspace.plan == plan()
    with opened(output, plan("", "cannot be read: no answer"), LIMITS) as workspace:
        assert workspace.plan == plan()


@pytest.mark.parametrize(
    "other", [plan("d" * 40), plan(flags={"rules": ["x"]}), plan(tool="2"), plan(names=("a", "b")), plan(names=("b",))]
)
def test_another_batch_is_refused_finished_or_not(tmp_path, other):
    output = tmp_path / "out"
    with opened(output, plan(), LIMITS) as workspace:
        fail(workspace)
    assert code_of(opened(output, other, LIMITS)) == "B005"
    with opened(output, plan(), LIMITS) as workspace:
        workspace.finish({})
    with pytest.raises(AnalyzeError) as raised:
        is_finished(output, other)
    assert raised.value.code == "B005"


def test_directories_that_are_no_batch_are_refused(tmp_path):
    (tmp_path / "out").mkdir()
    assert not is_finished(tmp_path / "out", plan())
    (tmp_path / "out" / "precious").write_text("")
    with pytest.raises(AnalyzeError) as raised:
        is_finished(tmp_path / "out", plan())
    assert raised.value.code == "B005"
    unfinished(tmp_path / "new").mkdir()
    (unfinished(tmp_path / "new") / "precious").write_text("")
    assert code_of(opened(tmp_path / "new", plan(), LIMITS)) == "B005"


def test_a_batch_that_got_nowhere_is_in_nobodys_way(tmp_path):
    with opened(tmp_path / "out", plan(), LIMITS):
        pass
    with opened(tmp_path / "out", plan("d" * 40), LIMITS) as workspace:
        assert workspace.plan == plan("d" * 40)
    with opened(tmp_path / "out", plan("d" * 40), LIMITS) as workspace:
        fail(workspace)
    assert code_of(opened(tmp_path / "out", plan(), LIMITS)) == "B005"


def test_the_largest_comes_first_and_what_is_done_not_at_all(tmp_path):
    sizes = {"a": 10, "small": 1, "large": 99, "b": 10}
    targets = tuple(Target(name, name, commit="c" * 40, n_bytes=n_bytes) for name, n_bytes in sizes.items())
    with opened(tmp_path / "out", Plan(targets, {}, {}), LIMITS) as workspace:
        assert [target.name for target in workspace.missing()] == ["large", "a", "b", "small"]
        fail(workspace)
        assert [target.name for target in workspace.missing()] == ["large", "b", "small"]


def test_two_batches_do_not_work_in_one_place(tmp_path):
    with opened(tmp_path / "out", plan(), LIMITS):
        assert code_of(opened(tmp_path / "out", plan(), LIMITS)) == "B006"


def test_where_nothing_can_be_written_it_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(AnalyzeError) as raised, opened(tmp_path / "file" / "out", plan(), LIMITS):
        pass
    assert raised.value.code == "A003"
