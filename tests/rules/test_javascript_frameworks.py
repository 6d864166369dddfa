"""Routes of browsers, requests and answers of servers, services of Nest, queries of TypeORM, as documented."""

import re
from pathlib import Path

import pytest

from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

PROGRAMS = {
    "tools.ts": """
import { exec } from "node:child_process";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const tools = new McpServer({ name: "files", version: "1.0.0" });
tools.tool("remove", { path: z.string() }, async ({ path }) => {
  exec("rm " + path); // found
  return { content: [] };
});
tools.registerTool("list", { inputSchema: { path: z.string() } }, async (input) => {
  exec(`ls ${input.path}`); // found
  return { content: [] };
});

const server = new Server({ name: "files", version: "1.0.0" });
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  exec("cat " + request.params.arguments.path); // found
  return { content: [] };
});

export function helper(path: string) {
  exec("rm " + path);
}
""",
    "texts.js": """
import express from "express";

const app = express();
app.use(express.text());
app.post("/echo", (req, res) => {
  res.send(req.body); // found
  res.send(req.query);
});
""",
    "page.jsx": """
import { useLocation, useParams, useSearchParams } from "react-router-dom";

export function Search() {
  const [parameters] = useSearchParams();
  return <div dangerouslySetInnerHTML={{ __html: parameters.get("q") }} />; // found
}

export function Shop() {
  const { name } = useParams();
  document.title = name;
  return <div dangerouslySetInnerHTML={{ __html: name }} />; // found
}

export function Found() {
  const location = useLocation();
  return <p>{location.search}</p>;
}
""",
    "preview.ts": """
import { DomSanitizer } from "@angular/platform-browser";
import { ActivatedRoute } from "@angular/router";

export class Preview {
  constructor(private sanitizer: DomSanitizer, private route: ActivatedRoute) {}

  text() {
    return this.sanitizer.bypassSecurityTrustHtml(this.route.snapshot.queryParams["text"]); // found
  }

  name() {
    return this.sanitizer.bypassSecurityTrustHtml(this.route.snapshot.paramMap.get("name")); // found
  }

  rule() {
    return this.sanitizer.bypassSecurityTrustHtml("<hr>");
  }
}
""",
    "view.js": """
import { h } from "vue";
import { useRoute } from "vue-router";

export default {
  render() {
    const route = useRoute();
    return h("div", { innerHTML: route.query.text, title: route.query.title }); // found
  },
  methods: {
    show() {
      document.body.innerHTML = this.$route.params.text; // found
      document.body.textContent = this.$route.params.text;
    },
  },
};
""",
    "controller.ts": """
import { Controller, Get, Injectable, Param, ParseIntPipe, ParseUUIDPipe, Query } from "@nestjs/common";
import { DataSource } from "typeorm";

@Injectable()
export class Shops {
  constructor(private readonly source: DataSource) {}

  find(name: string) {
    return this.source.query("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  }

  safe(name: string) {
    return this.source.query("SELECT * FROM shop WHERE name = $1", [name]);
  }
}

@Controller("shops")
export class ShopController {
  constructor(private readonly shops: Shops) {}

  @Get()
  find(@Query("name") name: string) {
    this.shops.safe(name);
    return this.shops.find(name);
  }

  @Get(":number")
  show(@Param("number", ParseIntPipe) number, @Param("key", new ParseUUIDPipe()) key, @Param("name") name) {
    document.body.innerHTML = number;
    document.body.innerHTML = key;
    document.body.innerHTML = name; // found
  }
}
""",
    "shops.ts": """
import express from "express";
import { DataSource, getRepository } from "typeorm";
import { Shop } from "./shop";

const app = express();
const source = new DataSource({});

app.get("/shops", async (request, response) => {
  const name = request.query.name;
  await source.manager.query("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  await source.manager.query("SELECT * FROM shop WHERE name = $1", [name]);
  await getRepository(Shop).createQueryBuilder("shop").where("name = '" + name + "'").getMany(); // found
  await getRepository(Shop).createQueryBuilder("shop").where("name = :name", { name }).getMany();
  await getRepository(Shop).find({ where: { name } });
});
""",
    "drivers.js": """
const express = require("express");
const open = require("some-driver")();
const db = open("shop");
const app = express();

app.get("/shops", async (req, res) => {
  const name = req.query.name;
  const text = "SELECT * FROM shop WHERE name = '" + name + "'";
  await db.oneOrNone(text); // found
  await db.any(`DELETE FROM shop WHERE name = '${name}'`); // found
  await db.any("SELECT * FROM shop WHERE name = $1", [name]);
  db.remember("SELECT * FROM shop WHERE name = '" + name + "'");
});
""",
    "app/routes/shop.tsx": """
import { exec } from "node:child_process";
import { redirect } from "@remix-run/node";

export async function loader({ request, params }) {
  exec("ls " + params.name); // found
  const url = new URL(request.url);
  if (url.searchParams.get("back")) return redirect("/shops");
  return redirect(url.searchParams.get("next")); // found
}

export async function action({ request }) {
  const form = await request.formData();
  exec("ls " + form.get("name")); // found
  exec("ls " + Number(form.get("number")));
}

export function helper({ request, params }) {
  exec("ls " + params.name);
}
""",
    "src/routes/+page.server.ts": """
import { exec } from "node:child_process";
import { redirect } from "@sveltejs/kit";

export const actions = {
  default: async ({ request, url }) => {
    const data = await request.formData();
    exec("ls " + data.get("name")); // found
    throw redirect(303, url.searchParams.get("next")); // found
  },
};

export const others = {
  default: async ({ request }) => {
    exec("ls " + (await request.formData()).get("name"));
  },
};
""",
    "src/routes/(app)/shops/[id]/+page.server.ts": """
import { redirect } from "@sveltejs/kit";

export const load = async ({ url, params }) => {
  if (params.id === "new") redirect(302, `${url.pathname}/first`);
  if (params.id === "all") redirect(302, url.pathname + "/first" + url.search);
  redirect(302, `${params.id}/first`); // found
};
""",
    "src/routes/[...rest]/+page.server.ts": """
import { redirect } from "@sveltejs/kit";

export const load = async ({ url }) => {
  redirect(302, `${url.pathname}/first`); // found
};
""",
    "app/page.tsx": """
import { exec } from "node:child_process";

export async function list(form: FormData) {
  exec("ls " + form.get("name")); // found
}

function local(form: FormData) {
  exec("ls " + form.get("name"));
}

export default async function Page({ searchParams }) {
  return <div dangerouslySetInnerHTML={{ __html: searchParams.q }} />; // found
}
""",
    "app/card.tsx": """
export default function Card({ searchParams }) {
  return <div dangerouslySetInnerHTML={{ __html: searchParams.q }} />;
}
""",
    "app/api/go/route.ts": """
import { NextRequest, NextResponse } from "next/server";

export async function GET(request: NextRequest) {
  return NextResponse.redirect(request.nextUrl.searchParams.get("to")); // found
}

export async function POST(request: Request) {
  const { name } = await request.json();
  if (name) return new Response(`<h1>${name}</h1>`, { headers: { "Content-Type": "text/html" } }); // found
  return new Response(`<h1>${name}</h1>`, { headers: { "Content-Type": "text/plain" } });
}
""",
    "pages/shop.tsx": """
import { exec } from "node:child_process";

export const getServerSideProps = async (context) => {
  exec("ls " + context.query.name); // found
  return { redirect: { destination: context.query.next, permanent: false } }; // found
};
""",
    "hono.ts": """
import { exec } from "node:child_process";
import { Hono } from "hono";

const app = new Hono();
app.get("/a", (c) => c.html("<h1>" + c.req.query("name"))); // found
app.get("/b", (c) => c.redirect(c.req.query("to"))); // found
app.post("/c", async (c) => {
  const body = await c.req.json();
  exec("ls " + body.name); // found
  return c.text("<h1>" + body.name);
});
""",
    "server/api/shop.ts": """
import { exec } from "node:child_process";

export default defineEventHandler(async (event) => {
  const { name, next } = getQuery(event);
  exec("ls " + name); // found
  exec("ls " + (await readBody(event)).name); // found
  return sendRedirect(event, next); // found
});
""",
    "worker.js": """
import { exec } from "node:child_process";

export default {
  async fetch(request) {
    const url = new URL(request.url);
    return Response.redirect(url.searchParams.get("to")); // found
  },
  async sweep(request) {
    return Response.redirect(request.url);
  },
};

Bun.serve({
  fetch(request) {
    exec("ls " + new URL(request.url).searchParams.get("name")); // found
  },
});
""",
    "sockets.js": """
const { exec } = require("node:child_process");
const { WebSocketServer } = require("ws");
const io = require("socket.io")(3000);

io.on("connection", (socket) => {
  socket.on("list", (data) => {
    exec("ls " + data.name); // found
  });
});
new WebSocketServer({ port: 80 }).on("connection", (socket) => {
  socket.on("message", (data) => {
    exec("ls " + JSON.parse(data).name); // found
  });
});
""",
    "window.js": """
const { ipcMain } = require("electron");
const { exec } = require("node:child_process");

ipcMain.handle("list", async (event, name) => {
  exec("ls " + event.name);
  exec("ls " + name); // found
});
""",
    "procedures.ts": """
import { exec } from "node:child_process";
import { initTRPC } from "@trpc/server";
import { z } from "zod";

const t = initTRPC.create();
export const router = t.router({
  list: t.procedure.input(z.object({ name: z.string() })).query(({ input, ctx }) => {
    exec("ls " + ctx.folder);
    exec("ls " + input.name); // found
  }),
});
""",
    "clouds.js": """
const { exec } = require("node:child_process");
const functions = require("firebase-functions");
const { app } = require("@azure/functions");

exports.call = functions.https.onCall((data, context) => {
  exec("ls " + data.name); // found
});
exports.request = functions.https.onRequest((incoming, outgoing) => {
  outgoing.send("<h1>" + incoming.query.name); // found
});
app.http("list", {
  handler: async (request, context) => {
    exec("ls " + (await request.json()).name); // found
  },
});
""",
    "responses.js": """
exports.handler = async (event) => {
  const name = event.queryStringParameters.name;
  if (event.moved) {
    return { statusCode: 302, headers: { Location: name } }; // found
  }
  if (event.plain) {
    return { statusCode: 200, headers: { "Content-Type": "application/json" }, body: "<h1>" + name };
  }
  return { statusCode: 200, headers: { "Content-Type": "text/html" }, body: "<h1>" + name }; // found
};
""",
    "schema.js": """
const { exec } = require("node:child_process");
const { ApolloServer } = require("apollo-server");

const resolvers = {
  Query: { list: (parent, { name }) => { exec("ls " + name); } }, // found
  Shop: { list: (parent, { name }) => { exec("ls " + name); } },
};
new ApolloServer({ typeDefs: "", resolvers });
""",
    "pages.controller.ts": """
import { exec } from "node:child_process";
import { Controller, Get, Header, Post, Query, Redirect } from "@nestjs/common";
import { Args, Resolver } from "@nestjs/graphql";

@Controller("pages")
export class Pages {
  @Get("go")
  @Redirect()
  go(@Query("to") to: string) {
    return { url: to }; // found
  }

  @Get("name")
  name(@Query("name") name: string) {
    return `<h1>${name}</h1>`; // found
  }

  @Get("plain")
  @Header("Content-Type", "text/plain")
  plain(@Query("name") name: string) {
    return `<h1>${name}</h1>`;
  }

  @Get("object")
  object(@Query("name") name: string) {
    return { title: `<h1>${name}</h1>`, url: name };
  }
}

@Resolver()
export class Shops {
  list(@Args("name") name: string) {
    exec("ls " + name); // found
  }
}
""",
    "hapi.js": """
const Hapi = require("@hapi/hapi");
const server = Hapi.server({ port: 3000 });
server.route({ method: "GET", path: "/a", handler: (request, h) => "<h1>" + request.query.name }); // found
server.route({ method: "GET", path: "/b", handler: (request, h) => ({ name: "<h1>" + request.query.name }) });
server.route({ method: "GET", path: "/c", handler: (request, h) => h.response("<h1>" + request.query.name) }); // found
server.route({
  method: "GET",
  path: "/d",
  handler: (request, h) => h.response("<h1>" + request.query.name).type("text/plain"),
});
""",
    "watch.ts": """
import { DomSanitizer } from "@angular/platform-browser";
import { ActivatedRoute } from "@angular/router";

export class Watch {
  constructor(private sanitizer: DomSanitizer, private route: ActivatedRoute) {
    this.route.queryParams.subscribe((parameters) => {
      this.page = this.sanitizer.bypassSecurityTrustHtml(parameters.text); // found
    });
    this.route.data.subscribe((data) => {
      this.page = this.sanitizer.bypassSecurityTrustHtml(data.text);
    });
  }
}
""",
    "context.ts": """
import { exec } from "node:child_process";
import type { HttpContext } from "@adonisjs/core/http";

export default class Shops {
  async index({ request, response }: HttpContext) {
    exec("ls " + request.input("name")); // found
    exec("ls " + request.id());
    return response.redirect(request.qs().to); // found
  }
}
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_routes_are_sources_and_builders_take_text(name):
    code = PROGRAMS[name]
    tree = MemoryTree({name: code.encode()}, "app")
    checks = ("command-injection", "cross-site-scripting", "sql-injection", "open-redirect")
    request = ScanRequest(Path("."), None, {"rules": checks})
    report = scan_tree(tree, request, silent).report
    assert not [problem for problem in report.problems if problem.level != "warning"]
    marked = {number for number, line in enumerate(code.splitlines(), 1) if re.search("// found$", line)}
    assert {finding.place.line for finding in report.findings} == marked


TABLES = """
import express from "express";
import { PriceService } from "./prices";
IMPORT
const app = express();
const prices = new PriceService();
app.delete("/prices", (req, res) => {
  prices.deleteMany({ source: req.body.source });
});
"""


@pytest.mark.parametrize(
    ("imported", "documents"),
    [
        ("", True),
        ('import { PrismaClient } from "@prisma/client";', False),
        ('import knex from "knex";', False),
        ('import knex from "knex"; import mongoose from "mongoose";', True),
    ],
)
def test_a_program_over_tables_has_no_queries_of_documents(imported, documents):
    tree = MemoryTree({"app.ts": TABLES.replace("IMPORT", imported).encode()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("nosql-injection",)})).report
    assert bool(report.findings) is documents


BOOKS = """
import Koa from "koa";
import Router from "@koa/router";
import mongoose from "mongoose";
IMPORT
const router = new Router();
const Book = mongoose.model("Book");
router.get("/book", async (ctx) => {
  ctx.body = await Book.findOne({ slug: ctx.query.slug });
});
"""


@pytest.mark.parametrize(("imported", "objects"), [("", False), ('import withObjects from "koa-qs";', True)])
def test_a_query_holds_objects_where_a_parser_nests_them(imported, objects):
    tree = MemoryTree({"app.js": BOOKS.replace("IMPORT", imported).encode()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("nosql-injection",)})).report
    assert bool(report.findings) is objects
