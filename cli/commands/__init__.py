"""One module per command. Only click is imported at load time, the rest when a command runs."""

from cli.commands.batch import batch
from cli.commands.callgraph import callgraph
from cli.commands.cfl import cfl
from cli.commands.ci import ci
from cli.commands.doctor import doctor
from cli.commands.explain import explain
from cli.commands.facts import facts
from cli.commands.hook import hook
from cli.commands.lsp import lsp
from cli.commands.mcp import mcp
from cli.commands.models import models
from cli.commands.query import query
from cli.commands.relations import relations
from cli.commands.rules import rules
from cli.commands.run import run
from cli.commands.scan import scan
from cli.commands.serve import serve
from cli.commands.update import update

COMMANDS = (
    *(scan, ci, hook, serve, lsp, mcp, batch, query, relations, explain, facts),
    *(callgraph, cfl, run, update, rules, models, doctor),
)
