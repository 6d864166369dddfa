"""Warnings on users' rules and settings that do not do what they are meant to."""

import pytest

import facts
from analyzer.configuration.config import Config
from analyzer.evaluation.rulebook import UserFile, build_rulebook
from analyzer.evaluation.unmatched_models import unmatched_models
from analyzer.extraction.discovery import discover
from analyzer.sources.trees import MemoryTree
from rules import catalogue

HEADER = "// @id own/x\n// @name X\n// @severity note\n// @precision low\n// @message x\n"


def warnings(text, is_check=True):
    """The place, message and help of what is said of a user's file."""
    found = build_rulebook([UserFile("own.dl", text, is_check)], ()).problems
    assert all((problem.file, problem.level) == ("own.dl", "warning") for problem in found)
    return [((problem.line, problem.column), problem.message, problem.help) for problem in found]


@pytest.mark.parametrize("relation", ["finding", "suspect", "taint_check"])
def test_a_header_with_another_id_than_the_reported_one_is_told(relation):
    (told,) = warnings(f'{HEADER}{relation}("own/y", c, "") :- call(c, _, _).\n')
    place = (6, len(relation) + 3)
    message = "this reports 'own/y', but the header's @id is 'own/x'"
    assert told == (place, message, "report 'own/x', or write '// @id own/y'")
    assert warnings(f'{HEADER}{relation}("own/x", c, "") :- call(c, _, _).\n') == []


@pytest.mark.parametrize(
    ("kind", "help"),
    [("sqll", "did you mean 'sql'?"), ("carrier-pigeon", 'write a check: taint_check("ID", "carrier-pigeon")')],
)
def test_a_kind_that_no_check_reads_is_told(kind, help):
    model = f'source_call("http", "a.b"). sink_argument("{kind}", "shop.mail.send", "0").\n'
    assert warnings(model, is_check=False) == [((1, model.index(kind) + 1), f"no check reads the kind '{kind}'", help)]


def test_a_kind_that_ones_own_check_reads_is_not():
    assert warnings(f'{HEADER}taint_check("own/x", "mail").\nsink_argument("mail", "shop.mail.send", "0").\n') == []


def test_nothing_is_said_of_what_is_bundled():
    files = [UserFile(f"own/{file.name}", file.text, False) for file in (*catalogue.models(), *catalogue.library())]
    assert build_rulebook(files, ()).problems == []


FILES = {
    "app.py": b"x = 1\n",
    ".analyze.toml": b"",
    ".analyze/rules/a.dl": b"",
    "pyproject.toml": b"[tool.analyze]\n",
    "other/pyproject.toml": b"[tool.black]\n",
    "node_modules/x/.analyze.toml": b"",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sub/.analyze.toml", b""),
        ("sub/pyproject.toml", b"[project]\n[tool.analyze.x]\n"),
        ("sub/.analyze/rules/b.dl", b""),
        ("sub/.analyze/models/b.dl", b""),
        (".analyze/rules/deep/b.dl", b""),
    ],
)
def test_settings_and_rules_that_are_not_looked_at_are_told(path, text):
    (told,) = discover(MemoryTree(FILES | {path: text}), Config()).problems
    assert (told.file, told.level) == (path, "warning") and told.message.startswith("ignored: ") and told.help


def test_settings_and_rules_that_count_are_not_told():
    named = Config(rules_dir=("sub/.analyze/rules",), models=("sub/.analyze/models/b.dl",))
    files = FILES | {"sub/.analyze/rules/b.dl": b"", "sub/.analyze/models/b.dl": b""}
    assert discover(MemoryTree(files), named).problems == []


def test_of_many_such_files_the_first_are_named_and_the_rest_counted():
    told = discover(MemoryTree({f"{n:02}/.analyze.toml": b"" for n in range(13)}), Config()).problems
    assert len(told) == 11 and told[-1].message.startswith("3 more files")


CODE = "import shop.db\nfrom shop import web\nshop.db.run(web.Request().form)\n"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ('sink_argument("sql", "shop.db.runn", "0").', ("shop.db", "runn", "did you mean 'run'?")),
        ('source_attribute("http", "shop.web.Request", "formm").', ("shop", "formm", "did you mean 'form'?")),
        ('source_value("http", "shop.web.zzz").', ("shop", "zzz", "")),
        ('sink_argument("sql", "shop.db.run", "0").', None),
        ('source_attribute("http", "shop.web.Request", "form").', None),
        ('source_attribute("http", "shop.web.Unsaid", "form").', None),
        ('sink_argument("sql", "other.db.runn", "0").', None),
        ('source_parameter_name("http", "shop.db.runn").', None),
    ],
)
def test_a_model_that_matches_nothing_in_a_tree_with_its_library_is_told(model, said):
    mounted = facts.mount([("app.py", facts.extract(CODE.encode(), "python"))])
    told = [
        (problem.line, problem.message, problem.help) for problem in unmatched_models("m.dl", f"\n{model}\n", mounted)
    ]
    if said is None:
        assert told == []
    else:
        library, name, help = said
        assert told == [
            (2, f"this matches nothing: {library} is imported, but '{name}' never occurs in the code", help)
        ]
