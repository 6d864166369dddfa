"""Go: functions that end the program, by way of others, and what is no request of a client."""

import re
from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

PROGRAMS = {
    "ends by way of others": """
import ("fmt"; "net/http"; "os")

func quit(err error) { fmt.Println(err); os.Exit(1) }
func quitf(format string, err error) { quit(fmt.Errorf(format, err)) }
func complain(format string, err error) { fmt.Printf(format, err) }
func leave(format string, err error) { if err != nil { quitf(format, err) } }

func a() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		quitf("no shop: %w", err)
	}
	defer response.Body.Close()
}
func b() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		complain("no shop: %w", err)
	}
	defer response.Body.Close() // found: result-after-error
}
func c() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		leave("no shop: %w", nil)
	}
	defer response.Body.Close() // found: result-after-error
}
""",
    "zerolog": """
import ("net/http"; "github.com/rs/zerolog"; "github.com/rs/zerolog/log")

func a() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		log.Fatal().Err(err).Msg("no shop")
	}
	defer response.Body.Close()
}
func b(logger zerolog.Logger) {
	response, err := http.Get("http://shop.example")
	if err != nil {
		logger.Fatal().Str("name", "shop").Err(err).Send()
	}
	defer response.Body.Close()
}
func c() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		log.Error().Err(err).Msg("no shop")
	}
	defer response.Body.Close() // found: result-after-error
}
""",
    "loggers of any kind": """
import ("fmt"; "log"; "net/http"; "example.com/other/logging"; "github.com/sirupsen/logrus")

type app struct { fatal func(string, ...any); log *logrus.Logger; other logging.Logger }
type Logger interface { Fatalf(string, ...any) }
type own struct{}

func (o own) Fatal(text string) { fmt.Println(text) }
func newApp() *app { return &app{fatal: log.Fatalf, log: logrus.New()} }

func (a *app) field() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		a.fatal("no shop: %v", err)
	}
	defer response.Body.Close()
}
func (a *app) entry() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		a.log.WithError(err).Fatal("no shop")
	}
	defer response.Body.Close()
}
func (a *app) unknown() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		a.other.With("error", err).Fatalw("no shop")
	}
	defer response.Body.Close()
}
func (a *app) warning() {
	response, err := http.Get("http://shop.example")
	if err != nil {
		a.other.With("error", err).Warnw("no shop")
	}
	defer response.Body.Close() // found: result-after-error
}
func interface_(logger Logger) {
	response, err := http.Get("http://shop.example")
	if err != nil {
		logger.Fatalf("no shop: %v", err)
	}
	defer response.Body.Close()
}
func ownMethod(o own) {
	response, err := http.Get("http://shop.example")
	if err != nil {
		o.Fatal("no shop")
	}
	defer response.Body.Close() // found: result-after-error
}
""",
    "requests that are sent": """
import "net/http"

type Transport struct { inner http.RoundTripper }

func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	again, _ := http.NewRequest(request.Method, request.URL.String(), nil)
	return t.inner.RoundTrip(again)
}
func forward(w http.ResponseWriter, request *http.Request) {
	http.Get(request.URL.Query().Get("address")) // found: request-forgery
}

type Cached struct { inner *http.Client }

func (c *Cached) Do(request *http.Request) (*http.Response, error) {
	http.Get(key(request) + shared(request))
	return c.inner.Do(request)
}
func key(request *http.Request) string { return request.URL.Query().Get("address") }
func shared(request *http.Request) string {
	http.Get(request.URL.Query().Get("address")) // found: request-forgery
	return "x"
}
func page(w http.ResponseWriter, request *http.Request) { shared(request) }

type Pages struct{}

func (p *Pages) Do(request *http.Request) error {
	_, err := http.Get(request.URL.Query().Get("address")) // found: request-forgery
	return err
}
""",
    "paths below a root": """
import ("net/http"; "os"; "path/filepath"; "github.com/gofrs/uuid")

func below(root string, names ...string) string {
	return filepath.Join(root, filepath.Join(append([]string{"/"}, names...)...))
}
func anywhere(root string, names ...string) string {
	return filepath.Join(root, filepath.Join(append([]string{"x"}, names...)...))
}
func show(w http.ResponseWriter, r *http.Request) {
	os.Remove(below("/srv", r.FormValue("name")))
	os.Remove(anywhere("/srv", r.FormValue("name"))) // found: path-traversal
	id, err := uuid.FromString(r.FormValue("id"))
	if err == nil {
		os.Remove("/srv/" + id.String())
	}
}
""",
    "the host is stored": """
import ("net/http"; "net/url")

func local(w http.ResponseWriter, r *http.Request, own *url.URL) {
	target := *r.URL
	target.Host = own.Host
	target.Scheme = own.Scheme
	http.Redirect(w, r, target.String(), http.StatusFound)
}
func anywhere(w http.ResponseWriter, r *http.Request) {
	target, _ := url.Parse(r.FormValue("to"))
	target.Scheme = "https"
	http.Redirect(w, r, target.String(), http.StatusFound) // found: open-redirect
}
""",
    "what was asked for, behind a host": """
import ("fmt"; "net/http")

func secure(w http.ResponseWriter, r *http.Request, host string, port int) {
	http.Redirect(w, r, fmt.Sprintf("https://%s%s", host, r.RequestURI), http.StatusFound)
	http.Redirect(w, r, fmt.Sprintf("https://%s:%d%s", host, port, r.RequestURI), http.StatusFound)
	http.Redirect(w, r, fmt.Sprintf("%s%s", host, r.URL.Path), http.StatusFound)
	http.Redirect(w, r, fmt.Sprintf("https://%s%s", host, r.FormValue("to")), http.StatusFound) // found: open-redirect
}
""",
    "hosts that are allowed": """
import ("net/http"; "net/url"; "strings"; "log")

func isAllowedHost(target *url.URL, allowed string) bool {
	return strings.EqualFold(target.Host, allowed) || strings.HasSuffix(target.Host, "."+allowed)
}
func allowsURL(target *url.URL) bool { return strings.HasPrefix(target.String(), "https://shop") }
func hasSlash(target *url.URL, allowed string) bool {
	return strings.EqualFold(target.Path, allowed)
}
func a(w http.ResponseWriter, r *http.Request, hosts []string) {
	target, _ := url.Parse(r.FormValue("to"))
	for _, host := range hosts {
		if target.Scheme == "https" && isAllowedHost(target, host) {
			http.Redirect(w, r, target.String(), http.StatusFound)
		}
		if hasSlash(target, host) {
			http.Redirect(w, r, target.String(), http.StatusFound) // found: open-redirect
		}
		if allowsURL(target) {
			http.Redirect(w, r, target.String(), http.StatusFound) // found: open-redirect
		}
	}
}
func checkPassword(name, password string) bool { return known(name) == password }
func login(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if !checkPassword(name, r.FormValue("password")) {
		log.Printf("refused: %s", name) // found: log-injection
		return
	}
	log.Printf("login of %s", name)
}
""",
    "variables of routes": """
import ("net/http"; "os"; "github.com/go-chi/chi/v5"; "github.com/gorilla/mux")

func routes(r chi.Router, m *mux.Router) {
	r.Get("/a/{id:[0-9a-f-]+}/{name}", show)
	r.Get("/b/{file:.+}", show)
	r.Get("/c/{part:[a-z]+}", show)
	r.Get("/d/{part}", show)
	m.HandleFunc("/e/{key:[0-9]{4}}/{rest:.*}", vars)
}
func show(w http.ResponseWriter, r *http.Request) {
	os.Remove("/srv/" + chi.URLParam(r, "id"))
	os.Remove("/srv/" + chi.URLParam(r, "name"))
	os.Remove("/srv/" + chi.URLParam(r, "file")) // found: path-traversal
	os.Remove("/srv/" + chi.URLParam(r, "part"))
}
func vars(w http.ResponseWriter, r *http.Request) {
	variables := mux.Vars(r)
	os.Remove("/srv/" + variables["key"])
	os.Remove("/srv/" + variables["rest"]) // found: path-traversal
}
""",
    "texts that begin as XML": """
import ("fmt"; "net/http")

func lock(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "<?xml version=\\"1.0\\"?>\\n<owner>%s</owner>", r.FormValue("owner"))
}
func page(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "<p>%s</p>", r.FormValue("owner")) // found: cross-site-scripting
}
func told(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<?xml version=\\"1.0\\"?>\\n<p>%s</p>", r.FormValue("owner")) // found: cross-site-scripting
}
""",
    "helpers of tests": """
import ("net/http"; "testing")

func cookie(t *testing.T) *http.Cookie {
	return &http.Cookie{Name: "session", Value: "x"}
}
""",
    "cookies of programs": """
import ("net/http"; "net/url")

func cookie(token string) *http.Cookie {
	return &http.Cookie{Name: "session", Value: token} // found: insecure-cookie
}
func client(jar http.CookieJar, address *url.URL, tokens []string) {
	var cookies []*http.Cookie
	for _, token := range tokens {
		c := &http.Cookie{Name: "session", Value: token}
		cookies = append(cookies, c)
	}
	jar.SetCookies(address, cookies)
	one := &http.Cookie{Name: "session", Value: tokens[0]}
	jar.SetCookies(address, []*http.Cookie{one})
}
func server(w http.ResponseWriter, tokens []string) {
	var cookies []*http.Cookie
	for _, token := range tokens {
		c := &http.Cookie{Name: "session", Value: token} // found: insecure-cookie
		cookies = append(cookies, c)
	}
	for _, c := range cookies {
		http.SetCookie(w, c)
	}
}
""",
}
MARK = re.compile(r"// found: (\S+)$")


@pytest.mark.parametrize("name", PROGRAMS)
def test_findings_stand_where_they_are_marked(name):
    text = f"package shop\n{PROGRAMS[name]}"
    expected = {(number, mark[1]) for number, line in enumerate(text.splitlines(), 1) if (mark := MARK.search(line))}
    rules = {"rules": ("injection", "configuration", "result-after-error", "log-injection")}
    request = ScanRequest(Path("."), None, rules)
    report = scan_tree(MemoryTree({"shop/main.go": text.encode()}, "endings"), request).report
    assert not [problem for problem in report.problems if problem.level == "error"]
    assert {(finding.place.line, finding.check) for finding in report.findings} == expected


OAPI_TYPES = """package shop

import "context"

type AddBookRequestObject struct {
	Title string
	Body  *struct{ Note string }
}

type StrictServerInterface interface {
	AddBook(ctx context.Context, request AddBookRequestObject) error
}
"""
OAPI_HANDLER = """package shop

import ("context"; "os/exec")

type server struct{}
type OwnRequestObject struct{ Note string }

func (s server) AddBook(ctx context.Context, request AddBookRequestObject) error {
	exec.Command("sh", "-c", request.Body.Note).Run() // found
	return nil
}
func (s server) Own(request OwnRequestObject) error { return exec.Command("sh", "-c", request.Note).Run() }
"""


def test_a_generated_server_gives_what_was_sent():
    tree = {"shop/api.gen.go": OAPI_TYPES.encode(), "shop/main.go": OAPI_HANDLER.encode()}
    report = scan_tree(MemoryTree(tree, "generated"), ScanRequest(Path("."), None, {"rules": ("injection",)})).report
    expected = {number for number, line in enumerate(OAPI_HANDLER.splitlines(), 1) if line.endswith("// found")}
    assert {(finding.place.line, finding.check) for finding in report.findings} == {
        (line, "command-injection") for line in expected
    }
