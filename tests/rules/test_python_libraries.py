"""Sources and sinks of Python's libraries that fewer programs use, in programs as their documentation has them."""

import re
from pathlib import Path

import pytest

from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CHECKS = (
    "code-injection",
    "command-injection",
    "cross-site-scripting",
    "log-injection",
    "path-traversal",
    "request-forgery",
    "sql-injection",
    "template-injection",
    "unsafe-deserialization",
)
PROGRAMS = {
    "schemas": """
import os
from apiflask import APIFlask, APIBlueprint, Schema
from apiflask.fields import String

app = APIFlask(__name__)
shop = APIBlueprint("shop", __name__)


class Item(Schema):
    name = String(required=True)


@app.post("/items")
@app.input(Item, location="json")
def create(json_data):
    os.system("ls " + json_data["name"])  # found


@shop.get("/items/<name>")
def item(name):
    os.system("ls " + name)  # found
""",
    "arguments": """
import os
from flask import Flask
from webargs import fields
from webargs.flaskparser import use_args, use_kwargs, parser

app = Flask(__name__)


@app.route("/")
@use_args({"name": fields.Str(required=True)}, location="query")
def index(args):
    os.system("ls " + args["name"])  # found


@app.route("/two")
@use_kwargs({"name": fields.Str(required=True)}, location="query")
def two(name):
    os.system("ls " + name)  # found


@app.route("/three")
def three():
    args = parser.parse({"name": fields.Str()}, request=None)
    os.system("ls " + args["name"])  # found
""",
    "addresses": """
import os
from robyn import Robyn, Request

app = Robyn(__file__)


@app.get("/shops/:name")
async def shop(request: Request):
    os.system("ls " + request.path_params["name"])  # found
    os.system("ls " + request.query_params.get("name", ""))  # found


@app.post("/shops")
def create(request):
    data = request.json()
    os.system("ls " + data["name"])  # found
    os.system("ls " + request.body)  # found
    os.system("ls " + request.method)
""",
    "smaller": """
import os
import webapp2
from blacksheep import Application, Request, get, post
from webob import Request as WebObRequest
from klein import Klein

app = Application()
web = Klein()


class Page(webapp2.RequestHandler):
    def get(self):
        name = self.request.get("name")
        os.system("ls " + name)  # found
        self.response.write("<b>" + name)  # found


@app.router.get("/shops/{name}")
def shop(name: str):
    os.system("ls " + name)  # found


@web.route("/shops/<name>")
def klein(request, name):
    os.system("ls " + name)  # found
    os.system("ls " + request.args.get(b"name")[0].decode())  # found


def application(environ, start_response):
    request = WebObRequest(environ)
    os.system("ls " + request.params["name"])  # found
""",
    "chats": """
import os
from slack_bolt import App
from nicegui import ui

app = App(token="x")


@app.command("/echo")
def echo(ack, respond, command):
    ack()
    os.system("echo " + command["text"])  # found
    os.system("echo " + respond.name)


@app.message("hello")
def hello(message, say):
    os.system("echo " + message["text"])  # found


@app.event("app_mention")
def mention(event, say):
    os.system("echo " + event["text"])  # found


@ui.page("/shops/{name}")
def shop(name: str):
    os.system("ls " + name)  # found
    ui.html("<b>" + name)  # found
    ui.label(name)
""",
    "queries": """
from flask import Flask, request
from databases import Database
from neo4j import GraphDatabase
from pony.orm import Database as Pony, raw_sql, select
from sqlmodel import Session, create_engine, text
from tortoise import Tortoise
import aiofiles
import anyio
import asyncssh
import pexpect
import pycurl

app = Flask(__name__)
database = Database("sqlite:///shop.db")
driver = GraphDatabase.driver("neo4j://shop.example")
db = Pony()
engine = create_engine("sqlite://")


@app.route("/a")
async def a():
    name = request.args["name"]
    await database.fetch_all(query="SELECT * FROM shop WHERE name = '" + name + "'")  # found
    await database.fetch_one("SELECT * FROM shop WHERE name = '" + name + "'")  # found
    await database.fetch_all(query="SELECT * FROM shop WHERE name = :name", values={"name": name})
    await database.fetch_val("SELECT * FROM shop WHERE name = '" + name + "'")  # found


@app.route("/b")
def b():
    name = request.args["name"]
    with driver.session() as session:
        session.run("MATCH (s:Shop {name: '" + name + "'}) RETURN s")  # found
        session.run("MATCH (s:Shop {name: $name}) RETURN s", name=name)
        session.execute_read(find, name)
    driver.execute_query("MATCH (s:Shop {name: '" + name + "'}) RETURN s")  # found


def find(tx, name):
    return tx.run("MATCH (s:Shop {name: '" + name + "'}) RETURN s")  # found


@app.route("/c")
def c():
    name = request.args["name"]
    db.select("SELECT * FROM shop WHERE name = '" + name + "'")  # found
    db.select("SELECT * FROM shop WHERE name = $name")
    db.get("SELECT * FROM shop WHERE name = '" + name + "'")  # found


@app.route("/d")
def d():
    name = request.args["name"]
    with Session(engine) as session:
        session.exec(text("SELECT * FROM shop WHERE name = '" + name + "'"))  # found


@app.route("/e")
async def e():
    name = request.args["name"]
    connection = Tortoise.get_connection("default")
    await connection.execute_query("SELECT * FROM shop WHERE name = '" + name + "'")  # found
    await connection.execute_query_dict("SELECT * FROM shop WHERE name = '" + name + "'")  # found
    await connection.execute_query("SELECT * FROM shop WHERE name = ?", [name])


@app.route("/f")
async def f():
    name = request.args["name"]
    async with aiofiles.open(name) as file:  # found
        await file.read()
    async with await anyio.open_file(name) as file:  # found
        await file.read()
    await anyio.Path(name).read_text()  # found


@app.route("/g")
async def g():
    name = request.args["name"]
    async with asyncssh.connect("shop.example") as connection:
        await connection.run("ls " + name)  # found
    pexpect.run("ls " + name)  # found
    pexpect.spawn("ls " + name)  # found
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, name)  # found
    curl.setopt(curl.URL, name)  # found
    curl.setopt(pycurl.USERAGENT, name)
""",
    "engines": """
from flask import Flask, request
from chameleon import PageTemplate
from Cheetah.Template import Template
from genshi.template import MarkupTemplate, TextTemplate

app = Flask(__name__)


@app.route("/a")
def a():
    text = request.args["text"]
    PageTemplate(text)()  # found
    Template(text)  # found
    MarkupTemplate(text).generate()  # found
    PageTemplate("<p>${text}</p>")(text=text)
    return ""
""",
    "runners": """
import boto3
import gevent.subprocess
import sh
import trio
from fabric import SerialGroup
from flask import Flask, request
from netmiko import ConnectHandler
from plumbum import local
from pssh.clients import ParallelSSHClient
from scrapli import Scrapli

app = Flask(__name__)


@app.route("/a")
async def a():
    name = request.args["name"]
    sh.bash("-c", "ls " + name)  # found
    sh.ls(name)
    local["bash"]("-c", "ls " + name)  # found
    local["ls"]("-c", name)
    SerialGroup("one", "two").run("ls " + name)  # found
    ConnectHandler(host="switch").send_command("show " + name)  # found
    ConnectHandler(host="switch").send_config_set(["interface " + name])  # found
    ConnectHandler(host="switch").send_config_set(["interface ethernet 1"])
    Scrapli(host="switch").send_command("show " + name)  # found
    ParallelSSHClient(["one"]).run_command("ls " + name)  # found
    gevent.subprocess.run("ls " + name, shell=True)  # found
    gevent.subprocess.run(["ls", name])
    await trio.run_process(["ls", name])
    boto3.client("ssm").send_command(Parameters={"commands": ["ls " + name]})  # found
    boto3.client("ssm").send_command(InstanceIds=[name], Parameters={"commands": ["ls"]})
""",
    "query_services": """
import boto3
import polars
import rdflib
from flask import Flask, request
from neomodel import db
from py2neo import Graph

app = Flask(__name__)


@app.route("/a")
def a():
    name = request.args["name"]
    Graph("bolt://shop").run("MATCH (s {name: '" + name + "'}) RETURN s")  # found
    Graph("bolt://shop").run("MATCH (s {name: $name}) RETURN s", name=name)
    db.cypher_query("MATCH (s {name: '" + name + "'}) RETURN s")  # found
    db.cypher_query("MATCH (s {name: $name}) RETURN s", {"name": name})
    rdflib.Graph().update("DELETE WHERE { ?a ?b '" + name + "' }")  # found
    polars.read_database("SELECT * FROM shop WHERE name = '" + name + "'", None)  # found
    boto3.client("athena").start_query_execution(QueryString="SELECT '" + name + "'")  # found
    boto3.client("athena").start_query_execution(QueryString="SELECT ?", ExecutionParameters=[name])
""",
    "named_files": """
import gzip
import io
import keras
import pandas
import patsy
import pickle5
import ruamel.yaml
from flask import Flask, request
from pypdf import PdfReader

app = Flask(__name__)


@app.route("/a")
def a():
    name = request.args["name"]
    gzip.open(name)  # found
    gzip.open(io.BytesIO(request.data))
    PdfReader(name)  # found
    PdfReader(request.files["file"])
    PdfReader(io.BytesIO(request.data))
    pandas.read_csv("shop.csv").to_csv(name)  # found
    pickle5.loads(request.data)  # found
    ruamel.yaml.load(request.data, Loader=ruamel.yaml.Loader)  # found
    ruamel.yaml.load(request.data, Loader=ruamel.yaml.SafeLoader)
    keras.models.load_model(name)  # found
    keras.models.load_model(name, safe_mode=True)
    patsy.dmatrix(name)  # found
    patsy.dmatrix("price ~ size", {"size": name})
    return ""
""",
    "logs": """
from flask import Flask, request
from loguru import logger

app = Flask(__name__)


@app.route("/")
def index():
    logger.info("asked for " + request.args["name"])  # found
    logger.trace("asked for " + request.args["name"])
    return ""
""",
}


@pytest.fixture(scope="module")
def found():
    tree = MemoryTree({f"{name}.py": code.encode() for name, code in PROGRAMS.items()}, "app")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": CHECKS}), silent).report
    assert not report.problems
    return {(finding.place.file, finding.place.line) for finding in report.findings}


@pytest.mark.parametrize("name", PROGRAMS)
def test_libraries_give_requests_and_do_harm(name, found):
    marked = {n for n, line in enumerate(PROGRAMS[name].splitlines(), 1) if re.search("# found$", line)}
    assert {line for path, line in found if path == f"{name}.py"} == marked
