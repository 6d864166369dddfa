"""Routes of browsers, services of Nest, queries of TypeORM, in programs as their documentation has them."""

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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_routes_are_sources_and_builders_take_text(name):
    code = PROGRAMS[name]
    tree = MemoryTree({name: code.encode()}, "app")
    request = ScanRequest(Path("."), None, {"rules": ("command-injection", "cross-site-scripting", "sql-injection")})
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
