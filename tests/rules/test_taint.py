"""What reaches a sink and what does not, program by program; and what models can name."""

import re
import textwrap
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("taint_cases.py")
MODEL = """
sink_argument("test", "flows.sink", "0").
sanitizer_call("test", "flows.clean").
"""


def load_cases():
    names = {}
    exec(compile(CASES.read_text(encoding="utf-8"), str(CASES), "exec"), names)
    return names["HEADER"], names["CASES"]


HEADER, PROGRAMS = load_cases()

SOURCE = 'source_call("test", "flows.source").\n'
MODELS = {
    "a function's parameter": ('source_parameter("x", "app.handle", "body").', "def handle(body, other):"),
    "a parameter by name alone": ('source_parameter_name("x", "body").', "def handle(body, other):"),
    "a decorator": (
        'source_decorated("x", "web.endpoint"). decorated_exempt("web.endpoint", "other").',
        "from web import endpoint\n@endpoint('/')\ndef handle(body, other):",
    ),
    "a decorator of unknown class": (
        'source_decorated("x", "web.App.serve"). decorator_method("serve", "web.App.serve").'
        'decorated_exempt("web.App.serve", "other").',
        "from somewhere import app\n@app.serve('/')\ndef handle(body, other):",
    ),
    "an override": (
        'source_override("x", "web.Handler", "handle", "body").',
        "import web\nclass Mine(web.Handler):\n  def handle(self, body, other):",
    ),
    "an attribute of an object": (
        'source_attribute("x", "web.Request", "body"). returns_instance("web.current", "web.Request").',
        "import web\ndef handle():\n    request = web.current()\n    body, other = request.body, request.user",
    ),
    "a value by name": (
        'source_value("x", "web.request.body").',
        "from web import request\ndef handle():\n    body, other = request.body, request.user",
    ),
    "an argument that a call fills": (
        'source_argument("x", "web.read_into", "0").',
        "import web\ndef handle(body, other):\n    web.read_into(body)",
    ),
    "an alias": (
        'alias("web.api.fetch", "web.fetch"). source_call("x", "web.fetch").',
        "from web.api import fetch\ndef handle(other):\n    body = fetch()",
    ),
}


SUMMARIES = {
    "a sink by keyword": ('sink_argument("test", "lib.run", "text").', "lib.run(text=x)  # found\nlib.run(other=x)"),
    "a sink's receiver": (
        'sink_argument("test", "lib.Path.open", "self").',
        "lib.Path(x).open()  # found\nlib.Path('a').open(x)",
    ),
    "a method by name": ('sink_method("test", "execute", "0").', "f().execute(x)  # found\nf().execute('a', x)"),
    "a harmless constant": (
        'sink_argument("test", "lib.run", "0"). sink_harmless_with("test", "lib.run", "safe", "true").',
        "lib.run(x)  # found\nlib.run(x, safe=True)",
    ),
    "a constant that does harm": (
        'sink_argument("test", "lib.run", "0"). sink_only_with("test", "lib.run", "shell", "true").',
        "lib.run(x, shell=True)  # found\nlib.run(x)",
    ),
    "a summary": (
        'summary("lib.second", "1", "return").',
        "sink(lib.second('a', x))  # found\nsink(lib.second(x, 'a'))",
    ),
    "a summary into an argument": (
        'summary("lib.fill", "1", "0").',
        "def run(a, b):\n    lib.fill(a, x)\n    sink(a)  # found\n    sink(b)",
    ),
    "a function that passes nothing on": ('no_flow("lib.size").', "sink(lib.other(x))  # found\nsink(lib.size(x))"),
    "a sanitizer of the program": (
        'sanitizer_call("test", "app.escape").',
        "def escape(a):\n    return a\nsink(x)  # found\nsink(escape(x))",
    ),
    "a guard": ('guard_call("test", "lib.check", "0").', "if lib.check(x):\n    sink(x)\nelse:\n    sink(x)  # found"),
    "a label that a kind ignores": (
        'source_call("low", "lib.low"). label_exempt("low", "test").',
        "sink(x)  # found\nsink(lib.low())",
    ),
}


CROSSING = {
    "pkg/__init__.py": "",
    "pkg/data.py": "from flows import source\nNAME = source()\nOTHER = 'a'\ndef get(x):\n    return x\n",
    "pkg/use.py": """\
from flows import sink
from .data import NAME, OTHER, get
sink(NAME)  # found
sink(OTHER)
sink(get(NAME))  # found
sink(get(OTHER))
from pkg import data
sink(data.NAME)  # found
""",
}


def own_names(text, number):
    """Return the text with module and parameter names that no other case has."""
    for name in ("web", "lib", "app", "body"):
        text = re.sub(rf"\b{name}\b", f"{name}{number}", text)
    return text


def source_case(code):
    indent = "    " * (2 if "class" in code else 1)
    return f"from flows import sink\n{code}\n{indent}sink(body)  # found\n{indent}sink(other)\n"


def summary_case(code):
    return f"import lib\nfrom flows import sink, source\nx = source()\n{code}\n"


def all_cases():
    """Return {behaviour: its file}, the files, and what models must say of them."""
    names, files, models = {}, dict(CROSSING), [SOURCE]
    for name, code in PROGRAMS.items():
        names[name] = name.replace(" ", "_").replace(",", "") + ".py"
        files[names[name]] = HEADER + textwrap.dedent(code)
    described = [(f"a source can be {name}", model, source_case(code)) for name, (model, code) in MODELS.items()]
    for name, (model, code) in SUMMARIES.items():
        described.append((f"a model can describe {name}", model, summary_case(code)))
    for number, (name, model, code) in enumerate(described):
        names[name] = f"app{number}.py"
        files[names[name]] = own_names(code, number)
        models.append(own_names(model, number))
    return names | {"data crosses files": "pkg/use.py"}, files, models


NAMES, FILES, DESCRIPTIONS = all_cases()


@pytest.fixture(scope="module")
def found(flows):
    return flows(MODEL + "\n".join(DESCRIPTIONS), FILES)


@pytest.mark.parametrize("name", NAMES)
def test_flow(name, found, marked):
    file = NAMES[name]
    assert found[file] == marked(FILES[file])
