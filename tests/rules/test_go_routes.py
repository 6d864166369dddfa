"""Go: variables of routes of gorilla/mux, which are one part of a path that the router has cleaned."""

from marked_lines import lines_with_findings

HANDLERS = """\
package shop

import (
	"net/http"
	"os"

	"github.com/gorilla/mux"
)

func serve(w http.ResponseWriter, r *http.Request) {
	os.ReadFile("/srv/" + mux.Vars(r)["name"])
	variables := mux.Vars(r)
	os.ReadFile("/srv/" + variables["name"])
	os.ReadFile("/srv/" + variables["rest"])
	os.ReadFile("/srv/" + variables["other"])
	os.ReadFile("/srv/" + variables["unrouted"])
}

func routes(router *mux.Router) {
	router.HandleFunc("/pictures/{name}", serve)
	router.HandleFunc("/files/{rest:.*}", serve)
	router.HandleFunc("/small/{other}", serve)
	router.HandleFunc("/large/{other:.+}", serve)
}
"""

START = """\
package shop

import "github.com/gorilla/mux"

func start() {
	routes(mux.NewRouter()CHOICE)
}
"""


def reported(choice):
    files = {"handlers.go": HANDLERS, "start.go": START.replace("CHOICE", choice)}
    return {line for name, line in lines_with_findings(files) if name == "handlers.go"}


def test_a_variable_is_one_part_of_a_cleaned_path():
    assert reported("") == {14, 15, 16}
    assert reported(".StrictSlash(true)") == {14, 15, 16}


def test_paths_may_be_taken_as_they_are_sent():
    assert reported(".UseEncodedPath()") == {11, 13, 14, 15, 16}
    assert reported(".SkipClean(true)") == {11, 13, 14, 15, 16}
