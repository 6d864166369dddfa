"""`analyze update`: a state, deltas, and what it says."""

import re

import pyarrow
import pyarrow.parquet
import pytest
from filelock import FileLock

TC = """\
.decl arc(x: symbol, y: symbol)
.input arc
.decl tc(x: symbol, y: symbol)
.output tc
.printsize tc
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
.decl unused(x: symbol)
.input unused
"""


class Place:
    """A program, its facts, and directories for the rest."""

    def __init__(self, top, analyze):
        self.top, self.analyze, self.n_deltas = top, analyze, 0
        (top / "tc.dl").write_text(TC)
        (top / "facts").mkdir()
        (top / "facts/arc.facts").write_text("a\tb\nb\tc\n")

    def update(self, *options, code=0, **delta):
        """Run the command with a delta of some files, NAME_insert or NAME_delete."""
        if delta:
            self.n_deltas += 1
            directory = self.top / f"delta{self.n_deltas}"
            directory.mkdir()
            for name, text in delta.items():
                (directory / f"{name.replace('_', '.')}.facts").write_text(text)
            options = ("--delta", directory, *options)
        files = ("--state", self.top / "state", "-D", self.top / "out")
        return self.analyze("update", self.top / "tc.dl", *files, "-j", 1, *options, code=code).output

    def rows(self):
        return sorted((self.top / "out/tc.csv").read_text().splitlines())


@pytest.fixture
def place(tmp_path, analyze):
    return Place(tmp_path, analyze)


def report(output):
    """The output, with seconds left out."""
    return re.sub(r"\d+\.\d+ s", "N s", output).splitlines()


SECONDS = "N s, N s to load the state, N s to save it"


def test_the_first_run_evaluates_and_later_ones_update(place):
    said = report(place.update("-F", place.top / "facts"))
    assert said == ["tc\t3", f"bootstrap: there is no state in {place.top}/state", SECONDS, "arc\t+2\t-0", "tc\t+3\t-0"]
    assert place.rows() == ["a\tb", "a\tc", "b\tc"]
    said = report(place.update("--policy", "update", arc_insert="c\td\n", arc_delete="a\tb\nx\ty\n"))
    assert said == ["tc\t3", "update: as asked for", SECONDS, "arc\t+1\t-1", "tc\t+2\t-2"]
    assert place.rows() == ["b\tc", "b\td", "c\td"]
    said = report(place.update("--policy", "bootstrap", arc_insert="a\tb\n"))
    assert said == ["tc\t6", "bootstrap: as asked for", SECONDS, "arc\t+1\t-0", "tc\t+3\t-0"]
    assert report(place.update()) == ["tc\t6", "update: nothing to do", SECONDS]
    assert len(place.rows()) == 6


@pytest.mark.parametrize("policy", ["elastic", "predicted", "raced"])
def test_every_policy_gives_the_same(place, policy):
    place.update("-F", place.top / "facts", "--policy", policy)
    place.update("--policy", policy, arc_insert="c\ta\n")
    place.update("--policy", policy, arc_delete="b\tc\n")
    assert place.rows() == ["a\tb", "c\ta", "c\tb"]


@pytest.mark.parametrize("scheduler", ["level", "lbl", "interval", "hybrid"])
def test_every_scheduler_gives_the_same(place, scheduler):
    place.update("-F", place.top / "facts", "--scheduler", scheduler)
    place.update("--scheduler", scheduler, "--policy", "update", arc_insert="c\ta\n", arc_delete="b\tc\n")
    assert place.rows() == ["a\tb", "c\ta", "c\tb"]


def test_the_first_run_applies_a_delta_too(place):
    said = report(place.update("-F", place.top / "facts", arc_delete="a\tb\n"))
    assert said[0] == "tc\t1" and said[-2:] == ["arc\t+1\t-0", "tc\t+1\t-0"]


def test_without_state_and_facts_nothing_can_be_done(place):
    said = place.update(code=2)
    assert said == f"error[S003]: there is no state in {place.top}/state; give initial facts (-F)\n"


def test_a_damaged_state_is_replaced_if_there_are_facts(place):
    place.update("-F", place.top / "facts")
    place.update(arc_insert="c\td\n")
    (base,) = (place.top / "state").glob("*.base")
    base.write_bytes(base.read_bytes()[:-1])
    said = place.update(code=2)
    assert said.startswith("error[S003]: the state in ") and "is damaged: " in said and said.count("\n") == 1
    said = place.update("-F", place.top / "facts", arc_insert="c\te\n")
    assert said.startswith("warning: the state in ") and "bootstrap: the state in " in said
    assert len(place.rows()) == 6
    assert report(place.update())[1] == "update: nothing to do"


def test_a_changed_program_is_evaluated_anew(place):
    place.update("-F", place.top / "facts")
    (place.top / "tc.dl").write_text(TC + "tc(x, x) :- arc(x, _).\n")
    said = place.update("-F", place.top / "facts")
    assert "belongs to another program" in said and len(place.rows()) == 5


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        ({"arc_insert": "a\n"}, "arc.insert.facts:1"),
        ({"ark_insert": "a\tb\n"}, "the program has no input 'ark'; inputs: arc"),
        ({"tc_delete": "a\tb\n"}, "the program has no input 'tc'"),
        ({"arc": "a\tb\n"}, "the files of a delta are named NAME.insert.facts and NAME.delete.facts"),
    ],
)
def test_a_wrong_delta_is_told_and_changes_nothing(place, delta, said):
    place.update("-F", place.top / "facts")
    output = place.update(code=2, **delta)
    assert output.startswith("error[F001]: ") and said in output
    assert report(place.update())[0] == "tc\t3"


def test_a_delta_of_an_input_that_no_output_needs_changes_nothing(place):
    place.update("-F", place.top / "facts")
    assert report(place.update(unused_insert="a\n"))[0] == "tc\t3"


def test_wrong_arguments_are_told(place, analyze, tmp_path):
    assert "Missing option '--state'" in analyze("update", tmp_path / "tc.dl", code=2).output
    assert "is a file" in analyze("update", tmp_path / "tc.dl", "--state", tmp_path / "tc.dl", code=2).output
    assert "is not one of" in place.update("--policy", "lazy", code=2)
    assert "is not one of" in place.update("--scheduler", "best", code=2)
    assert place.update("-F", tmp_path / "none", code=2).startswith("error[F001]")
    place.update("-F", tmp_path / "facts")
    assert place.update("--delta", tmp_path / "none", code=2).startswith("error[A001]: cannot read or write ")
    assert "error[A001]" in analyze("update", tmp_path / "none.dl", "--state", tmp_path / "state", code=2).output


def test_a_second_run_waits_and_says_so(place):
    place.update("-F", place.top / "facts")
    with FileLock(place.top / "state/lock"):
        first, second = place.update("--wait", 0.1, code=2).splitlines()
    assert first == f"another run is using {place.top}/state; waiting for its end"
    assert second == f"error[S003]: another process has been using {place.top}/state for more than 0.1 s"
    assert "tc\t3" in report(place.update())


def test_deltas_may_be_parquet_and_hold_records(place):
    program = """
    .type Pair = [name: symbol, next: Pair]
    .decl held(pair: Pair, n: number)
    .input held(delimiter=";")
    .decl name(x: symbol, n: number)
    .output name
    name(x, n) :- held([x, _], n).
    name(x, n) :- held([_, [x, _]], n).
    """
    (place.top / "tc.dl").write_text(program)
    (place.top / "facts/held.facts").write_text("[a, nil];1\n[b, [a, nil]];2\n")
    place.update("-F", place.top / "facts")
    place.update(held_insert="[c, [a, nil]];3\n", held_delete="[a, nil];1\n")
    delta = place.top / "parquet"
    delta.mkdir()
    table = pyarrow.table({"pair": ["[b, [a, nil]]"], "n": pyarrow.array([2], pyarrow.int32())})
    pyarrow.parquet.write_table(table, delta / "held.delete.parquet")
    place.update("--delta", delta)
    assert sorted((place.top / "out/name.csv").read_text().splitlines()) == ["a\t3", "c\t3"]
