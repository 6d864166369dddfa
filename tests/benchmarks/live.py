"""Seconds from an edit to its diagnostics in an editor, of the hook, queries and explanations, with a live process.

    python tests/benchmarks/live.py REPO [--edits 200] [--compare 0]

REPO is a git directory with history. The last edits of its history are typed, a file at a time: a clone stands at an
earlier commit, the language server has it open, and each text that a commit gives a file is sent as a change. What is
timed lies between the change and the diagnostics of that version, the debounce of 10 ms included. Each text is saved,
and half a second later comes the next; one that changes nothing is left out. Then the hook runs on up to five staged
files, new queries with a constant are asked, each another one, and findings explained. With --compare N the findings
after each N-th edit must be those of a scan from scratch.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from lsprotocol import types
from pygls.lsp.client import LanguageClient

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP)]

from analyzer.live.client import connected, result_from  # noqa: E402
from analyzer.scan import ScanRequest, scan  # noqa: E402

COMMAND = [sys.executable, "-P", "-m", "cli"]
PAUSE_S = 0.5
N_ASKED, N_READ = 100, 20_000
"""Questions asked, and the answers of which their constants are taken."""
ANSWERED = re.compile(r'"([a-z_]+\.[A-Za-z_.]+)"')
"""A qualified name in the answers to a query."""
SUFFIXES = (".py", ".js", ".ts", ".java", ".go", ".c", ".h")


def git(path, *arguments):
    done = subprocess.run(["git", "-C", str(path), *arguments], check=True, capture_output=True)
    return done.stdout


def history(repository, n_edits):
    """Return a commit, and the edits after it as (path, bytes), oldest first."""
    edits, at = [], ""
    for commit in git(repository, "rev-list", "--first-parent", "HEAD").decode().split():
        at = commit
        if len(edits) >= n_edits:
            break
        rows = git(repository, "diff", "--diff-filter=M", "--no-renames", "-z", "--name-only", f"{commit}^", commit)
        names = [os.fsdecode(name) for name in rows.split(b"\0") if name.endswith(tuple(map(str.encode, SUFFIXES)))]
        edits += [(name, git(repository, "show", f"{commit}:{name}")) for name in names]
    return at, edits[:n_edits][::-1]


async def typed(root, edits, compare):
    """Type the edits into an editor; return seconds to diagnostics, one an edit."""
    client, seen, news = LanguageClient("benchmark", "1"), {}, asyncio.Event()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def told(params):
        seen[params.uri] = params.version
        news.set()

    async def until(uri, version):
        while seen.get(uri) != version:
            news.clear()
            await news.wait()

    await client.start_io(*COMMAND, "lsp", env=os.environ | {"PYTHONPATH": str(TOP)})
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri()))
    client.initialized(types.InitializedParams())
    versions, taken = {}, []
    for number, (name, data) in enumerate(edits, 1):
        path = root / name
        text = data.decode("utf-8", "replace")
        if not path.is_file() or path.read_bytes() == data:
            continue
        uri = path.as_uri()
        if uri not in versions:
            versions[uri] = 1
            item = types.TextDocumentItem(uri, "text", 1, path.read_text(errors="replace"))
            client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            await until(uri, 1)
        versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(version=versions[uri], uri=uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        begin = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await until(uri, versions[uri])
        taken.append(time.perf_counter() - begin)
        path.write_bytes(data)
        client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        if compare and number % compare == 0:
            compared(root)
        await asyncio.sleep(PAUSE_S)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return taken


def compared(root):
    """End unless the live process gives the report of a scan."""
    with connected(root) as client:
        live = result_from(client, str(root), {}, wait=True).report
    if live != scan(ScanRequest(root)).report:
        sys.exit("the reports differ")


def hook_s(root, names):
    """Return the seconds of the hook on staged files."""
    git(root, "add", *names)
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"PYTHONPATH": str(TOP)}
    begin = time.perf_counter()
    done = subprocess.run([*COMMAND, "hook", "--live", "auto"], cwd=root, capture_output=True, env=environment)
    assert done.returncode in (0, 1, 3), done.stderr
    return time.perf_counter() - begin


def queries_s(client):
    """Return the seconds of new queries, each with a constant of its own."""
    flags = {"flags": {}, "wait": True, "sources": []}
    some = client.call("query", text="call_target(c, f), qualified_name(f, name)", limit=N_READ, **flags)
    names = ANSWERED.findall(some["answer"])
    names, seconds = sorted({*names}), []
    for name in names[:: max(1, len(names) // N_ASKED)][:N_ASKED]:
        begin = time.perf_counter()
        client.call("query", text=f'call_target(c, f), qualified_name(f, "{name}")', limit=None, **flags)
        seconds.append(time.perf_counter() - begin)
    return seconds


def explanations_s(client, root):
    """Return the seconds that the explanations of findings take."""
    seconds = []
    for finding in result_from(client, str(root), {}, wait=True).report.findings[:N_ASKED]:
        asked = {"what": finding.fingerprint, "line": None, "extent": (1, 1, None), "full": False, "format": "text"}
        begin = time.perf_counter()
        client.call("explain", flags={}, wait=True, **asked)
        seconds.append(time.perf_counter() - begin)
    return seconds


@dataclass
class Measures:
    """Seconds of edits, hooks, new queries and explanations; bytes of the process at the end, and at most."""

    edits: list[float]
    hooks: list[float]
    queries: list[float]
    explanations: list[float]
    n_bytes: int
    peak_bytes: int

    def __str__(self):
        shown = [
            f"{len(self.edits)} edits: {median_ms(self.edits)}, 95 % {1000 * quantiles(self.edits, n=20)[-1]:.0f} ms, "
            f"largest {1000 * max(self.edits):.0f} ms",
            f"hook: {median_ms(self.hooks)}",
            f"new query: {median_ms(self.queries)}",
            f"explanation: {median_ms(self.explanations)} of {len(self.explanations)}",
            f"memory: {self.n_bytes >> 20} MB at the end, {self.peak_bytes >> 20} MB at most",
        ]
        return "\n".join(shown)


def median_ms(seconds):
    return f"median {1000 * median(seconds):.0f} ms" if seconds else "none"


def peak_bytes(pid):
    """Return the most memory that a process has had resident."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def measured(repository, n_edits=200, compare=0):
    """Return the measures of the last edits of a repository."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve() / "repository"
        at, edits = history(repository.resolve(), n_edits)
        git(place, "clone", "-q", "--no-checkout", str(repository.resolve()), str(root))
        git(root, "checkout", "-q", at)
        taken = asyncio.run(typed(root, edits, compare))
        with connected(root) as client:
            status = client.call("status")
        hooks = [hook_s(root, sorted({name for name, _ in edits if (root / name).is_file()})[:5]) for _ in range(3)]
        with connected(root) as client:
            queries, explanations, peak = queries_s(client), explanations_s(client, root), peak_bytes(status["pid"])
            client.call("stop")
    return Measures(taken, hooks, queries, explanations, status["bytes"], peak)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--compare", type=int, default=0)
    options = parser.parse_args()
    print(measured(options.repository, options.edits, options.compare))


if __name__ == "__main__":
    main()
