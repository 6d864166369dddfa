"""Requests of Python's web frameworks and sinks of libraries, in programs as their documentation has them."""

import re
from pathlib import Path

import pytest

from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CHECKS = (
    "command-injection",
    "cross-site-scripting",
    "sql-injection",
    "nosql-injection",
    "code-injection",
    "request-forgery",
)
PROGRAMS = {
    "validators of forms": """
import os
from wtforms import Form, StringField


class Listed:
    def __call__(self, form, field):
        os.system("ls " + field.data)  # found
        os.system("ls " + field.label)


class Search(Form):
    name = StringField()

    def validate_name(form, field):
        os.system("ls " + field.data)  # found

    def describe(self, form, field):
        os.system("ls " + field.data)
""",
    "registered functions": """
import os
import gradio as gr
import socketio
from bottle import Bottle
from flask import Flask
from flask_socketio import SocketIO
from xmlrpc.server import SimpleXMLRPCServer

app = Flask(__name__)
shop = Bottle()
sockets = socketio.Server()
others = SocketIO(app)


def page(name):
    return "<h1>" + name  # found


def number(name):
    return "<h1>" + name


def help_page(name):
    return "<h1>" + name


app.add_url_rule("/shops/<name>", "page", page)
app.add_url_rule("/numbers/<int:name>", view_func=number)


def other_page(name):
    return "<h1>" + name  # found


shop.route("/shops/<name>", "GET", other_page)


def remove(name):
    os.system("rm " + name)  # found


def keep(name):
    os.system("ls " + name)


SimpleXMLRPCServer(("", 80)).register_function(remove)
keep("shops")


def show(name):
    os.system("ls " + name)  # found


def chosen(name):
    os.system("ls " + name)  # found


gr.Interface(fn=show, inputs="text", outputs="text").launch()
gr.Button().click(chosen, inputs=[gr.Textbox()])


@sockets.on("list")
def listed(sid, data):
    os.system("ls " + sid)
    os.system("ls " + data["name"])  # found


@others.on("list")
def also_listed(data):
    os.system("ls " + data["name"])  # found
""",
    "applications of clouds": """
import os
import streamlit as st
from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from chalice import Chalice
from litestar import get, post
from ninja import NinjaAPI
from flask_restx import Api, Resource

app = Chalice(app_name="shop")
events = APIGatewayRestResolver()
api = NinjaAPI()
rest = Api()


@app.route("/shops/{name}")
def shop(name):
    os.system("ls " + name)  # found
    os.system("ls " + app.current_request.json_body["name"])  # found
    os.system("ls " + app.current_request.method)


@events.get("/shops/<name>")
def event(name: str):
    os.system("ls " + name)  # found
    os.system("ls " + events.current_event.get_query_string_value(name="name"))  # found


@api.get("/shops")
def ninja(request, name: str, number: int):
    os.system("ls " + name)  # found
    os.system("ls " + str(number))


@post("/shops")
async def litestar(data: dict, name: str, service: Service) -> None:
    os.system("ls " + data["name"])  # found
    os.system("ls " + name)  # found
    os.system("ls " + service.folder)


class Shops(Resource):
    def post(self):
        os.system("ls " + rest.payload["name"])  # found


os.system("ls " + st.text_input("name"))  # found
os.system("ls " + str(st.number_input("number")))
""",
    "messages": """
import os
import shop_pb2_grpc
from discord.ext import commands
from telegram import Update

bot = commands.Bot("!")


class Shop(shop_pb2_grpc.ShopServicer):
    def Remove(self, request, context):
        os.system("rm " + request.name)  # found

    def helper(self, request):
        os.system("rm " + request.name)


async def show(update: Update, context):
    os.system("ls " + update.message.text)  # found
    os.system("ls " + context.args[0])  # found


@bot.command()
async def ping(ctx, host):
    os.system("ping " + host)  # found
    os.system("ping " + ctx.prefix)
""",
    "serializers": """
import os
from django import forms
from django.views.generic import FormView
from rest_framework import serializers, viewsets


class Shop(serializers.Serializer):
    name = serializers.CharField()
    number = serializers.IntegerField()


class Search(forms.Form):
    name = forms.CharField()
    number = forms.IntegerField()


class Shops(viewsets.ModelViewSet):
    serializer_class = Shop

    def create(self, request):
        serializer = Shop(data=request.data)
        serializer.is_valid(raise_exception=True)
        os.system("ls " + serializer.validated_data["name"])  # found
        os.system("ls " + str(serializer.validated_data["number"]))
        shop = serializer.save()
        os.system("ls " + shop.folder)
        os.system("ls " + shop.name)  # found
        note = shop.notes.create(text=request.data["text"])
        os.system("ls " + note.folder)
        os.system("ls " + note.text)  # found

    def perform_create(self, serializer):
        os.system("ls " + serializer.validated_data["name"])  # found
        os.system("ls " + str(serializer.validated_data["number"]))
        os.system("ls " + serializer.context["folder"])


class Searches(FormView):
    form_class = Search

    def form_valid(self, form):
        os.system("ls " + form.cleaned_data["name"])  # found
        os.system("ls " + str(form.cleaned_data["number"]))
""",
    "clients": """
import os
from fastapi import FastAPI
from httpx import AsyncClient

app = FastAPI()


@app.get("/shops")
async def shops(address: str):
    async with AsyncClient() as client:
        async with client.stream("GET", address) as answer:  # found
            return await answer.aread()


@app.get("/names")
async def names(address: str):
    async with AsyncClient() as client:
        await client.head(address)  # found
        await client.stream(address, "https://shop.example/")
""",
    "keywords of views": """
import os
from django.urls import path
from django.views.generic import DetailView


class Shop(DetailView):
    def get_object(self):
        os.system("ls " + self.kwargs["name"])  # found
        os.system("ls " + self.kwargs["number"])


urlpatterns = [path("shops/<name>/<int:number>", Shop.as_view())]
""",
    "pages that are written": """
import falcon
from urllib.parse import parse_qs


class Shop:
    def on_get(self, req, resp):
        resp.content_type = "text/html"
        resp.text = "<h1>" + req.get_param("name")  # found

    def on_post(self, req, resp):
        resp.text = "<h1>" + req.get_param("name")


def application(environ, start_response):
    name = parse_qs(environ["QUERY_STRING"])["name"][0]
    start_response("200 OK", [("Content-Type", "text/html")])
    return [("<h1>" + name).encode()]  # found


def plain(environ, start_response):
    name = parse_qs(environ["QUERY_STRING"])["name"][0]
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [("<h1>" + name).encode()]
""",
    "django forms": """
import os
from django import forms
from django.contrib.auth import authenticate
from shop.models import Shop


class Login(forms.Form):
    email = forms.CharField()
    shop = forms.CharField()

    def clean(self):
        self.user = authenticate(username=self.cleaned_data["email"])
        self.place = Shop.objects.filter(name=self.cleaned_data["shop"]).first()
        self.address = self.cleaned_data["email"]
        return self.cleaned_data


class Search(forms.Form):
    name = forms.CharField()

    def __init__(self, folder, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder = folder


def search(request):
    form = Search("shops", request.POST or None)
    if form.is_valid():
        os.system("ls " + form.cleaned_data["name"])  # found
    form = Search(request.GET["folder"], {"name": "shops"})
    if form.is_valid():
        os.system("ls " + form.cleaned_data["name"])


def sign_in(request):
    form = Login(request.POST)
    if form.is_valid():
        os.system("id " + form.user.name)
        os.system("ls " + form.place.folder)
        os.system("id " + form.cleaned_data["email"])  # found
        os.system("id " + form.data["email"])  # found
        os.system("id " + form.address)  # found
""",
    "fastapi dependencies": """
import os
from typing import Annotated
from fastapi import Depends, FastAPI, Form
from fastapi.security import OAuth2PasswordRequestForm
from sqlalchemy.orm import Session

app = FastAPI()


class Credentials:
    def __init__(self, name: str = Form(""), word: str = Form("")):
        self.name = name


class Service:
    def __init__(self, session: Session = Depends(lambda: None)):
        self.session = session


def page(word: str = "", limit: int = 10):
    os.system("find " + word)  # found
    os.system(f"head -{limit} words")
    return {"word": word, "folder": "words"}


def session():
    return Session()


Page = Annotated[dict, Depends(page)]


@app.get("/words")
def words(found: dict = Depends(page), db=Depends(session)):
    os.system("find " + found["word"])  # found
    os.system("find " + found["folder"])
    os.system("find " + db.name)


@app.get("/pages")
async def pages(found: Page, other: Annotated[dict, Depends(page)]):
    os.system("find " + found["word"])  # found
    os.system("find " + other["word"])  # found
    os.system("find " + other["folder"])


@app.post("/in")
def sign_in(form: Credentials = Depends(), service: Service = Depends()):
    os.system("id " + form.name)  # found
    os.system("id " + service.session.name)


@app.post("/token")
def token(form: Annotated[OAuth2PasswordRequestForm, Depends()]):
    os.system("id " + form.username)  # found
""",
    "graphene": """
import os
import graphene
from graphene import relay


class Search(graphene.ObjectType):
    hosts = graphene.List(graphene.String, name=graphene.String(), limit=graphene.Int())
    total = graphene.Int(word=graphene.NonNull(graphene.Int))

    def resolve_hosts(self, info, name, limit=10):
        os.system(f"nslookup {name}")  # found
        os.system(f"head -{limit} hosts")
        return []

    def resolve_total(self, info, word, **rest):
        os.system(f"wc {word}")
        os.system("wc " + rest["file"])  # found

    def describe(self, first, second, third):
        os.system(third)


class Import(graphene.Mutation):
    class Arguments:
        path = graphene.String(required=True)
        port = graphene.Int()

    done = graphene.Boolean()

    def mutate(root, info, path, port=80):
        os.system(f"fetch :{port}")
        os.system(f"fetch {path}")  # found


class Rename(relay.ClientIDMutation):
    @classmethod
    def mutate_and_get_payload(cls, root, info, **input):
        os.system("rename " + input["name"])  # found
""",
    "flask's g": """
import os
from flask import Flask, g, request

app = Flask(__name__)


class Runner:
    def run(self, command):
        os.system(command)  # found

    def stop(self, command):
        os.system(command)


@app.before_request
def prepare():
    g.runner = Runner()
    g.name = request.args["name"]
    g.count = int(request.args["count"])


@app.route("/")
def start():
    g.runner.run(request.args["command"])
    g.runner.stop("now")
    os.system(g.name)  # found
    os.system(f"head -{g.count}")
    return ""
""",
    "functions run elsewhere": """
import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool

app = FastAPI()
pool = ThreadPoolExecutor()


class Shop:
    def remove(self, name, kind):
        os.system(kind)
        os.system(name)  # found


def wait(seconds, name):
    os.system(seconds)
    os.system(name)  # found


def pack(name):
    os.system(name)  # found


@app.get("/")
async def remove(request: Request):
    name = request.query_params["name"]
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, Shop().remove, name, "book")
    await run_in_threadpool(wait, "sleep 1", name)
    pool.submit(pack, name)
    return {}
""",
    "evaluators": """
import execjs
import js2py
import numexpr
from PIL import ImageMath
import pandas as pd
import sympy
from flask import Flask, request

app = Flask(__name__)


@app.route("/")
def start():
    text = request.args["text"]
    js2py.eval_js(text)  # found
    (js2py.eval_js6 if app.debug else js2py.eval_js)(text)  # found
    context = execjs.compile("function add(a, b) { return a + b }")
    context.call("add", text, 1)
    context.eval(text)  # found
    numexpr.evaluate(text)  # found
    ImageMath.eval(text, a=1)  # found
    ImageMath.lambda_eval(lambda names: names["a"], a=text)
    sympy.sympify(text)  # found
    frame = pd.read_csv("shops.csv")
    frame.query(text)  # found
    frame.query("price > 10")
    return ""
""",
    "strawberry": """
import os
import strawberry


@strawberry.type
class Query:
    @strawberry.field
    def lookup(self, info, name: str, limit: int) -> str:
        os.system(name)  # found
        os.system(f"head -{limit}")
        return ""

    @strawberry.mutation
    def remove(self, name: str) -> bool:
        os.system("rm " + name)  # found
        return True
""",
    "ariadne": """
import os
from ariadne import MutationType, ObjectType, QueryType

query = QueryType()
mutation = MutationType()
user = ObjectType("User")


@query.field("hosts")
def resolve_hosts(_, info, name, limit: int = 10):
    os.system(name)  # found
    os.system(f"head -{limit}")


@mutation.field("remove")
def resolve_remove(obj, info, **arguments):
    os.system("rm " + arguments["name"])  # found


@user.field("fullName")
def resolve_full_name(obj, *_):
    os.system(obj.name)
""",
    "servers of the Model Context Protocol": """
import os
from mcp.server import Server
from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("files")
server = Server("files")


@mcp.tool()
async def grep(pattern: str, limit: int, ctx: Context) -> str:
    await ctx.info("grep")
    os.system(f"head -{limit}")
    os.system("grep " + pattern)  # found


@mcp.resource("log://{name}")
def log(name: str) -> str:
    os.system("cat " + name)  # found


@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "list":
        os.system("ls " + arguments["path"])  # found


def helper(pattern):
    os.system("grep " + pattern)
""",
    "FastMCP of its own": """
import os
from fastmcp import FastMCP

mcp = FastMCP("files")


@mcp.tool
def remove(name: str):
    os.system("rm " + name)  # found
""",
    "http.server": """
import html
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlparse(self.path).query)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<h1>{query['name'][0]}</h1>".encode())  # found
        self.wfile.write(("<h1>%s</h1>" % html.escape(query["name"][0])).encode())

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        self.wfile.write(bytes("<p>" + body["text"], "utf-8"))  # found


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlparse(self.path).query)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(query).encode())
        self.wfile.write(query["name"][0].encode())
""",
    "drivers that no model knows": """
import somedriver
from flask import Flask, request

app = Flask(__name__)
database = somedriver.open("shop")


@app.route("/run")
def run():
    name = request.args["name"]
    database.fetch_rows("SELECT * FROM shop WHERE name = '%s'" % name)  # found
    query = f"DELETE FROM shop WHERE name = '{name}'"
    database.connection().run_in_pool(query)  # found
    database.fetch_rows("SELECT * FROM shop WHERE name = ?", name)
    database.fetch_rows("shop " + name)
    database.remember("SELECT * FROM shop WHERE name = '%s'" % name)
    return ""
""",
    "bottle": """
import os
from bottle import Bottle, request, route, static_file, template

app = Bottle()


@route("/hello/<name>")
def hello(name):
    os.system(name)  # found
    os.system(request.query.command)  # found
    return "<b>" + request.query["x"]  # found


@app.post("/run")
def run():
    os.system(request.forms.get("command"))  # found
    os.system(request.json["command"])  # found
    os.system(request.method)
    return template("<b>{{name}}</b>", name=request.forms.get("name"))
""",
    "cherrypy": """
import os
import cherrypy


class Root:
    @cherrypy.expose
    def index(self, name="x"):
        os.system(name)  # found
        os.system(cherrypy.request.params["x"])  # found
        return "<b>" + name  # found

    def helper(self, name):
        os.system(name)
""",
    "falcon": """
import os
import falcon


class Quote:
    def on_get(self, req, resp):
        os.system(req.get_param("x"))  # found
        os.system(req.params["x"])  # found
        os.system(req.method)

    def on_post(self, req, resp, name):
        os.system(req.media["x"])  # found
        os.system(name)  # found


app = falcon.App()
app.add_route("/quotes/{name}", Quote())
""",
    "pyramid": """
import os
from pyramid.response import Response
from pyramid.view import view_config


@view_config(route_name="hello")
def hello(request):
    os.system(request.params["x"])  # found
    os.system(request.matchdict["x"])  # found
    os.system(request.method)
    return Response("<b>" + request.GET["x"])  # found
""",
    "sanic": """
import os
from sanic import Sanic
from sanic.response import html, json

app = Sanic("shop")


@app.get("/shops/<name>")
async def shop(request, name):
    os.system(request.args.get("x"))  # found
    os.system(name)  # found
    os.system(request.json["x"])  # found
    os.system(request.method)
    if name == "data":
        return json({"name": request.form.get("x")})
    return html("<b>" + request.form.get("x"))  # found
""",
    "quart": """
import os
from quart import Quart, request

app = Quart(__name__)


@app.route("/")
async def index():
    os.system(request.args["x"])  # found
    data = await request.get_json()
    os.system(data["x"])  # found
    os.system(request.method)
    return "<b>" + request.args["x"]  # found
""",
    "flask-restful": """
import os
from flask_restful import Resource, reqparse

parser = reqparse.RequestParser()
parser.add_argument("name")


class Shops(Resource):
    def get(self, name):
        os.system(name)  # found

    def post(self):
        os.system(parser.parse_args()["name"])  # found
""",
    "serverless functions": """
import json
import os


def handler(event, context):
    os.system(event["queryStringParameters"]["x"])  # found
    os.system(json.loads(event["body"])["x"])  # found
    os.system(context.function_name)


def helper(event, name):
    os.system(event["x"])
""",
    "Django, not imported": """
import os


def view(request, page):
    os.system(request.GET["x"])  # found
    os.system(request.POST.get("x"))  # found
    os.system(request.method)
    os.system(page.GET)
""",
    "databases": """
import peewee
import pymongo
import redis
from flask import request


class Shop(peewee.Model):
    pass


def find():
    name = request.args["name"]
    Shop.raw("SELECT * FROM shop WHERE name = '" + name + "'")  # found
    Shop.raw("SELECT * FROM shop WHERE name = ?", name)
    peewee.SqliteDatabase("shops").execute_sql("DELETE FROM shop WHERE name = '" + name + "'")  # found
    redis.Redis().eval("return " + name, 0)  # found
    redis.Redis().get(name)
    pymongo.MongoClient().shops.shop.find({"$where": "this.name == '" + name + "'"})  # found
    return pymongo.MongoClient().shops.shop.find({"name": name})
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_requests_are_sources_and_libraries_harm(name):
    code = PROGRAMS[name]
    tree = MemoryTree({"app.py": code.encode()}, "app")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": CHECKS}), silent).report
    assert not report.problems
    marked = {number for number, line in enumerate(code.splitlines(), 1) if re.search("# found$", line)}
    assert {finding.place.line for finding in report.findings} == marked


CONNEXION = """
import os
import connexion

app = connexion.App(__name__)
app.add_api("openapi.yaml")
"""
SHOPS = """
import os


def find(word, limit, **rest):
    os.system(f"grep {word}")  # found
    os.system(f"head -{limit}")
    os.system("wc " + rest["file"])  # found


def change(body):
    os.system("set " + body["name"])  # found


def helper(word):
    os.system(f"grep {word}")
"""
INTERFACE = """
openapi: 3.0.1
paths:
  /shops:
    get:
      operationId: shops.find
      parameters:
        - {name: word, in: query, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
    post:
      operationId: change
      x-openapi-router-controller: shops
"""


@pytest.mark.parametrize("app", [CONNEXION, "import os"])
def test_an_interface_names_the_functions_that_requests_run(app):
    files = {"app.py": app, "shops.py": SHOPS, "openapi.yaml": INTERFACE}
    tree = MemoryTree({name: code.encode() for name, code in files.items()}, "app")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": CHECKS}), silent).report
    marked = {number for number, line in enumerate(SHOPS.splitlines(), 1) if re.search("# found$", line)}
    assert {finding.place.line for finding in report.findings} == (marked if app is CONNEXION else set())
    assert not report.problems
