"""Go: calls through interfaces, where nobody sees what makes the object."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

PROGRAM = """\
package shop

import ("net/http"; "os")

type Finder interface{ Has(name string) bool }

type Files interface {
	Finder
	Read(name string) ([]byte, error)
}

type Reader interface{ Get(name string) ([]byte, error) }

type Handler struct {
	files  Files
	reader Reader
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.files.Read(r.FormValue("name"))
	h.reader.Get(r.FormValue("name"))
}

type Disk struct{}

func (d *Disk) Read(name string) ([]byte, error) { return os.ReadFile(name) }
func (d *Disk) Has(name string) bool { return false }
func (d *Disk) Get(name string) ([]byte, error) { return os.ReadFile(name) }
"""
SECOND = """
type NAME struct{ texts map[string][]byte }

func (m *NAME) Read(name string) ([]byte, error) { return m.texts[name], nil }
"""
WHOLE = SECOND + "\nfunc (m *NAME) Has(name string) bool { return m.texts[name] != nil }\n"


def reported(files):
    tree = MemoryTree({path: text.encode() for path, text in files.items()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("path-traversal",)})).report
    assert not report.problems
    return [finding.place.line for finding in report.findings]


@pytest.mark.parametrize(
    "files",
    [
        {"shop.go": PROGRAM},
        {"shop.go": PROGRAM + SECOND.replace("NAME", "Part")},
        {"shop.go": PROGRAM + WHOLE.replace("NAME", "MockFiles")},
        {"shop.go": PROGRAM, "memory_test.go": "package shop\n" + WHOLE.replace("NAME", "Memory")},
    ],
    ids=["alone", "beside a part", "beside a stand-in", "beside a test"],
)
def test_the_one_implementation_of_an_interface_runs(files):
    assert reported(files) == [26]


def test_of_several_implementations_objects_tell_which_one_runs():
    made = "\nfunc serve(r *http.Request) { (&Handler{files: &KIND{}}).ServeHTTP(nil, r) }\n"
    program = PROGRAM + WHOLE.replace("NAME", "Memory")
    assert reported({"shop.go": program + made.replace("KIND", "Memory")}) == []
    assert reported({"shop.go": program + made.replace("KIND", "Disk")}) == [26]


def test_where_no_object_is_seen_each_of_a_few_implementations_may_run():
    assert reported({"shop.go": PROGRAM + WHOLE.replace("NAME", "Memory")}) == [26]
    several = "".join(WHOLE.replace("NAME", f"Memory{number}") for number in range(8))
    assert reported({"shop.go": PROGRAM + several}) == []
