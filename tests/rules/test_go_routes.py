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


SEGMENTS = """\
package shop

import (
	"net/http"
	"net/url"
	"os"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
)

func read(w http.ResponseWriter, r *http.Request) {
	os.ReadFile("/srv/" + chi.URLParam(r, "name"))
	os.ReadFile("/srv/" + chi.URLParam(r, "rest"))
	os.ReadFile("/srv/" + chi.URLParam(r, "unrouted"))
	clear("/srv/" + chi.URLParam(r, "rest"))
}

func clear(path string) {
	os.Remove(path)
}

func drop(w http.ResponseWriter, r *http.Request) {
	empty("/srv/" + chi.URLParam(r, "name"))
}

func empty(path string) {
	os.RemoveAll(path)
}

func picture(c *gin.Context) {
	os.ReadFile("/srv/" + c.Param("shelf"))
	os.ReadFile("/srv/" + c.Param("tail"))
	c.Redirect(302, c.Param("shelf"))
}

func routes(r chi.Router, g *gin.Engine) {
	r.Get("/a/{name}_small.png", read)
	r.Get("/b/{rest:.+}", read)
	r.Get("/c/{name}", drop)
	g.GET("/d/:shelf/cover", picture)
	g.GET("/e/*tail", picture)
	START
}

func decoded(w http.ResponseWriter, r *http.Request) {
	name, _ := url.PathUnescape(chi.URLParam(r, "name"))
	os.ReadFile("/srv/" + name)
	other, _ := url.PathUnescape(given(r))
	os.ReadFile("/srv/" + other)
}

func given(r *http.Request) string {
	return chi.URLParam(r, "name")
}
"""


def reported_segments(start):
    return {line for _, line in lines_with_findings({"shop.go": SEGMENTS.replace("START", start)})}


def test_a_part_of_a_path_as_it_was_sent_holds_no_slash():
    assert reported_segments("") == {14, 15, 20, 28, 33, 34, 48, 50}


def test_parts_may_be_decoded_before_they_are_divided():
    assert reported_segments("g.UseRawPath = true") == {13, 14, 15, 20, 28, 32, 33, 34, 48, 50}


COLONS = """\
package shop

import (
	"os"

	"github.com/gofiber/fiber/v2"
)

func read(c *fiber.Ctx) error {
	os.ReadFile("/srv/" + c.Params("name"))
	os.ReadFile("/srv/" + c.Params("*"))
	return nil
}

func start() {
	app := fiber.New(CONFIG)
	app.Get("/a/:name?", read)
	app.Get("/b/*", read)
}
"""


def test_fiber_decodes_parts_where_it_is_told_to():
    def reported(config):
        return {line for _, line in lines_with_findings({"shop.go": COLONS.replace("CONFIG", config)})}

    assert reported("") == {11}
    assert reported("fiber.Config{UnescapePath: true}") == {10, 11}


TABLE = """\
package shop

import (
	"database/sql"
	"net/http"
	"os"

	"github.com/fasthttp/router"
	"github.com/gorilla/mux"
	"github.com/valyala/fasthttp"
)

type route struct {
	Method, Path string
	Handler      http.HandlerFunc
}

func change(w http.ResponseWriter, r *http.Request) {
	os.ReadFile("/srv/" + mux.Vars(r)["id"])
	os.ReadFile("/srv/" + mux.Vars(r)["rest"])
}

func version(db *sql.DB, r *http.Request) {
	db.Query("SELECT * FROM versions WHERE number = " + mux.Vars(r)["number"])
	db.Query("SELECT * FROM versions WHERE name = " + mux.Vars(r)["rest"])
	os.ReadFile("/srv/" + mux.Vars(r)["number"])
}

func attach(m *mux.Router) {
	m.HandleFunc("/versions/{number:[0-9.]+}", nil)
	for _, each := range []route{{"PUT", "/orders/{id:[0-9]+}", change}, {"GET", "/files/{rest:.*}", change}} {
		m.HandleFunc(each.Path, each.Handler).Methods(each.Method)
	}
}

func locale(c *fasthttp.RequestCtx) {
	os.ReadFile("/srv/" + c.UserValue("namespace").(string))
	os.ReadFile("/srv/" + c.UserValue("tail").(string))
}

func start(r *router.Router) {
	r.GET("/locales/{language:[a-z]{1,3}}/{namespace:[a-z]+}.json", locale)
	r.GET("/raw/{tail:*}", locale)
}
"""


def test_routes_may_stand_in_a_table_or_be_those_of_fasthttp():
    assert {line for _, line in lines_with_findings({"shop.go": TABLE})} == {20, 25, 38}
