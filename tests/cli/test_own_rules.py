"""What docs/models.md says works as it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/models.md").read_text()
BLOCKS = re.findall(r"^```datalog\n(.*?)^```", PAGE, re.M | re.S)
MODELS, CHECKS = [block for block in BLOCKS if "@id" not in block], [block for block in BLOCKS if "@id" in block]
SINK = "import sqlite3\nfrom shop import api, context, db, metrics, requests, text, web\n\n"
XSS = "cross-site-scripting"
FLOWS = {
    "source_call": "def f():\n    return requests.current_basket()\ndb.run(f())\n",
    "source_value": "db.run(context.user_agent)\n",
    "source_parameter_name": "def f(untrusted):\n    db.run(untrusted)\n",
    "source_decorated": "@web.endpoint\ndef f(x):\n    db.run(x)\n",
    "source_attribute": "db.run(web.Request().form)\n",
    "source_override": "class V(web.View):\n    def post(self, x):\n        db.run(x)\n",
    "sink_method": "def f(untrusted, x):\n    x.run_raw(untrusted)\n",
    "summary": "def f(untrusted):\n    db.run(text.join(1, untrusted))\n",
    "source_attribute_of_a_parameter": "def f(request: web.Request):\n    db.run(request.form)\n",
    "source_value_by_name": "from shop.context import user_agent\ndb.run(user_agent)\n",
    "sink_returned": "@web.page\ndef f(untrusted):\n    return untrusted\n",
    "sink_attribute": "def f(untrusted):\n    r = web.Response()\n    r.body = untrusted\n",
    "returns_instance": "def f(untrusted):\n    db.connect().execute(untrusted)\n",
}
NO_FLOWS = {
    "sanitizer_call": "def f(untrusted):\n    db.run(db.quote(untrusted))\n",
    "sanitizer_any": "def f(untrusted):\n    db.run(text.identifier(untrusted))\n",
    "summary_other": "def f(untrusted):\n    db.run(text.join(untrusted, 1))\n",
    "harmless": "def f(x):\n    db.run(x)\n",
    "guard_call": "from shop import files\ndef f(untrusted):\n    files.is_inside(untrusted)\n",
    "no_flow": "def f(untrusted):\n    db.run(metrics.count(untrusted))\n",
}
OWN = {
    "__init__": "",
    "api": "from shop import db\n\ndef create_order(payload):\n    db.run(payload)\n",
    "context": "user_agent = None\n",
    "db": "def run(query): ...\ndef quote(text): return text\ndef connect(): ...\n",
    "files": "def is_inside(path): ...\n",
    "mail": "def header(name, value): ...\n",
    "metrics": "def count(text): return text\n",
    "requests": "def current_basket(): ...\n",
    "text": "def join(a, b): return a + b\ndef identifier(text): return text\n",
    "web": "def endpoint(f): return f\ndef page(f): return f\nclass Request:\n    form = None\nclass View:\n"
    "    def post(self, x): ...\nclass Response:\n    body = None\n",
}


@pytest.fixture
def project(tmp_path):
    """A repository with the page's models, and a file for each flow."""
    (tmp_path / ".analyze/models").mkdir(parents=True)
    (tmp_path / ".analyze/models/shop.dl").write_text("\n".join(MODELS))
    for name, code in (FLOWS | NO_FLOWS).items():
        (tmp_path / f"{name}.py").write_text(SINK + code)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/api.py").write_text("from shop import db\n\ndef create_order(payload):\n    db.run(payload)\n")
    return tmp_path


def test_models_of_the_page_find_what_it_says(scan, project):
    report = scan(project, "--rules", XSS, code=1)
    assert report["problems"] == []
    found = sorted({finding["file"] for finding in report["findings"]})
    assert found == sorted([*(f"{name}.py" for name in FLOWS), "shop/api.py"])


def test_models_mean_the_same_for_the_repository_itself(scan, project):
    for name, code in OWN.items():
        (project / f"shop/{name}.py").write_text(code)
    report = scan(project, "--rules", XSS, code=1)
    assert report["problems"] == []
    found = sorted({finding["file"] for finding in report["findings"]})
    assert found == sorted([*(f"{name}.py" for name in FLOWS), "shop/api.py"])


def test_an_exemption_of_a_framework_is_not_everybodys(scan, project):
    (project / "request.py").write_text(SINK + "@web.endpoint\ndef f(request):\n    db.run(request)\n")
    rest = (
        "from rest_framework.decorators import api_view\n@api_view(['GET'])\ndef f(request, x):\n    db.run(request)\n"
    )
    (project / "rest.py").write_text(SINK + rest)
    found = {finding["file"] for finding in scan(project, code=1)["findings"]}
    assert "request.py" in found and "rest.py" not in found


def test_checks_of_the_page_report(analyze, project):
    (project / ".analyze/rules").mkdir()
    for number, check in enumerate(CHECKS):
        (project / f".analyze/rules/check{number}.dl").write_text(check)
    (project / "mail.py").write_text("from shop import mail\n\ndef send(untrusted):\n    mail.header('', untrusted)\n")
    (project / "out.py").write_text("def show():\n    print('hello')\n")
    output = analyze("scan", project, "--rules", "shop/*", code=1).output
    assert "out.py:2:5" in output and "print is called in out.show." in output
    assert "mail.py:4:5" in output and "This header depends on 'untrusted'." in output
