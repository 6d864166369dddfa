"""A file's facts are a function of its bytes, not of what the process has read before."""

import subprocess
import sys

import pytest

import facts
from facts.render_facts import render

SCRIPTS = """class Shop extends Base {
  #stock = [...more];
  async *sell({ name, ...rest }, [first = `none ${name}`]) {
    for (const item of this.#stock ?? []) { if (item?.sold || !name) continue; yield await rest[item](first); }
    try { switch (typeof name) { case "string": throw new Error(name); default: delete rest.x; } } finally { i++; }
  }
}
"""
SOURCES = {
    "python": "with open(p) as f, lock:\n    x = [y for y in f if y][0] or (lambda z: -z)(1)\n",
    "java": "class A { int f(int[] x) { for (int y : x) { try { g(y + 1); } finally { x[0]++; } } return -x[1]; } }\n",
    "c": "int f(struct a *x) { for (int i = 0; i < 3; i++) { x->y[i] = *g(&x, -i) ? 1 : 2; } return !x; }\n",
    "go": "package a\nfunc f(x []int) (y int) { for i := range x { defer g(x[i], func() { y++ }) }; return -y }\n",
    "javascript": SCRIPTS,
    "typescript": "enum Kind { One = 1 }\n" + SCRIPTS,
    "tsx": "const page = <Page {...all}>{name as string}</Page>;\n" + SCRIPTS,
    "ejs": f"<% {SCRIPTS} %><p><%- new Shop().sell(all) %></p>",
    "jsp": '<% for (String x : names) { list.add(x + "!"); } %><p><%= list.get(0) %></p>',
}
PROGRAM = """
import sys, facts
from facts.render_facts import render
print(render(facts.extract(sys.stdin.buffer.read(), sys.argv[1])))
"""


@pytest.mark.parametrize("language", SOURCES)
def test_a_new_process_finds_the_same_facts(language):
    for other, source in SOURCES.items():
        facts.extract(source.encode(), other)
    command = [sys.executable, "-c", PROGRAM, language]
    found = subprocess.run(command, input=SOURCES[language].encode(), capture_output=True, check=True)
    assert found.stdout.decode().strip() == str(render(facts.extract(SOURCES[language].encode(), language)))
