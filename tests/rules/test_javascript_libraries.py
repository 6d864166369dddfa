"""Sources and sinks of JavaScript's libraries that fewer programs use, in programs as their documentation has them."""

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
    "ldap-injection",
    "path-traversal",
    "regex-injection",
    "request-forgery",
    "sql-injection",
    "xpath-injection",
)
PROGRAMS = {
    "databases.js": """
const express = require("express");
const oracledb = require("oracledb");
const neo4j = require("neo4j-driver");
const { Connection, Request } = require("tedious");
const { sql } = require("drizzle-orm");
const { sql: ksql } = require("kysely");
const { raw } = require("objection");
const cassandra = require("cassandra-driver");
const app = express();
const driver = neo4j.driver("neo4j://shop.example");

app.get("/a", async (req, res) => {
  const name = req.query.name;
  const connection = await oracledb.getConnection({});
  await connection.execute("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  await connection.execute("SELECT * FROM shop WHERE name = :name", [name]);
});

app.get("/b", async (req, res) => {
  const name = req.query.name;
  const session = driver.session();
  await session.run("MATCH (s:Shop {name: '" + name + "'}) RETURN s"); // found
  await session.run("MATCH (s:Shop {name: $name}) RETURN s", { name });
  await session.executeRead((tx) => tx.run("MATCH (s:Shop {name: '" + name + "'}) RETURN s")); // found
  await driver.executeQuery("MATCH (s:Shop {name: '" + name + "'}) RETURN s"); // found
});

app.get("/c", async (req, res) => {
  const name = req.query.name;
  const connection = new Connection({});
  connection.execSql(new Request("SELECT * FROM shop WHERE name = '" + name + "'", () => {})); // found
});

app.get("/d", async (req, res) => {
  const name = req.query.name;
  sql.raw("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  ksql.raw("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  raw("SELECT * FROM shop WHERE name = '" + name + "'"); // found
  sql`SELECT * FROM shop WHERE name = ${name}`;
  const client = new cassandra.Client({});
  await client.execute("SELECT * FROM shop WHERE name = '" + name + "'"); // found
});
""",
    "raw.js": """
const express = require("express");
const { Client } = require("irc-framework");
const { db } = require("./tables");
const app = express();
const irc = new Client();

app.get("/", async (req, res) => {
  irc.raw("PRIVMSG " + req.query.name);
  await db.raw("SELECT * FROM shop WHERE name = '" + req.query.name + "'"); // found
  res.end();
});
""",
    "patterns.ts": """
import express from "express";
import escapeRegExp from "lodash/escapeRegExp";
import { escapeRegExp as escaped } from "lodash-es";
import trim from "lodash/trim";
const app = express();

app.get("/", (req, res) => {
  new RegExp(escapeRegExp(req.query.name));
  new RegExp(escaped(req.query.name));
  new RegExp(trim(req.query.name)); // found
  res.end();
});
""",
    "uploads.js": """
const express = require("express");
const fs = require("fs");
const path = require("path");
const busboy = require("busboy");
const { matchedData } = require("express-validator");
const multiparty = require("multiparty");
const { exec } = require("child_process");
const app = express();

app.post("/a", (req, res) => {
  const bb = busboy({ headers: req.headers });
  bb.on("file", (name, file, info) => {
    file.pipe(fs.createWriteStream(path.join("uploads", info.filename)));
    exec("file " + info.filename); // found
  });
  bb.on("field", (name, value) => {
    exec("ls " + value); // found
  });
  req.pipe(bb);
});

app.post("/b", (req, res) => {
  const Busboy = require("busboy");
  const bb = new Busboy({ headers: req.headers });
  bb.on("file", function (fieldname, file, filename, encoding, mimetype) {
    file.pipe(fs.createWriteStream(path.join("uploads", filename)));
    exec("file " + filename); // found
  });
});

app.post("/c", (req, res) => {
  const data = matchedData(req);
  exec("ls " + data.name); // found
  res.end();
});

app.post("/d", (req, res) => {
  const form = new multiparty.Form();
  form.parse(req, (err, fields, files) => {
    exec("ls " + fields.name[0]); // found
  });
});
""",
    "methods.js": """
import { Meteor } from "meteor/meteor";
import { exec } from "child_process";
Meteor.methods({
  shop(name) {
    exec("ls " + name); // found
  },
  "shop.save": function (name) {
    exec("ls " + name); // found
  },
});
Meteor.publish("shops", function (name) {
  exec("ls " + name); // found
});

export function folder(name) {
  exec("ls " + name);
}
""",
    "shops.ts": """
import { get, post, param, requestBody } from "@loopback/rest";
import { exec } from "child_process";
export class ShopController {
  @get("/shops/{name}")
  find(@param.path.string("name") name: string, @param.query.string("folder") folder: string,
    @param.query.number("page") page: number) {
    exec("ls " + name); // found
    exec("ls " + folder); // found
    exec("ls " + page);
  }
  @post("/shops")
  create(@requestBody() shop: any) {
    exec("ls " + shop.name); // found
  }
}
""",
    "oak.ts": """
import { Application, Router } from "@oak/oak";
import { exec } from "node:child_process";
const router = new Router();
router.get("/shops/:name", async (ctx) => {
  exec("ls " + ctx.params.name); // found
  exec("ls " + ctx.request.url.searchParams.get("name")); // found
  const body = await ctx.request.body.json();
  exec("ls " + body.name); // found
  exec("ls " + ctx.request.method);
});
""",
    "itty.ts": """
import { AutoRouter, Router } from "itty-router";
import { exec } from "node:child_process";
const router = AutoRouter();
router.get("/shops/:name", ({ params, query }) => {
  exec("ls " + params.name); // found
  exec("ls " + query.name); // found
});
router.post("/shops", async (request) => {
  const body = await request.json();
  exec("ls " + body.name); // found
});
""",
    "services.js": """
const express = require("express");
const axios = require("axios");
const db = require("knex")({});
const extract = require("extract-zip");
const jsonpath = require("jsonpath");
const libxmljs = require("libxmljs");
const spawn = require("cross-spawn");
const tar = require("tar");
const { Client } = require("ldapts");
const { Database, aql } = require("arangojs");
const { InfluxDB } = require("@influxdata/influxdb-client");
const { NodeSSH } = require("node-ssh");
const app = express();

app.get("/a", async (req, res) => {
  const name = req.query.name;
  new NodeSSH().exec("ls " + name, []); // found
  spawn.sync("sh", ["-c", "ls " + name]); // found
  spawn.sync("ls", [name]);
  new Database().query("FOR s IN shop FILTER s.name == '" + name + "'"); // found
  new Database().query(aql`FOR s IN shop FILTER s.name == ${name}`);
  new InfluxDB({}).getQueryApi("shop").collectRows('from(bucket: "' + name + '")'); // found
  db("shop").joinRaw("JOIN " + name); // found
  db("shop").joinRaw("JOIN owner ON owner.name = ?", [name]);
  db("shop").groupByRaw(name); // found
  await new Client({}).search("dc=shop", { filter: "(uid=" + name + ")" }); // found
  libxmljs.parseXml("<a/>").get("//a[@b='" + name + "']"); // found
  jsonpath.query({}, name); // found
  jsonpath.query({ name }, "$.name");
  extract("shop.zip", { dir: name }); // found
  tar.x({ file: name }); // found
  tar.x({ file: "shop.tar", strip: name });
  axios.create({ baseURL: name }); // found
  axios.create({ baseURL: "https://shop.example", params: { name } });
});
""",
    "services.ts": """
import { feathers } from "@feathersjs/feathers";
import { exec } from "child_process";
class ShopService {
  async find(params: any) {
    exec("ls " + params.query.name); // found
  }
  async create(data: any) {
    exec("ls " + data.name); // found
  }
  async get(id: string) {
    exec("ls " + id); // found
  }
}
const app = feathers();
app.use("shops", new ShopService());

export class Folder {
  async create(data: any) {
    exec("ls " + data.name);
  }
}
""",
}


@pytest.fixture(scope="module")
def found():
    tree = MemoryTree({name: code.encode() for name, code in PROGRAMS.items()}, "app")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": CHECKS}), silent).report
    assert not report.problems
    return {(finding.place.file, finding.place.line) for finding in report.findings}


@pytest.mark.parametrize("name", PROGRAMS)
def test_libraries_give_requests_and_do_harm(name, found):
    marked = {n for n, line in enumerate(PROGRAMS[name].splitlines(), 1) if re.search("// found$", line)}
    assert {line for path, line in found if path == name} == marked
