"""What makes tainted data harmless, and what does not, by language: tests in place, in functions, and rewriting."""

import pytest
from marked_lines import lines_with_findings, marked_lines

PYTHON = """\
import ipaddress
import os
import re
import html
import shlex
from pathlib import Path
from urllib.parse import urlparse
import requests
from flask import Flask, abort, redirect, request

app = Flask(__name__)
ALLOWED = {"list", "show"}
TABLE = {"a": "ls", "b": "df"}
NAME = re.compile(r"[a-z0-9_]+")
ANCHORED = re.compile(r"^[a-z0-9_]+$")
ROOT = "/srv/data"
HOSTS = ["example.org", "api.example.org"]


@app.route("/1")
def g1():
    x = request.args["x"]
    if re.fullmatch(r"[a-z0-9]+", x):
        os.system("run " + x)  # harmless


@app.route("/2")
def g2():
    x = request.args["x"]
    if not re.match(r"^[a-z]+$", x):
        abort(400)
    os.system("run " + x)  # harmless


@app.route("/3")
def g3():
    x = re.sub(r"[^a-z0-9]", "", request.args["x"])
    os.system("run " + x)  # harmless


@app.route("/4")
def g4():
    x = request.args["x"]
    if x in ALLOWED:
        os.system("run " + x)  # harmless


def is_valid(x):
    return bool(re.fullmatch("[a-z]+", x))


@app.route("/5")
def g5():
    x = request.args["x"]
    if is_valid(x):
        os.system("run " + x)  # harmless


def check(x):
    if not re.fullmatch("[a-z]+", x):
        raise ValueError(x)


@app.route("/6")
def g6():
    x = request.args["x"]
    check(x)
    os.system("run " + x)  # harmless


def clean(x):
    return re.sub("[^a-z]", "", x)


@app.route("/7")
def g7():
    os.system("run " + clean(request.args["x"]))  # harmless


@app.route("/8")
def g8():
    x = request.args["x"]
    if ".." in x or "/" in x:
        abort(400)
    return open("/srv/" + x).read()  # harmless


@app.route("/9")
def g9():
    x = os.path.realpath(os.path.join(ROOT, request.args["x"]))
    if not x.startswith(ROOT + os.sep):
        abort(400)
    return open(x).read()  # harmless


@app.route("/10")
def g10():
    x = request.args["x"]
    if urlparse(x).hostname in HOSTS:
        requests.get(x)  # harmless


@app.route("/11")
def g11():
    x = request.args["x"]
    if urlparse(x).netloc not in HOSTS:
        return "no"
    return redirect(x)  # harmless


@app.route("/12")
def g12():
    x = request.args["x"]
    if not NAME.fullmatch(x):
        return "no"
    os.system("run " + x)  # harmless


@app.route("/13")
def g13():
    x = request.args["x"]
    if ANCHORED.match(x) is None:
        return "no"
    os.system("run " + x)  # harmless


@app.route("/14")
def g14():
    os.system("run " + TABLE.get(request.args["x"], "ls"))  # harmless


@app.route("/15")
def g15():
    os.system("run " + TABLE[request.args["x"]])  # harmless


@app.route("/16")
def g16():
    x = request.args["x"]
    if x not in ("a", "b"):
        abort(404)
    os.system("run " + x)  # harmless


@app.route("/17")
def g17():
    x = request.args["x"]
    match x:
        case "a" | "b":
            os.system("run " + x)  # harmless


def problem(x):
    if not x.isalnum():
        return "bad name"
    return None


@app.route("/18")
def g18():
    x = request.args["x"]
    error = problem(x)
    if error:
        return error
    os.system("run " + x)  # harmless


@app.route("/19")
def g19():
    x = request.args["x"]
    try:
        int(x)
    except ValueError:
        return "no"
    os.system("run " + x)  # harmless


@app.route("/20")
def g20():
    x = request.args["x"]
    if all(c.isalnum() for c in x):
        os.system("run " + x)  # harmless


@app.route("/22")
def g22():
    x = request.args["x"]
    if x == "list" or x == "show":
        os.system("run " + x)  # harmless


@app.route("/23")
def g23():
    x = os.path.basename(request.args["x"])
    return open("/srv/" + x).read()  # harmless


@app.route("/24")
def g24():
    x = request.args["x"]
    if x.startswith("/srv/"):
        return open(x).read()  # harmful


@app.route("/25")
def g25():
    x = request.args["x"].replace("../", "", 1)
    return open("/srv/" + x).read()  # harmful


@app.route("/26")
def g26():
    x = request.args["x"]
    if re.match("[a-z]+", x):
        os.system("run " + x)  # harmful


@app.route("/27")
def g27():
    x = request.args["x"]
    if re.search("[a-z]+", x):
        os.system("run " + x)  # harmful


@app.route("/28")
def g28():
    x = request.args["x"].replace("'", "")
    os.system("run '" + x + "'")  # harmful


@app.route("/29")
def g29():
    x = request.args["x"]
    if os.path.commonpath([ROOT, os.path.realpath(x)]) != ROOT:
        abort(403)
    return open(x).read()  # harmless


@app.route("/30")
def g30():
    x = request.args.get("x", type=int)
    os.system("run %s" % x)  # harmless


@app.route("/31")
def g31():
    x = request.args["x"]
    if x.endswith(".txt"):
        return open(x).read()  # harmful


@app.route("/32")
def g32():
    x = request.args["x"]
    if any(x == name for name in ALLOWED):
        os.system("run " + x)  # harmless


@app.route("/33")
def g33():
    x = request.args["x"]
    assert x in ALLOWED
    os.system("run " + x)  # harmless


@app.route("/34")
def g34():
    x = request.args["x"]
    if len(x) < 10:
        os.system("run " + x)  # harmful


@app.route("/35")
def g35():
    x = request.args["x"]
    x = x if x in ALLOWED else "list"
    os.system("run " + x)  # harmless


def complaint(x):
    if not x.isalnum():
        return "bad name"
    return None


@app.route("/418")
def h18():
    x = request.args["x"]
    error = complaint(x)
    if error:
        return error
    os.system("run " + x)  # harmless


@app.route("/419")
def h19():
    x = request.args["x"]
    error = complaint(x)
    if error is not None:
        return error
    os.system("run " + x)  # harmless


def complaint2(x):
    if x.isalnum():
        return None
    return "bad"


@app.route("/420")
def h20():
    x = request.args["x"]
    if complaint2(x):
        return "no"
    os.system("run " + x)  # harmless


@app.route("/421")
def h21():
    path = os.path.join(ROOT, request.args["x"])
    if Path(path).resolve().parent != Path(ROOT):
        abort(404)
    return open(path).read()  # harmless


@app.route("/422")
def h22():
    path = os.path.realpath(os.path.join(ROOT, request.args["x"]))
    if os.path.dirname(path) == ROOT:
        return open(path).read()  # harmless
    return open(path).read()  # harmful


@app.route("/423")
def h23():
    path = os.path.join(ROOT, request.args["x"])
    if Path(path).parent != Path(ROOT):
        abort(404)
    return open(path).read()  # harmful


@app.route("/424")
def h24():
    x = request.args["x"]
    path = os.path.join(ROOT, x)
    if ".." in x or x.startswith("/"):
        abort(400)
    return open(path).read()  # harmless


@app.route("/425")
def h25():
    state = request.get_json()
    if "next" in state and len(state["next"]) > 0:
        parsed = urlparse(state["next"][0])
        if parsed.netloc == request.host:
            return redirect(state["next"][0])  # harmless
        return redirect(state["next"][0])  # harmful
    if urlparse(state["next"][0]).netloc == request.host:
        return redirect(state["next"][1])  # harmful
    return redirect(state["last"][0])  # harmful


def examine(url):
    host = urlparse(url).hostname
    if not host or ipaddress.ip_address(host).is_private:
        raise ValueError(url)


def is_safe_url(url):
    try:
        examine(url)
        return True
    except ValueError:
        return False


def is_safe_text(url):
    try:
        url.encode("ascii")
        return True
    except ValueError:
        return False


@app.route("/428")
def h28():
    x = request.args["x"]
    if ".." in x and request.args["y"]:
        x = "x"
    return open(os.path.join(ROOT, x)).read()  # harmful


@app.route("/429")
def h29():
    x = request.args["x"]
    if ".." in x or x.startswith("/"):
        x = "x"
    return open("/srv/" + x).read()  # harmless


@app.route("/426")
def h26():
    url = request.args["url"]
    if not is_safe_url(url):
        abort(400)
    return requests.get(url).text  # harmless


@app.route("/427")
def h27():
    url = request.args["url"]
    if not is_safe_text(url):
        abort(400)
    return requests.get(url).text  # harmful
"""
GO = """\
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/oauth2"
)

type site struct{ base, host string }
type account struct{ name, home string }
type accounts interface {
	accountExists(name, group string) (account, error)
	parseAccount(text string) (account, error)
}

var name = regexp.MustCompile(`^[a-z0-9_]+$`)
var loose = regexp.MustCompile(`[a-z]+`)
var notName = regexp.MustCompile(`[^a-z0-9]+`)
var allowed = map[string]bool{"list": true, "show": true}
var table = map[string]string{"a": "ls", "b": "df"}
var choices = []string{"list", "show"}
var hosts = map[string]struct{}{"example.org": {}}
var errBad = errors.New("bad")

const root = "/srv/data"

func g1(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if name.MatchString(x) {
		exec.Command("sh", "-c", "run "+x).Run() // harmless
	}
}
func g2(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if !name.MatchString(x) {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g3(w http.ResponseWriter, r *http.Request) {
	x := notName.ReplaceAllString(r.FormValue("x"), "")
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g4(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if allowed[x] {
		exec.Command("sh", "-c", "run "+x).Run() // harmless
	}
}
func g5(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if _, ok := table[x]; !ok {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g6(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if !slices.Contains(choices, x) {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func valid(x string) bool { return name.MatchString(x) }
func g7(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if valid(x) {
		exec.Command("sh", "-c", "run "+x).Run() // harmless
	}
}
func check(x string) error {
	if !name.MatchString(x) {
		return fmt.Errorf("bad name %q", x)
	}
	return nil
}
func g8(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if err := check(x); err != nil {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func clean(x string) (string, error) {
	if !name.MatchString(x) {
		return "", errBad
	}
	return x, nil
}
func g9(w http.ResponseWriter, r *http.Request) {
	x, err := clean(r.FormValue("x"))
	if err != nil {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g10(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if strings.Contains(x, "..") {
		return
	}
	os.ReadFile(root + "/" + x) // harmless
}
func g11(w http.ResponseWriter, r *http.Request) {
	p := filepath.Clean(filepath.Join(root, r.FormValue("x")))
	if !strings.HasPrefix(p, root+"/") {
		return
	}
	os.ReadFile(p) // harmless
}
func g12(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	u, err := url.Parse(x)
	if err != nil || !slices.Contains([]string{"example.org"}, u.Host) {
		return
	}
	http.Get(x) // harmless
}
func g13(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	switch x {
	case "a", "b":
		exec.Command("sh", "-c", "run "+x).Run() // harmless
	}
}
func g14(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if _, err := strconv.Atoi(x); err != nil {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g15(w http.ResponseWriter, r *http.Request) {
	os.ReadFile(root + "/" + filepath.Base(r.FormValue("x"))) // harmless
}
func g16(w http.ResponseWriter, r *http.Request) {
	exec.Command("sh", "-c", "run "+table[r.FormValue("x")]).Run() // harmless
}
func g17(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if x != "list" && x != "show" {
		return
	}
	exec.Command("sh", "-c", "run "+x).Run() // harmless
}
func g18(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if loose.MatchString(x) {
		exec.Command("sh", "-c", "run "+x).Run() // harmful
	}
}
func g19(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if strings.HasPrefix(x, root) {
		os.ReadFile(x) // harmful
	}
}
func g20(w http.ResponseWriter, r *http.Request) {
	x := strings.Replace(r.FormValue("x"), "../", "", 1)
	os.ReadFile(root + "/" + x) // harmful
}
func g21(w http.ResponseWriter, r *http.Request) {
	x := filepath.Clean(r.FormValue("x"))
	os.ReadFile(x) // harmful
}
func g22(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if matched, _ := regexp.MatchString("^[a-z]+$", x); matched {
		exec.Command("sh", "-c", "run "+x).Run() // harmless
	}
}
func g23(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if len(x) > 3 {
		exec.Command("sh", "-c", "run "+x).Run() // harmful
	}
}
func g24(w http.ResponseWriter, r *http.Request) {
	p := filepath.Join(root, filepath.Clean("/"+r.FormValue("x")))
	os.ReadFile(p) // harmless
}
func g25(w http.ResponseWriter, r *http.Request) {
	rel, err := filepath.Rel(root, r.FormValue("x"))
	if err != nil || strings.HasPrefix(rel, "..") {
		return
	}
	os.ReadFile(filepath.Join(root, rel)) // harmless
}
func g26(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	for _, c := range choices {
		if c == x {
			exec.Command("sh", "-c", "run "+x).Run() // harmless
		}
	}
}
func g27(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if !filepath.IsLocal(x) {
		return
	}
	os.ReadFile(filepath.Join(root, x)) // harmless
}
func g28(w http.ResponseWriter, r *http.Request) {
	u, err := url.Parse(r.FormValue("x"))
	if err != nil {
		return
	}
	if _, ok := hosts[u.Hostname()]; !ok {
		return
	}
	http.Get(u.String()) // harmless
}
func g29(w http.ResponseWriter, r *http.Request) {
	u, err := url.Parse(r.FormValue("x"))
	if err != nil || u.Host != "" {
		return
	}
	http.Redirect(w, r, u.String(), 302) // harmless
}
func g30(w http.ResponseWriter, r *http.Request) {
	u, err := url.Parse(r.FormValue("x"))
	if err != nil || u.IsAbs() {
		return
	}
	http.Redirect(w, r, u.String(), 302) // harmful
}
func g31(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if !strings.HasPrefix(x, "/") || strings.HasPrefix(x, "//") {
		return
	}
	http.Redirect(w, r, x, 302) // harmless
}
func g32(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if strings.HasPrefix(x, "//") {
		return
	}
	http.Redirect(w, r, x, 302) // harmful
}
func g33(w http.ResponseWriter, r *http.Request) {
	x := strings.ReplaceAll(r.FormValue("x"), "..", "")
	os.ReadFile(root + "/" + x) // harmless
}
func g34(w http.ResponseWriter, r *http.Request) {
	x := strings.ReplaceAll(r.FormValue("x"), "../", "")
	os.ReadFile(root + "/" + x) // harmful
}
func g35(w http.ResponseWriter, r *http.Request) {
	x := filepath.Join("/", r.FormValue("x"))
	os.ReadFile(root + x) // harmless
}
func named(x string) error {
	if x == "" {
		return errBad
	}
	if strings.ContainsAny(x, "/\\\\") {
		return errBad
	}
	return nil
}
func g36(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if named(x) == nil {
		os.ReadFile(root + "/" + x) // harmless
	}
}
func g37(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if strings.ContainsAny(x, ";|") {
		return
	}
	exec.Command("sh", "-c", x).Run() // harmful
}
func g38(w http.ResponseWriter, r *http.Request) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return
	}
	dir.Open(r.FormValue("x")) // harmless
}
func g39(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("x")
	path := filepath.Join(root, name)
	if strings.Contains(name, "..") {
		return
	}
	os.ReadFile(path) // harmless
}
func matches(patterns []string, path string) (ok bool) {
	var err error
	for _, pattern := range patterns {
		ok, err = filepath.Match(pattern, path)
		if err != nil {
			panic(err)
		}
		if ok {
			return true
		}
	}
	return false
}
func g59(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if !matches(choices, x) {
		return
	}
	os.ReadFile(x) // harmless
}
func g60(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	if matches(choices, x) {
		return
	}
	os.ReadFile(x) // harmful
}
func (s *site) g61(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	http.Get(fmt.Sprintf("%s/items/%s", s.base, x)) // harmless
	http.Get(fmt.Sprintf("%s?item=%s", s.base, x)) // harmless
	http.Get(fmt.Sprintf("%s%s", s.base, x)) // harmful
	http.Get(fmt.Sprintf("%s/%s", x, s.base)) // harmful
	http.Get(fmt.Sprintf("http://%s/%s", x, s.base)) // harmful
}
func (s *site) g62(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	http.Redirect(w, r, path.Join(s.base, x), 302) // harmless
	http.Redirect(w, r, path.Join(x, s.base), 302) // harmful
}
func (s *site) g63(w http.ResponseWriter, r *http.Request) {
	u := r.URL
	u.Scheme = "https"
	u.Host = s.host
	http.Redirect(w, r, u.String(), 302) // harmless
}
func g64(w http.ResponseWriter, r *http.Request) {
	r.URL.Host = r.Host
	http.Redirect(w, r, r.URL.String(), 302) // harmless
}
func g65(w http.ResponseWriter, r *http.Request) {
	r.URL.Scheme = "https"
	http.Redirect(w, r, r.URL.String(), 302) // harmful
}
func g66(w http.ResponseWriter, r *http.Request, c *oauth2.Config) {
	http.Redirect(w, r, c.AuthCodeURL(r.FormValue("x")), 302) // harmless
}
func g67(w http.ResponseWriter, r *http.Request, files http.FileSystem) {
	file, err := files.Open(r.FormValue("x"))
	if err != nil {
		return
	}
	text, _ := io.ReadAll(file)
	w.Write(text) // harmless
}
func g48(w http.ResponseWriter, r *http.Request, store accounts) {
	account, err := store.accountExists(r.FormValue("x"), "")
	if err != nil {
		return
	}
	os.ReadFile(account.home) // harmless
}
func g49(w http.ResponseWriter, r *http.Request, store accounts) {
	account, err := store.parseAccount(r.FormValue("x"))
	if err != nil {
		return
	}
	os.ReadFile(account.home) // harmful
}
func g50(w http.ResponseWriter, r *http.Request) {
	id := fmt.Sprintf("%x", r.FormValue("x"))
	os.ReadFile(root + "/" + id) // harmless
}
func hosts(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "https://"+r.Host+r.RequestURI, http.StatusMovedPermanently) // harmless
	http.Redirect(w, r, "https://"+r.Header.Get("X-Forwarded-Host"), http.StatusMovedPermanently) // harmless
	http.Get("https://" + r.Host) // harmful
}
func temporary(w http.ResponseWriter, r *http.Request) {
	file, _ := os.CreateTemp("", "page_"+r.FormValue("name"))
	os.Remove(file.Name()) // harmless
	other, _ := os.CreateTemp(r.FormValue("dir"), "page")
	os.Remove(other.Name()) // harmful
}
// `ServeFile` refuses requests whose own path leads up.
func served(w http.ResponseWriter, r *http.Request) {
	file := filepath.Join(root, r.URL.Path)
	if _, err := os.Stat(file); err == nil {
		http.ServeFile(w, r, file) // harmless
	}
	http.ServeFile(w, r, root+strings.TrimPrefix(r.URL.Path, "/static")) // harmless
	http.ServeFile(w, r, filepath.Join(root, r.URL.Query().Get("dir"), r.URL.Path)) // harmful
	other := filepath.Join(root, r.URL.Path)
	os.Remove(other) // harmful
}
func main() {
	http.HandleFunc("/1", g1)
}
const digits = "0123456789"

func letters(x string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-' {
			return c
		}
		return -1
	}, x)
}
func plain(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z', '0' <= c && c <= '9':
		return c
	case strings.ContainsRune("-_", c):
		return c
	}
	return '_'
}
func dotted(x string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || c == '.' || c == '/' {
			return c
		}
		return -1
	}, x)
}
func spaced(x string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, x)
}
func halfRange(x string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' || c <= '9' {
			return c
		}
		return -1
	}, x)
}
func kept(x, signs string) string {
	var b strings.Builder
	for _, c := range x {
		if strings.ContainsRune(signs, c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}
func keptOf(x, signs string) string {
	var b strings.Builder
	for _, c := range x {
		if strings.ContainsRune(signs, c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}
func keptLetters(x string) string {
	var b strings.Builder
	for _, c := range x {
		if strings.ContainsRune("abcdef-", c) || unicode.IsDigit(c) {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}
func keptSlashes(x string) string {
	var b strings.Builder
	for _, c := range x {
		if c == '.' || c == '/' || unicode.IsDigit(c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}
func characters(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
	os.Remove("/srv/" + letters(x))                // harmless
	os.Remove("/srv/" + strings.Map(plain, x))     // harmless
	exec.Command("sh", "-c", "run "+letters(x)).Run() // harmless
	os.Remove("/srv/" + dotted(x))                 // harmful
	exec.Command("sh", "-c", "run "+dotted(x)).Run() // harmless
	exec.Command("sh", "-c", "run "+spaced(x)).Run() // harmful
	exec.Command("sh", "-c", "run "+halfRange(x)).Run() // harmful
	exec.Command("sh", "-c", "run "+kept(x, r.FormValue("y"))).Run() // harmful
	exec.Command("sh", "-c", "run "+keptOf(x, digits)).Run() // harmless
	exec.Command("sh", "-c", "run "+keptOf(x, "abc-")).Run() // harmless
	exec.Command("sh", "-c", "run "+keptLetters(x)).Run() // harmless
	os.Remove("/srv/" + keptSlashes(x))            // harmful
}
func code(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
func opened(key []byte, state string) (command, note string, err error) {
	parts := strings.Split(state, "|")
	command, note = parts[0], parts[1]
	message := command + "|" + parts[2]
	if !hmac.Equal([]byte(parts[3]), []byte(code(key, message))) {
		return "", "", errors.New("not signed")
	}
	return command, note, nil
}
func isOwn(key []byte, text, given string) bool {
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, text)
	return hmac.Equal(mac.Sum(nil), []byte(given))
}
func isEqual(text, given string) bool {
	return hmac.Equal([]byte(text), []byte(given))
}
func signed(w http.ResponseWriter, r *http.Request) {
	key := []byte(os.Getenv("KEY"))
	x, y, given := r.FormValue("x"), r.FormValue("y"), r.FormValue("given")
	if isEqual(x, given) {
		exec.Command("sh", "-c", "run "+x).Run() // harmful
	}
	if isOwn(key, x, given) {
		exec.Command("sh", "-c", "run "+x).Run() // harmless
		exec.Command("sh", "-c", "run "+given+y).Run() // harmful
	}
	command, note, err := opened(key, y)
	if err != nil {
		return
	}
	exec.Command("sh", "-c", "run "+command).Run() // harmless
	exec.Command("sh", "-c", "run "+note).Run() // harmful
}
"""
JAVA = """\
import java.io.*;
import java.util.zip.*;
import javax.servlet.http.*;

public class Files extends HttpServlet {
    static void unpack(File file, File dir) throws IOException {
        ZipInputStream in = new ZipInputStream(new FileInputStream(file));
        for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
            String name = entry.getName();
            File to = new File(dir, name);
            if (name.indexOf("..") != -1 && !to.getCanonicalPath().startsWith(dir.getCanonicalPath())) {
                throw new IOException(name);
            }
            new FileOutputStream(to).close(); // harmless
        }
    }
    static void unpackAll(File file, File dir) throws IOException {
        ZipInputStream in = new ZipInputStream(new FileInputStream(file));
        for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
            String name = entry.getName();
            File to = new File(dir, name);
            if (name.indexOf("..") != -1 && !dir.exists()) {
                throw new IOException(name);
            }
            new FileOutputStream(to).close(); // harmful
        }
    }
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String name = request.getParameter("name");
        File to = new File("/srv/files", name);
        if (name.contains("..")) {
            return;
        }
        new FileOutputStream(to).close(); // harmless
    }
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        File to = new File("/srv/files", request.getParameter("name"));
        new FileOutputStream(to).close(); // harmful
    }
    protected void doPut(HttpServletRequest request, HttpServletResponse response) throws IOException {
        final String host = request.getParameter("host");
        Optional<String> known = hosts.stream().filter(other -> other.equalsIgnoreCase(host)).findAny();
        if (!known.isPresent()) {
            new java.net.URL("http://" + host).openStream().close(); // harmful
            return;
        }
        new java.net.URL("http://" + host).openStream().close(); // harmless
    }
    protected void doDelete(HttpServletRequest request, HttpServletResponse response) throws IOException {
        final String host = request.getParameter("host");
        final String other = request.getParameter("other");
        if (hosts.stream().noneMatch(known -> known.equals(host))) {
            return;
        }
        new java.net.URL("http://" + host).openStream().close(); // harmless
        new java.net.URL("http://" + other).openStream().close(); // harmful
    }
    protected void doOptions(HttpServletRequest request, HttpServletResponse response) throws IOException {
        final String host = request.getParameter("host");
        if (hosts.stream().anyMatch(known -> known.length() > host.length())) {
            new java.net.URL("http://" + host).openStream().close(); // harmful
        }
    }
    private java.util.List<String> hosts = java.util.List.of("a.example", "b.example");
}
class Addresses {
    private static final String SHOP = "https://shop.example/?name=%s", OTHER = "https://other.example/%s";
    private String base = "https://shop.example/%s";
    void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String name = request.getParameter("name");
        String form = SHOP;
        if (name.length() > 3) {
            form = OTHER;
        }
        response.sendRedirect(String.format(form, name)); // harmless
        response.sendRedirect(String.format("/shop/%s", name)); // harmless
        response.sendRedirect("https://shop.example/%s".formatted(name)); // harmless
        response.sendRedirect(String.format("https://%s/shop", name)); // harmful
        response.sendRedirect(String.format("/%s", name)); // harmful
        if (name.length() > 5) {
            form = "%s";
        }
        response.sendRedirect(String.format(form, name)); // harmful
    }
    static String letters(String text) {
        StringBuilder kept = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (Character.isLetterOrDigit(c) || c == '_' || c >= 'a' && c <= 'z') {
                kept.append(c);
            }
        }
        return kept.toString();
    }
    static String listed(String text) {
        StringBuilder kept = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            kept.append("abc-".indexOf(c) >= 0 ? c : '_');
        }
        return kept.toString();
    }
    static String dotted(String text) {
        StringBuilder kept = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (Character.isLetterOrDigit(c) || c == '.' || c == '/') {
                kept.append(c);
            }
        }
        return kept.toString();
    }
    static String printed(String text) {
        StringBuilder kept = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (!Character.isWhitespace(c)) {
                kept.append(c);
            }
        }
        return kept.toString();
    }
    protected void doTrace(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String name = request.getParameter("name");
        new FileOutputStream("/srv/" + letters(name)).close(); // harmless
        new FileOutputStream("/srv/" + listed(name)).close(); // harmless
        new FileOutputStream("/srv/" + dotted(name)).close(); // harmful
        new FileOutputStream("/srv/" + printed(name)).close(); // harmful
    }
    static boolean liesBelow(File root, File file) throws IOException {
        File top = root.getCanonicalFile();
        File current = file.getCanonicalFile();
        while (current != null) {
            if (current.equals(top)) {
                return true;
            }
            current = current.getParentFile();
        }
        return false;
    }
    static boolean seemsBelow(File root, File file) throws IOException {
        File current = file;
        while (current != null) {
            if (root.equals(current)) {
                return true;
            }
            current = current.getParentFile();
        }
        return false;
    }
    static boolean begins(File root, File file) throws IOException {
        return file.getCanonicalPath().startsWith(root.getCanonicalPath() + File.separator);
    }
    static boolean beginsAsWritten(File root, File file) throws IOException {
        return file.getPath().startsWith(root.getPath() + File.separator);
    }
    static void checkBelow(File root, File file) throws IOException {
        if (!liesBelow(root, file)) {
            throw new IOException("outside");
        }
    }
    static void warnBelow(File root, File file) throws IOException {
        if (!liesBelow(root, file)) {
            System.err.println("outside");
        }
    }
    static File found(File root, String name) throws IOException {
        File file = new File(root, name);
        if (!liesBelow(root, file)) {
            throw new IOException("outside");
        }
        return file;
    }
    static void refuse(String name) {
        if (name.contains("..")) {
            throw new IllegalArgumentException(name);
        }
    }
    static void refuseNothing(String name) {
        if (name.contains("..")) {
            System.err.println("odd");
        }
    }
    protected void doHead(HttpServletRequest request, HttpServletResponse response) throws IOException {
        File root = new File("/srv/files");
        String name = request.getParameter("name");
        File file = new File(root, name);
        if (liesBelow(root, file)) {
            new FileOutputStream(file).close(); // harmless
        }
        if (seemsBelow(root, file)) {
            new FileOutputStream(file).close(); // harmful
        }
        if (begins(root, file)) {
            new FileOutputStream(file).close(); // harmless
        }
        if (beginsAsWritten(root, file)) {
            new FileOutputStream(file).close(); // harmful
        }
        new FileOutputStream(found(root, name)).close(); // harmless
        warnBelow(root, file);
        new FileOutputStream(file).close(); // harmful
        checkBelow(root, file);
        new FileOutputStream(file).close(); // harmless
        String other = request.getParameter("other");
        refuseNothing(other);
        new FileOutputStream("/srv/" + other).close(); // harmful
        refuse(other);
        new FileOutputStream("/srv/" + other).close(); // harmless
    }
}
"""
SCRIPT = """\
const path = require("path"), fs = require("fs"), express = require("express");
const app = express();
const HOSTS = ["a.example"];
app.get("/1", (req, res) => {
  const file = path.join("/srv", req.query.name);
  if (req.query.name.includes("..")) return res.sendStatus(400);
  fs.readFileSync(file); // harmless
});
app.get("/2", (req, res) => {
  if (HOSTS.includes(req.query.a.b["host"])) fetch(req.query.a.b["host"]); // harmless
  fetch(req.query.a.b["other"]); // harmful
  fetch(req.query.a.host); // harmful
});
app.get("/4", (req, res) => {
  const host = req.query.host, other = req.query.other;
  if (HOSTS.some((known) => known === host)) {
    fetch("http://" + host); // harmless
    fetch("http://" + other); // harmful
  }
  if (!HOSTS.find((known) => known === other)) return;
  fetch("http://" + other); // harmless
  if (HOSTS.some((known) => known !== host)) fetch("http://" + host); // harmful
});
app.get("/5", (req, res) => {
  let host = req.query.host;
  if (host === "-" && req.query.last) host = "a.example";
  fetch("http://" + host); // harmful
});
app.get("/6", (req, res) => {
  let host = req.query.host;
  if (!HOSTS.includes(host)) host = "a.example";
  fetch("http://" + host); // harmless
});
app.get("/3", (req, res) => {
  const file = path.join("/srv", req.query.name);
  if (req.query.other.includes("..")) return res.sendStatus(400);
  fs.readFileSync(file); // harmful
});
"""
PROGRAMS = {"guards.py": PYTHON, "main.go": GO, "Files.java": JAVA, "guards.js": SCRIPT}
LINES = marked_lines(PROGRAMS)


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_a_guard_says_of_tainted_data(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line
