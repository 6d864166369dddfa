"use strict";
// Runs an extension with a stand-in for the module `vscode`, on one open file, and prints the diagnostics it is given.
// Usage: node vscode_session.js EXTENSION ROOT FILE SETTINGS_AS_JSON
const { EventEmitter } = require("node:events");
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const { join } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

const [extension, root, file, settings] = process.argv.slice(2);
const given = JSON.parse(settings);
const disposable = { dispose() {} };
const events = new EventEmitter();

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = text.split(":")[0];
    this.fsPath = this.path = this.scheme === "file" ? fileURLToPath(text) : text;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
  toString() {
    return this.text;
  }
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(...at) {
    if (at.length === 4) at = [new Position(at[0], at[1]), new Position(at[2], at[3])];
    Object.assign(this, { start: at[0], end: at[1] });
  }
}
class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}
class Kind {
  constructor(value = "") {
    this.value = value;
  }
  append(part) {
    return new Kind(this.value ? `${this.value}.${part}` : part);
  }
}
class Emitter {
  event = () => disposable;
  fire() {}
  dispose() {}
}
class Cancellation {
  token = { isCancellationRequested: false, onCancellationRequested: () => disposable };
  cancel() {}
  dispose() {}
}

// What nobody asks for here: a class, a function and an enumeration in one.
function anything(known = {}) {
  return new Proxy(class {}, {
    get: (target, name) => (name in known ? known[name] : name in target ? target[name] : anything()),
    apply: () => disposable,
    construct: () => ({}),
  });
}

const text = readFileSync(join(root, file), "utf8");
const document = {
  uri: Uri.file(join(root, file)),
  languageId: "python",
  version: 1,
  lineCount: text.split("\n").length,
  isClosed: false,
  getText: () => text,
};
const collection = {
  set: (uri, diagnostics) => diagnostics && events.emit("diagnostics", uri, diagnostics),
  delete() {},
  clear() {},
  dispose() {},
};
const vscode = anything({
  version: "1.82.0",
  Uri,
  Position,
  Range,
  Diagnostic,
  CodeActionKind: anything({ Empty: new Kind(), QuickFix: new Kind("quickfix"), Source: new Kind("source") }),
  EventEmitter: Emitter,
  CancellationTokenSource: Cancellation,
  env: { appName: "stand-in", language: "en" },
  workspace: anything({
    workspaceFolders: [{ uri: Uri.file(root), name: "root", index: 0 }],
    textDocuments: [document],
    notebookDocuments: [],
    getConfiguration: () => ({ get: (name, otherwise) => (name in given ? given[name] : otherwise) }),
    getWorkspaceFolder: () => ({ uri: Uri.file(root), name: "root", index: 0 }),
  }),
  window: anything({
    showErrorMessage: told,
    showWarningMessage: told,
    showInformationMessage: told,
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: () => disposable, onDidChangeTabGroups: () => disposable },
    createOutputChannel: () => ({ append() {}, appendLine: (line) => console.error(line), show() {}, dispose() {} }),
  }),
  languages: anything({ match: () => 10, createDiagnosticCollection: () => collection }),
});

async function told(message) {
  console.error(message);
}

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const loaded = require(join(extension, "extension.js"));
events.on("diagnostics", async (uri, diagnostics) => {
  if (!uri.fsPath.endsWith(file) || !diagnostics.length) return;
  const shown = diagnostics.map((each) => ({ line: each.range.start.line, code: each.code, source: each.source }));
  console.log(JSON.stringify(shown));
  await loaded.deactivate();
  process.exit(0);
});
loaded.activate({ subscriptions: [] }).catch((error) => {
  console.error(error);
  process.exit(1);
});
