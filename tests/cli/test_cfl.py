"""`analyze cfl`: from files to files."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/cfl.md").read_text()


def timeless(text):
    return re.sub(r"\d+\.\d\d s", "0 s", text)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The files of the page's example, in the current directory; the commands and what they print."""
    monkeypatch.chdir(tmp_path)
    session = re.search(r"```console\n(.*?)```", PAGE, re.S)[1]
    steps = [step.partition("\n")[::2] for step in session.split("$ ")[1:]]
    for command, printed in steps[:2]:
        Path(command.removeprefix("cat ")).write_text(printed)
    return steps


def test_the_example_of_the_page(analyze, page):
    (command, printed), (shown, written) = page[2:]
    assert timeless(analyze(*command.split()[1:]).output) == timeless(printed)
    assert Path(shown.removeprefix("cat ")).read_text() == written


def test_results_are_edges_that_can_be_read_again(analyze, page):
    analyze("cfl", "dataflow.cfg", "edges.tsv", "-o", "pairs.tsv")
    Path("again.cfg").write_text("P\tN\nP\t-N\tN\n")
    output = analyze("cfl", "again.cfg", "pairs.tsv").output
    assert re.search(r"^P +12 +9$", output, re.M)  # (0, 1 … 3), and 1 … 3 with one another
    assert "-N: no edges, so those of its inverse are followed backwards" in output


def test_what_is_left_out_is_said(analyze, page):
    with open("edges.tsv", "a") as file:
        file.write("5\t6\tother\n")
    Path("dataflow.cfg").write_text("N\tn\nN\tN\te\nN\tN\tf\n")
    output = analyze("cfl", "dataflow.cfg", "edges.tsv").output
    assert "other: not in the grammar, 1 edges left out" in output and "f: no edges" in output


def test_csv_by_the_name_of_the_file(analyze, page):
    analyze("cfl", "dataflow.cfg", "edges.tsv", "-o", "pairs.csv")
    assert Path("pairs.csv").read_text() == "source,target,symbol,index\n0,1,N,\n0,2,N,\n0,3,N,\n"


def test_the_exported_program_derives_the_same(analyze, page):
    analyze("cfl", "dataflow.cfg", "edges.tsv", "--export", "out")
    assert analyze("run", "out/cfl.dl", "-F", "out", "-D", "out").output == "path_N\t3\n"


@pytest.mark.parametrize(
    ("grammar", "edges", "options", "said"),
    [
        ("N\t->\tn\n", "0\t1\tn\n", (), ("error[E070]", "--> g.cfg:1:3", "separated by tabs")),
        ("N\tn\n", "0\t1\tn\n0\n", (), ("error[F001]", "--> e.tsv:2")),
        ("N\tn\n", "0\t1\tn\n", ("--symbols", "M"), ("error[A005]", "known: N, n")),
        ("N\tn\n", None, (), ("error[F001]", "cannot read the edges: No such file or directory")),
        (None, "0\t1\tn\n", (), ("error[A001]", "g.cfg: No such file or directory")),
        ("N\tn\n", "0\t1\tn\n", ("-o", "no/such"), ("error[F001]", "cannot write the results: No such file")),
    ],
)
def test_errors_say_where_and_what(analyze, tmp_path, monkeypatch, grammar, edges, options, said):
    monkeypatch.chdir(tmp_path)
    for name, text in (("g.cfg", grammar), ("e.tsv", edges)):
        if text is not None:
            Path(name).write_text(text)
    output = analyze("cfl", "g.cfg", "e.tsv", *options, code=2).output
    for text in said:
        assert text in output


# ---- C sources

SOURCE = "#include <stddef.h>\nint *p, *q; int **pp;\nvoid f(void) { pp = &p; }\nvoid g(void) { *pp = NULL; q = p; }\n"


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.c").write_text(SOURCE)
    (folder / "b.py").write_text("p = q\n")
    return folder


def test_the_bundled_analyses_of_c(analyze, sources):
    analyze("cfl", "pointer", sources, "-o", "aliases.tsv")
    assert "*pp\tp\tM\n" in Path("aliases.tsv").read_text()
    analyze("cfl", "dataflow", sources, "-o", "nulls.tsv")
    assert Path("nulls.tsv").read_text() == "".join(f"a.c/def%20g/NULL\t{v}\tN\n" for v in ("*pp", "p", "q"))


def test_edges_of_c_can_be_written_and_read_again(analyze, sources):
    analyze("cfl", "dataflow", sources, "--write-edges", "edges.tsv")
    assert "&p\tp\td\n" in Path("edges.tsv").read_text()
    for grammar in ("pointer", "dataflow"):
        analyze("cfl", grammar, sources, "-o", "direct.tsv")
        analyze("cfl", grammar, "edges.tsv", "-o", "again.tsv")
        assert Path("direct.tsv").read_text() == Path("again.tsv").read_text()


def test_a_directory_without_c_is_an_error(analyze, sources):
    (sources / "a.c").unlink()
    assert "has no C files" in analyze("cfl", "pointer", sources, code=2).output
