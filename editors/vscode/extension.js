"use strict";
// Starts `analyze lsp`. A workspace cannot choose the command: its settings are those of the machine.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["c", "go", "java", "javascript", "javascriptreact", "python", "typescript", "typescriptreact"];
let client;

exports.activate = async () => {
  const settings = vscode.workspace.getConfiguration("datalyze");
  const server = { command: settings.get("path"), args: ["lsp", ...settings.get("arguments")] };
  const documentSelector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("datalyze", "Datalyze", server, { documentSelector });
  await client.start();
};

exports.deactivate = () => client?.stop();
