"""Values flow from the call that renders a template to the places in it that print."""

import re
from pathlib import Path

import pytest

from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

FLASK = """from flask import Flask, render_template, request

app = Flask(__name__)


@app.route("/shop")
def shop():
    context = {{"shops": [{{"name": request.args["name"]}}], "title": "Shops"}}
    return render_template({})
"""
LIST = """<h1>{{ title|safe }}</h1>
{% for shop in shops %}
{{ shop.name|safe }} <!-- found -->
{{ shop.name }} {{ shop.number|safe }}
{{ shop.name|e|safe }} {{ shop.name|length|safe }}
<p title={{ shop.name }}> <!-- found -->
{% include "parts/shop.html" %}
{% endfor %}
"""
PART = "{{ shop['name']|safe }} <!-- found -->\n{{ shops|length }}\n"
DJANGO = """from django.shortcuts import render
from django.template import loader


def shop(request):
    return render(request, "shop.html", {"name": request.GET["name"], "other": 1})


def other(request):
    return loader.get_template("other.html").render({"name": request.GET["name"]}, request)
"""
JINJA = """from flask import request
from jinja2 import Environment, FileSystemLoader

raw = Environment(loader=FileSystemLoader("templates"))
escaping = Environment(loader=FileSystemLoader("templates"), autoescape=True)


def show():
    template = raw.get_template("raw.html")
    escaping.get_template("escaping.html").render(name=request.args["name"])
    return template.render(name=request.args["name"])
"""
STARLETTE = """from fastapi import FastAPI, Request
from fastapi.templating import Jinja2Templates

app = FastAPI()
templates = Jinja2Templates(directory="templates")


@app.get("/")
def read(request: Request, name: str):
    return templates.TemplateResponse(request=request, name="shop.html", context={"name": name})
"""
EXPRESS = """const express = require("express");
const app = express();
app.get("/", (req, res) => {
  const shop = { name: req.query.name, number: 1 };
  res.render("shop", { shop, names: [req.query.name], title: "Shop" });
});
"""
EJS = """<h1><%- title %></h1>
<p><%- shop.name %></p> <!-- found -->
<p><%= shop.name %></p>
<p><%- locals.shop.name %></p> <!-- found -->
<p class=<%= shop.name %>></p> <!-- found -->
<% names.forEach(function (name) { %>
  <li><%- name %></li> <!-- found -->
<% }) %>
<% for (const name of names) { %>
  <li><%- name %></li> <!-- found -->
<% } %>
<%- include("parts/name", { name: shop.name }) %>
"""
RAW = "{{ name|safe }} <!-- found -->\n"

PROGRAMS = {
    "keywords": {"app.py": FLASK.format('"shop.html", name=request.args["n"]'), "templates/shop.html": RAW},
    "unpacked": {
        "app.py": FLASK.format('"list.html", **context'),
        "templates/list.html": LIST,
        "templates/parts/shop.html": PART,
    },
    "extended": {
        "app.py": FLASK.format('"page.html", name=request.args["n"]'),
        "templates/page.html": "{% extends 'base.html' %}{% block a %}{% endblock %}",
        "templates/base.html": RAW,
    },
    "macros": {
        "app.py": FLASK.format('"page.html", name=request.args["n"]'),
        "templates/page.html": "{% import 'macros.html' as m %}{{ m.f(name) }}"
        "{% from 'macros.html' import g %}{{ g(1) }}",
        "templates/macros.html": "{% macro f(x) %}\n{{ x|safe }} <!-- found -->\n{% endmacro %}\n"
        "{% macro g(y) %}\n{{ y|safe }}\n{% endmacro %}",
    },
    "the nearest of one name": {
        "bad/app.py": FLASK.format('"shop.html", name=request.args["n"]'),
        "bad/templates/shop.html": RAW,
        "good/templates/shop.html": "{{ name|safe }}",
    },
    "files that Flask does not escape in": {
        "app.py": FLASK.format('"shop.txt.j2", name=request.args["n"]'),
        "templates/shop.txt.j2": "{{ name }} <!-- found -->\n{{ name|e }}",
    },
    "Django": {
        "views.py": DJANGO,
        "templates/shop.html": RAW + "{{ name }}{{ other|safe }}{% autoescape off %}\n{{ name }} <!-- found -->",
        "templates/other.html": RAW,
    },
    "Jinja2": {
        "app.py": JINJA,
        "templates/raw.html": "{{ name }} <!-- found -->\n{{ name|e }}",
        "templates/escaping.html": "{{ name }}\n" + RAW,
    },
    "Starlette": {"app.py": STARLETTE, "templates/shop.html": RAW + "{{ name }}"},
    "Express": {
        "app.js": EXPRESS,
        "views/shop.ejs": EJS,
        "views/parts/name.ejs": "<b><%- name %></b> <!-- found -->",
        "views/other.ejs": "<%- shop.name %>",
    },
    "a request in a template": {"page.html": "{{ request.args.a|safe }} <!-- found -->\n{{ request.args.a }}"},
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_tainted_values_are_found_where_a_template_prints_them_raw(program):
    files = PROGRAMS[program]
    tree = MemoryTree({name: code.encode() for name, code in files.items()}, "templates")
    request = ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)})
    report = scan_tree(tree, request, silent).report
    assert not report.problems and not report.coverage.unparsed
    found = {(finding.place.file, finding.place.line) for finding in report.findings}
    marked = {
        (name, number)
        for name, code in files.items()
        for number, line in enumerate(code.splitlines(), 1)
        if re.search("<!-- found -->", line)
    }
    assert found == marked


def test_the_path_leads_from_the_request_to_the_place_that_prints():
    files = PROGRAMS["unpacked"]
    tree = MemoryTree({name: code.encode() for name, code in files.items()}, "templates")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)}), silent).report
    (finding,) = [finding for finding in report.findings if finding.place.file == "templates/parts/shop.html"]
    files_of_path = list(dict.fromkeys(step.place.file for step in finding.path))
    assert files_of_path == ["app.py", "templates/list.html", "templates/parts/shop.html"]
