"""Go's libraries, a program each, written from their documentation.

`// found: ID` marks each line on which a check of these kinds reports something, and no other line.
"""

import re
from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

LIBRARIES = {
    "gin": """
import (
	"net/http"
	"os/exec"

	"github.com/gin-gonic/gin"
)

type form struct {
	Name string `form:"name"`
}

func main() {
	r := gin.Default()
	r.GET("/a", func(c *gin.Context) {
		var f form
		if err := c.ShouldBind(&f); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			c.XML(http.StatusBadRequest, gin.H{"error": err})
			c.AbortWithError(400, err)
			return
		}
		exec.Command("sh", "-c", f.Name).Run() // found: command-injection
		c.JSON(200, f)
		c.XML(200, f)
		c.YAML(200, f)
		c.IndentedJSON(200, c.Query("a"))
		c.SecureJSON(200, c.Query("a"))
		c.String(200, "hello %s", c.Query("a"))
		c.HTML(200, "page.html", gin.H{"name": f.Name})
		c.Data(200, "text/html", []byte(f.Name)) // found: cross-site-scripting
		c.Data(200, "application/json", []byte(f.Name))
		c.Header("Location", c.Param("to"))
		c.Redirect(302, c.Param("to")) // found: open-redirect
		c.File(c.Request.URL.Query().Get("p")) // found: path-traversal
		c.Writer.WriteString("<b>" + c.PostForm("n")) // found: cross-site-scripting
	})
	r.POST("/b", func(c *gin.Context) {
		file, _ := c.FormFile("f")
		c.SaveUploadedFile(file, "/srv/"+file.Filename)
		c.SaveUploadedFile(file, "/srv/"+c.PostForm("folder")) // found: path-traversal
	})
}
""",
    "echo": """
import (
	"os/exec"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

type user struct {
	Name string `json:"name"`
}

func hello(c echo.Context) error {
	u := new(user)
	if err := c.Bind(u); err != nil {
		return c.JSON(400, map[string]string{"error": err.Error()})
	}
	exec.Command("sh", "-c", u.Name).Run() // found: command-injection
	exec.Command("sh", "-c", c.Request().Header.Get("X")).Run() // found: command-injection
	c.JSON(200, u)
	c.XML(200, u)
	c.String(200, c.QueryParam("a"))
	c.Blob(200, "text/html", []byte(c.Param("a"))) // found: cross-site-scripting
	c.Response().Header().Set("X", c.Param("a"))
	return c.HTML(http.StatusOK, "<b>"+c.QueryParam("name")) // found: cross-site-scripting
}

func main() {
	e := echo.New()
	e.Use(middleware.Logger())
	e.GET("/hello", hello)
	e.GET("/file/*", func(c echo.Context) error {
		return c.File("/srv/" + c.Param("*")) // found: path-traversal
	})
	e.Start(":1323")
}
""",
    "websockets": """
import (
	"context"
	"io"
	"net"
	"os/exec"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/gobwas/ws/wsutil"
	"github.com/jinzhu/copier"
	old "golang.org/x/net/websocket"
)

type message struct {
	Text string
}

func coder(ctx context.Context, socket *websocket.Conn) {
	var m, other message
	wsjson.Read(ctx, socket, &m)
	exec.Command("sh", "-c", m.Text).Run() // found: command-injection
	copier.Copy(&other, &m)
	exec.Command("sh", "-c", other.Text).Run() // found: command-injection
	_, reader, _ := socket.Reader(ctx)
	text, _ := io.ReadAll(reader)
	exec.Command("sh", "-c", string(text)).Run() // found: command-injection
	wsjson.Write(ctx, socket, m)
}

func others(socket *old.Conn, connection net.Conn) {
	var m message
	old.JSON.Send(socket, m)
	exec.Command("sh", "-c", m.Text).Run()
	var text string
	old.Message.Receive(socket, &text)
	exec.Command("sh", "-c", text).Run() // found: command-injection
	data, _, _ := wsutil.ReadClientData(connection)
	exec.Command("sh", "-c", string(data)).Run() // found: command-injection
	answer, _, _ := wsutil.ReadServerData(connection)
	exec.Command("sh", "-c", string(answer)).Run()
}
""",
    "fiber": """
import (
	"os/exec"

	"github.com/gofiber/fiber/v2"
)

type person struct {
	Name string `json:"name"`
}

func main() {
	app := fiber.New()
	app.Get("/:name", func(c *fiber.Ctx) error {
		exec.Command("sh", "-c", c.Params("name")).Run() // found: command-injection
		c.Set("Content-Type", "text/html")
		c.SendString("<b>" + c.Params("name")) // found: cross-site-scripting
		return c.Redirect(c.Query("to")) // found: open-redirect
	})
	app.Post("/", func(c *fiber.Ctx) error {
		p := new(person)
		if err := c.BodyParser(p); err != nil {
			return c.Status(400).JSON(fiber.Map{"error": err.Error()})
		}
		exec.Command("sh", "-c", p.Name).Run() // found: command-injection
		return c.Status(200).SendString("hello " + p.Name)
	})
	app.Get("/json", func(c *fiber.Ctx) error {
		file, _ := c.FormFile("document")
		c.SaveFile(file, "/srv/"+file.Filename)
		c.SaveFile(file, "/srv/"+c.FormValue("folder")) // found: path-traversal
		return c.SendFile("./" + c.Params("file")) // found: path-traversal
	})
}
""",
    "chi": """
import (
	"fmt"
	"net/http"
	"os/exec"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/render"
)

type article struct {
	Title string
}

func list(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	exec.Command("sh", "-c", id).Run() // found: command-injection
	exec.Command("sh", "-c", chi.URLParamFromCtx(r.Context(), "id")).Run() // found: command-injection
	exec.Command("sh", "-c", chi.RouteContext(r.Context()).URLParam("id")).Run() // found: command-injection
	fmt.Fprintf(w, "<h1>%s</h1>", id) // found: cross-site-scripting
	a := &article{}
	if err := render.DecodeJSON(r.Body, a); err != nil {
		render.JSON(w, r, map[string]string{"error": err.Error()})
		return
	}
	exec.Command("sh", "-c", a.Title).Run() // found: command-injection
	render.JSON(w, r, a)
	render.PlainText(w, r, a.Title)
	render.HTML(w, r, a.Title) // found: cross-site-scripting
}

func main() {
	r := chi.NewRouter()
	r.Get("/{id}", list)
}
""",
    "gorilla": """
import (
	"net/http"
	"os/exec"

	"github.com/gorilla/mux"
	"github.com/gorilla/schema"
	"github.com/gorilla/websocket"
)

type query struct {
	Text string
}

var decoder = schema.NewDecoder()
var upgrader = websocket.Upgrader{}

func show(w http.ResponseWriter, r *http.Request) {
	vars := mux.Vars(r)
	exec.Command("sh", "-c", vars["id"]).Run() // found: command-injection
	var q query
	if err := decoder.Decode(&q, r.URL.Query()); err != nil {
		return
	}
	exec.Command("sh", "-c", q.Text).Run() // found: command-injection
	conn, _ := upgrader.Upgrade(w, r, nil)
	_, message, _ := conn.ReadMessage()
	exec.Command("sh", "-c", string(message)).Run() // found: command-injection
}

func main() {
	r := mux.NewRouter()
	r.HandleFunc("/{id}", show).Methods("GET")
}
""",
    "httprouter": """
import (
	"fmt"
	"net/http"

	"github.com/julienschmidt/httprouter"
)

func hello(w http.ResponseWriter, r *http.Request, ps httprouter.Params) {
	fmt.Fprintf(w, "<p>hello, %s!", ps.ByName("name")) // found: cross-site-scripting
	p := httprouter.ParamsFromContext(r.Context())
	fmt.Fprint(w, p.ByName("name")) // found: cross-site-scripting
}

func main() {
	router := httprouter.New()
	router.GET("/hello/:name", hello)
}
""",
    "fasthttp": """
import (
	"fmt"
	"os/exec"

	"github.com/valyala/fasthttp"
)

func handle(ctx *fasthttp.RequestCtx) {
	exec.Command("sh", "-c", string(ctx.QueryArgs().Peek("a"))).Run() // found: command-injection
	exec.Command("sh", "-c", string(ctx.FormValue("a"))).Run() // found: command-injection
	exec.Command("sh", "-c", string(ctx.Request.Header.Peek("A"))).Run() // found: command-injection
	exec.Command("sh", "-c", ctx.UserValue("name").(string)).Run() // found: command-injection
	ctx.SetContentType("text/html")
	fmt.Fprintf(ctx, "<b>%s</b>", ctx.PostBody()) // found: cross-site-scripting
	ctx.Redirect(string(ctx.QueryArgs().Peek("to")), 302) // found: open-redirect
	ctx.SendFile("/srv/" + string(ctx.Path())) // found: path-traversal
}

func main() {
	fasthttp.ListenAndServe("localhost:8080", handle)
}
""",
    "grpc": """
import (
	"context"
	"os/exec"

	"google.golang.org/grpc"
	pb "example.org/shop/proto"
)

type server struct {
	pb.UnimplementedGreeterServer
}

func (s *server) SayHello(ctx context.Context, in *pb.HelloRequest) (*pb.HelloReply, error) {
	exec.Command("sh", "-c", in.GetName()).Run() // found: command-injection
	exec.Command("sh", "-c", in.Name).Run() // found: command-injection
	return &pb.HelloReply{Message: in.GetName()}, nil
}

type stored struct{ Name string }

func (s *server) Run(ctx context.Context, in *stored) { exec.Command("sh", "-c", in.Name).Run() }
func (s *server) Start(ctx context.Context, name string) { exec.Command("sh", "-c", name).Run() }
func (s *server) runs(ctx context.Context, in *pb.HelloRequest) { exec.Command("sh", "-c", in.Name).Run() }

func main() {
	s := grpc.NewServer()
	pb.RegisterGreeterServer(s, &server{})
}
""",
    "a plug-in": """
import (
	"context"
	"os"

	"github.com/hashicorp/go-plugin"
	pb "example.org/shop/proto"
)

type notifier struct {
	pb.UnimplementedNotifierServer
}

func (n *notifier) Configure(ctx context.Context, in *pb.Config) (*pb.Empty, error) {
	return &pb.Empty{}, os.Remove(in.Path)
}

func main() {
	plugin.Serve(&plugin.ServeConfig{})
}
""",
    "interfaces of interfaces": """
import (
	"net/http"
	"os"
)

type Stores interface{ Shops() Shops }

type All interface {
	Stores
	Close() error
}

type Shops interface {
	ShopByName(name string) (*Shop, error)
}

type Shop struct{ Folder string }

type handler struct{ all All }

func (h *handler) show(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	shop, _ := h.all.Shops().ShopByName(name)
	os.ReadDir(shop.Folder)
	os.ReadDir("/srv/" + name) // found: path-traversal
}
""",
    "interfaces": """
import (
	"fmt"
	"net/http"
)

type page struct{ title string }

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.render(w, r.FormValue("name"))
}

type renderer interface {
	render(w http.ResponseWriter, name string)
}

func (p *page) render(w http.ResponseWriter, name string) {
	fmt.Fprintf(w, "<b>%s</b>", name) // found: cross-site-scripting
}

type shop struct{ view renderer }

func (s shop) buy(w http.ResponseWriter, r *http.Request) {
	s.view.render(w, r.FormValue("b"))
}

func log(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("<i>" + r.URL.Query().Get("x"))) // found: cross-site-scripting
		next.ServeHTTP(w, r)
	})
}

func main() {
	s := shop{&page{}}
	http.Handle("/", log(&page{}))
	http.HandleFunc("/b", s.buy)
}
""",
    "sql": """
import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"github.com/lib/pq"
)

type store struct{ db *sql.DB }

func (s *store) find(ctx context.Context, r *http.Request) {
	name := r.FormValue("name")
	s.db.QueryContext(ctx, "SELECT * FROM t WHERE n = '"+name+"'") // found: sql-injection
	s.db.QueryContext(ctx, "SELECT * FROM t WHERE n = $1", name)
	s.db.Query(fmt.Sprintf("SELECT * FROM t LIMIT %d", r.ContentLength))
	s.db.Query(fmt.Sprintf("SELECT * FROM %s", pq.QuoteIdentifier(name)))
	s.db.Query("SELECT * FROM t WHERE n = " + pq.QuoteLiteral(name))
	tx, _ := s.db.BeginTx(ctx, nil)
	tx.Exec("DELETE FROM t WHERE n = " + name) // found: sql-injection
	stmt, _ := tx.Prepare("SELECT * FROM t WHERE n = ?")
	stmt.Query(name)
	conn, _ := s.db.Conn(ctx)
	conn.ExecContext(ctx, "DELETE FROM t WHERE n = "+name) // found: sql-injection
}
""",
    "sqlx": """
import (
	"net/http"

	"github.com/jmoiron/sqlx"
)

type person struct{ Name string }

func find(r *http.Request) {
	db := sqlx.MustConnect("postgres", "dbname=shop")
	name := r.FormValue("name")
	people := []person{}
	db.Select(&people, "SELECT * FROM person WHERE name='"+name+"'") // found: sql-injection
	db.Select(&people, "SELECT * FROM person WHERE name=$1", name)
	db.Get(&people[0], "SELECT * FROM person WHERE name='"+name+"'") // found: sql-injection
	db.NamedQuery("SELECT * FROM person WHERE name=:n"+name, map[string]any{"n": name}) // found: sql-injection
	tx := db.MustBegin()
	tx.MustExec("DELETE FROM person WHERE name=" + name) // found: sql-injection
	db.MustExec(db.Rebind("SELECT " + name)) // found: sql-injection
}
""",
    "gorm": """
import (
	"net/http"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
)

type user struct{ Name string }

func find(r *http.Request) {
	db, _ := gorm.Open(sqlite.Open("test.db"), &gorm.Config{})
	name := r.FormValue("name")
	var u user
	db.Where("name = '" + name + "'").First(&u) // found: sql-injection
	db.Where("name = ?", name).First(&u)
	db.Where(&user{Name: name}).First(&u)
	db.First(&u, "name = '"+name+"'") // found: sql-injection
	db.Model(&u).Order(name).Find(&u) // found: sql-injection
	db.Raw("SELECT " + name).Scan(&u) // found: sql-injection
	db.Exec("DROP TABLE " + name) // found: sql-injection
	db.Model(&user{}).Where("a").Or("b = " + name).Find(&u) // found: sql-injection
	db.Find(&u, "name = ?", name)
	db.Delete(&u, "name = "+name) // found: sql-injection
	db.Create(&user{Name: name})
	db.Clauses().Where("x").Group(name).Find(&u) // found: sql-injection
}
""",
    "pgx": """
import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func find(ctx context.Context, r *http.Request) {
	conn, _ := pgx.Connect(ctx, "postgres://localhost/shop")
	name := r.FormValue("name")
	conn.Query(ctx, "SELECT "+name) // found: sql-injection
	conn.Query(ctx, "SELECT $1", name)
	conn.QueryRow(ctx, "SELECT * FROM "+pgx.Identifier{name}.Sanitize())
	pool, _ := pgxpool.New(ctx, "postgres://localhost/shop")
	pool.Exec(ctx, "DELETE FROM t WHERE n="+name) // found: sql-injection
	tx, _ := pool.Begin(ctx)
	tx.Exec(ctx, "DELETE FROM t WHERE n="+name) // found: sql-injection
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM t WHERE n=" + name) // found: sql-injection
}
""",
    "gopg": """
import (
	"net/http"

	"github.com/go-pg/pg/v10"
)

type book struct{ Title string }

func find(r *http.Request) {
	db := pg.Connect(&pg.Options{User: "shop"})
	name := r.FormValue("name")
	b := &book{}
	db.Query(b, "SELECT * FROM books WHERE title = '"+name+"'") // found: sql-injection
	db.Query(b, "SELECT * FROM books WHERE title = ?", name)
	db.Exec("DELETE FROM books WHERE title = " + name) // found: sql-injection
	db.Model(b).Where("title = '" + name + "'").Select() // found: sql-injection
	db.Model(b).Column("title").Where("title = ?", name).Select()
	db.Model(b).Limit(1).OrderExpr(name).Select() // found: sql-injection
}
""",
    "bun": """
import (
	"context"
	"net/http"

	"github.com/uptrace/bun"
)

type user struct{ Name string }

func find(ctx context.Context, db *bun.DB, r *http.Request) {
	name := r.FormValue("name")
	u := new(user)
	db.NewSelect().Model(u).Where("name = ?", name).Scan(ctx)
	db.NewSelect().Model(u).Where("name = '" + name + "'").Scan(ctx) // found: sql-injection
	db.NewUpdate().Model(u).Set("name = " + name).Exec(ctx) // found: sql-injection
	db.NewRaw("SELECT " + name).Scan(ctx, u) // found: sql-injection
	db.NewSelect().Model(u).OrderExpr(name).Scan(ctx) // found: sql-injection
}
""",
    "squirrel": """
import (
	"net/http"

	sq "github.com/Masterminds/squirrel"
)

func find(r *http.Request) {
	name := r.FormValue("name")
	users := sq.Select("*").From("users").Where(sq.Eq{"name": name})
	active := sq.Select("*").From("users").Where("name = '" + name + "'") // found: sql-injection
	sorted := users.OrderBy(name) // found: sql-injection
	sq.Expr("a = "+name, 1) // found: sql-injection
	several := sq.Select("*").From("users").Where(sq.And{sq.Eq{"name": name}, sq.Or{sq.Like{"name": name}}})
	filled := sq.Select("*").From("users").Where(sq.Expr("lower(name) = ?", name))
	text, _, _ := where(sq.And{sq.Eq{"name": name}}).ToSql()
	nested := sq.Expr("id IN (" + text + ")")
	_, _, _, _, _ = active, sorted, several, filled, nested
}

func where(condition sq.Sqlizer) sq.SelectBuilder {
	return sq.Select("*").From("users").Where(condition)
}
""",
    "conditions": """
import (
	"net/http"

	"xorm.io/builder"
	"xorm.io/xorm"
)

func find(s *xorm.Session, r *http.Request) {
	name := r.FormValue("name")
	all := []builder.Cond{builder.Like{"name", name}, builder.Eq{"name": name}}
	s.Where(builder.And(builder.In("name", name), builder.Or(all...))).OrderBy("id")
	s.Where(builder.Expr("name = '" + name + "'")) // found: sql-injection
	s.Where("name = '" + name + "'") // found: sql-injection
}
""",
    "schemas": """
import (
	"net/http"

	"entgo.io/ent/dialect/sql"
)

func order(r *http.Request) {
	sql.ExprP("name = " + r.FormValue("a")) // found: sql-injection
	sql.Raw(r.FormValue("a")) // found: sql-injection
	sql.EQ("name", r.FormValue("a"))
}
""",
    "mongo": """
import (
	"context"
	"encoding/json"
	"net/http"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

func find(ctx context.Context, c *mongo.Collection, r *http.Request) {
	c.Find(ctx, bson.D{{"name", r.FormValue("name")}})
	c.Find(ctx, bson.M{"$where": "this.name == '" + r.FormValue("name") + "'"}) // found: nosql-injection
	var filter map[string]interface{}
	json.NewDecoder(r.Body).Decode(&filter)
	c.FindOne(ctx, filter) // found: nosql-injection
}
""",
    "resty": """
import (
	"net/http"

	"github.com/go-resty/resty/v2"
)

func fetch(r *http.Request) {
	client := resty.New()
	client.R().SetQueryParam("q", r.FormValue("q")).Get("https://api.example.org/search")
	client.R().EnableTrace().Get(r.FormValue("url")) // found: request-forgery
	client.SetBaseURL(r.FormValue("url")) // found: request-forgery
}
""",
    "clients": """
import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

var base = address()

func fetch(w http.ResponseWriter, r *http.Request) {
	target := r.URL.Query().Get("url")
	http.Get(target) // found: request-forgery
	http.Get("https://api.example.org/items/" + target)
	http.Get(fmt.Sprintf("https://api.example.org/%s", target))
	http.Get(fmt.Sprintf("https://%s.example.org/", target)) // found: request-forgery
	http.Post("https://example.org"+target, "text/plain", &bytes.Buffer{}) // found: request-forgery
	req, _ := http.NewRequestWithContext(context.Background(), "GET", target, nil) // found: request-forgery
	http.DefaultClient.Do(req)
	http.Redirect(w, r, r.URL.Path+"?"+r.URL.RawQuery, 302)
	http.Redirect(w, r, "?next="+target, 302)
	http.Redirect(w, r, target+"?next", 302) // found: open-redirect
	http.Get(base + "/items/" + target)
	net.Dial("tcp", target) // found: request-forgery
	u, _ := url.Parse(target)
	httputil.NewSingleHostReverseProxy(u).ServeHTTP(w, r) // found: request-forgery
}
""",
    "templates": """
import (
	"html/template"
	"net/http"
	texttemplate "text/template"
)

var page = template.Must(template.New("page").Parse("<b>{{.}}</b>"))
var text = texttemplate.Must(texttemplate.New("page").Parse("<b>{{.}}</b>"))

func show(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	page.Execute(w, name)
	page.Execute(w, template.HTML(name)) // found: cross-site-scripting
	text.Execute(w, name) // found: cross-site-scripting
	text.ExecuteTemplate(w, "page", map[string]string{"Name": name}) // found: cross-site-scripting
	template.New("a").Parse(name) // found: template-injection
	http.Error(w, name, 400)
}
""",
    "logging": """
import (
	"log"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
)

func show(r *http.Request, z *zap.Logger, zero zerolog.Logger) {
	name := r.FormValue("name")
	log.Println("user", name) // found: log-injection
	log.Printf("user %s", name) // found: log-injection
	log.Printf("user %q", name)
	log.Printf("user %q of %s", name, "shop")
	log.Printf("%d%% of %q for %s", 3, "shop", name) // found: log-injection
	log.Println(strconv.Quote(name))
	logrus.WithField("name", name).Info("user")
	logrus.Infof("user %s", name)
	z.Info("user", zap.String("name", name))
	zero.Info().Str("name", name).Msg("user")
	zlog.Info().Msgf("user %s", name)
	slog.Info("user", "name", name)
}
""",
    "serialization": """
import (
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"os/exec"

	"gopkg.in/yaml.v3"
)

type job struct{ Line string }

func run(w http.ResponseWriter, r *http.Request) {
	var j, k, l, m job
	gob.NewDecoder(r.Body).Decode(&j) // found: unsafe-deserialization
	exec.Command("sh", "-c", j.Line).Run() // found: command-injection
	xml.NewDecoder(r.Body).Decode(&k)
	exec.Command("sh", "-c", k.Line).Run() // found: command-injection
	yaml.Unmarshal([]byte(r.FormValue("y")), &l)
	exec.Command("sh", "-c", l.Line).Run() // found: command-injection
	json.NewDecoder(r.Body).Decode(&m)
	exec.Command("sh", "-c", m.Line).Run() // found: command-injection
	text, _ := json.Marshal(m)
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
	json.NewEncoder(w).Encode(m)
}

func typed(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	w.Header().Set("Content-Type", fmt.Sprintf("application/x-%s-lines", name))
	w.Write([]byte(name))
}
""",
    "files": """
import (
	"io"
	"net/http"
	"os"
	"path/filepath"
)

func serve(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("file")
	http.ServeFile(w, r, "/srv/"+name) // found: path-traversal
	root, _ := os.OpenRoot("/srv")
	f, _ := root.Open(name)
	io.Copy(w, f)
	defer f.Close()
	if filepath.IsLocal(name) {
		os.ReadFile(filepath.Join("/srv", name))
	}
	os.ReadFile(filepath.Join("/srv", name)) // found: path-traversal
	upload, header, _ := r.FormFile("f")
	out, _ := os.Create("/srv/" + header.Filename)
	os.Create("/srv/" + r.FormValue("folder")) // found: path-traversal
	io.Copy(out, upload)
}
""",
    "archives": """
import (
	"archive/tar"
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func unzip(path, target string) {
	reader, _ := zip.OpenReader(path)
	for _, f := range reader.File {
		out, _ := os.Create(filepath.Join(target, f.Name)) // found: archive-extraction
		in, _ := f.Open()
		io.Copy(out, in)
	}
	for _, f := range reader.File {
		name := filepath.Join(target, f.Name)
		if !strings.HasPrefix(name, filepath.Clean(target)+string(os.PathSeparator)) {
			continue
		}
		os.Create(name)
	}
	for _, f := range reader.File {
		if !filepath.IsLocal(f.Name) {
			continue
		}
		os.Create(filepath.Join(target, f.Name))
	}
}

func untar(in io.Reader, target string) {
	tr := tar.NewReader(in)
	for {
		header, err := tr.Next()
		if err == io.EOF {
			break
		}
		name := filepath.Join(target, header.Name)
		switch header.Typeflag {
		case tar.TypeDir:
			os.MkdirAll(name, 0o755) // found: archive-extraction
		case tar.TypeReg:
			os.OpenFile(name, os.O_CREATE, 0o600) // found: archive-extraction
		case tar.TypeSymlink:
			os.Symlink(header.Linkname, filepath.Join(target, filepath.Base(header.Name))) // found: archive-extraction
		}
	}
}
""",
    "beego": """
import (
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/astaxie/beego"
	"github.com/astaxie/beego/context"
	"xorm.io/xorm"
)

type ApiController struct {
	beego.Controller
}

type note struct {
	Name string
}

var engine *xorm.Engine

func snake(s string) string {
	data := make([]byte, 0, len(s)*2)
	for i := 0; i < len(s); i++ {
		d := s[i]
		if d >= 'A' && d <= 'Z' {
			data = append(data, '_')
		}
		data = append(data, d)
	}
	return string(data[:])
}

func count(field, value string) {
	session := engine.Where("owner=?", value)
	session = session.And(fmt.Sprintf("%s like ?", snake(field)), value) // found: sql-injection
	session.Desc("name").GroupBy(field).Count(&note{}) // found: sql-injection
}

func (c *ApiController) Run() {
	field := c.Input().Get("field")
	count(field, c.GetString("value"))
	var n note
	json.Unmarshal(c.Ctx.Input.RequestBody, &n)
	exec.Command("sh", "-c", n.Name).Run() // found: command-injection
	exec.Command("sh", "-c", c.Ctx.Input.Query("q")).Run() // found: command-injection
	exec.Command("sh", "-c", c.Ctx.Request.FormValue("q")).Run() // found: command-injection
	size, _ := c.GetInt("size")
	exec.Command("sh", "-c", fmt.Sprintf("head -%d", size)).Run()
	c.Ctx.Output.Download("/srv/" + n.Name) // found: path-traversal
	c.Ctx.WriteString("<b>" + n.Name) // found: cross-site-scripting
	c.Redirect(field, 302) // found: open-redirect
}

func filter(ctx *context.Context) {
	exec.Command("sh", "-c", ctx.Input.Header("X-Name")).Run() // found: command-injection
	ctx.Redirect(302, ctx.Input.Query("to")) // found: open-redirect
}
""",
    "macaron": """
import (
	"os/exec"

	"gopkg.in/macaron.v1"
)

type Context struct {
	*macaron.Context
	Name string
}

func run(c *Context) {
	exec.Command("sh", "-c", c.Query("q")).Run() // found: command-injection
	exec.Command("sh", "-c", c.Params(":name")).Run() // found: command-injection
	exec.Command("sh", "-c", c.Req.Request.FormValue("q")).Run() // found: command-injection
	c.QueryInt("size")
	c.ServeFile("/srv/" + c.GetCookie("file")) // found: path-traversal
	c.Redirect(c.QueryTrim("to")) // found: open-redirect
}
""",
    "iris": """
import (
	"os/exec"

	"github.com/kataras/iris/v12"
)

type note struct {
	Name string
}

func main() {
	app := iris.New()
	app.Post("/a", func(ctx iris.Context) {
		var n note
		ctx.ReadJSON(&n)
		exec.Command("sh", "-c", n.Name).Run() // found: command-injection
		exec.Command("sh", "-c", ctx.URLParam("q")).Run() // found: command-injection
		exec.Command("sh", "-c", ctx.Params().Get("name")).Run() // found: command-injection
		ctx.HTML("<b>" + ctx.PostValue("n")) // found: cross-site-scripting
		ctx.JSON(n)
		ctx.SendFile("/srv/"+n.Name, "a") // found: path-traversal
		ctx.Redirect(ctx.FormValue("to")) // found: open-redirect
	})
}
""",
    "goframe": """
import (
	"os/exec"

	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

type note struct {
	Name string
}

func run(r *ghttp.Request) {
	var n *note
	if err := r.Parse(&n); err != nil {
		r.Response.WriteJsonExit(g.Map{"error": err})
	}
	exec.Command("sh", "-c", n.Name).Run() // found: command-injection
	exec.Command("sh", "-c", r.Get("q").String()).Run() // found: command-injection
	exec.Command("sh", "-c", r.GetQuery("q").String()).Run() // found: command-injection
	r.Response.ServeFile("/srv/" + n.Name) // found: path-traversal
	r.Response.RedirectTo(r.Get("to").String()) // found: open-redirect
	r.Response.Write("<b>" + n.Name) // found: cross-site-scripting
}
""",
    "hertz": """
import (
	"context"
	"os/exec"

	"github.com/cloudwego/hertz/pkg/app"
)

type note struct {
	Name string
}

func run(ctx context.Context, c *app.RequestContext) {
	var n note
	if err := c.BindAndValidate(&n); err != nil {
		c.String(400, err.Error())
		return
	}
	exec.Command("sh", "-c", n.Name).Run() // found: command-injection
	exec.Command("sh", "-c", c.Query("q")).Run() // found: command-injection
	c.JSON(200, n)
	c.Data(200, "text/html", []byte(n.Name)) // found: cross-site-scripting
	c.File("/srv/" + c.Param("name")) // found: path-traversal
	c.Redirect(302, []byte(c.PostForm("to"))) // found: open-redirect
}
""",
    "ssh": """
import (
	"net/http"

	"golang.org/x/crypto/ssh"
)

func run(r *http.Request) {
	config := &ssh.ClientConfig{
		User:            "shop",
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), // found: certificate-check-off
	}
	client, _ := ssh.Dial("tcp", "example.org:22", config)
	session, _ := client.NewSession()
	session.Run("ls " + r.FormValue("d")) // found: command-injection
	session.Output("ls " + r.FormValue("d")) // found: command-injection
}
""",
    "jwt": """
import (
	"net/http"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

func sign(r *http.Request) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"name": r.FormValue("name")})
	token.SignedString([]byte("k3y-of-the-shop")) // found: constant-signing-key
	token.SignedString([]byte(os.Getenv("KEY")))
	jwt.Parse(r.FormValue("t"), func(t *jwt.Token) (interface{}, error) {
		return []byte("k3y-of-the-shop"), nil // found: constant-signing-key
	})
	jwt.Parse(r.FormValue("t"), func(t *jwt.Token) (interface{}, error) {
		return []byte(os.Getenv("KEY")), nil
	})
}
""",
    "cookies": """
import (
	"net/http"

	"github.com/gorilla/sessions"
)

var store = sessions.NewCookieStore([]byte("s0me-secret-key")) // found: constant-signing-key

func set(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "session", Value: "x"}) // found: insecure-cookie
	http.SetCookie(w, &http.Cookie{Name: "session", Value: "x", Secure: true, HttpOnly: true})
	session, _ := store.Get(r, "shop")
	session.Options = &sessions.Options{Path: "/", MaxAge: 60, Secure: true, HttpOnly: true}
	session.Options = &sessions.Options{Path: "/", MaxAge: 60} // found: insecure-cookie
	session.Save(r, w)
}
""",
    "sources": """
import (
	"bufio"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

var name = flag.String("name", "", "a name")

func main() {
	flag.Parse()
	db, _ := sql.Open("postgres", "")
	db.Query("SELECT " + *name)
	db.Query("SELECT " + os.Getenv("NAME"))
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	db.Query("SELECT " + in.Text()) // found: sql-injection
	line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')
	db.Query("SELECT " + line) // found: sql-injection
	var typed string
	fmt.Scanln(&typed)
	db.Query("SELECT " + typed) // found: sql-injection
	exec.Command("sh", "-c", "ls "+os.Args[1]).Run() // found: command-injection
	exec.Command(os.Args[0], "again").Run()
	db.Query("SELECT " + os.Args[0]) // found: sql-injection
}
""",
}
MARK = re.compile(r"// found: (\S+)$")


@pytest.fixture(scope="module")
def reported():
    programs = {f"shop_{name}/main.go": f"package {name}\n{text}".encode() for name, text in LIBRARIES.items()}
    request = ScanRequest(Path("."), None, {"rules": ("injection", "configuration", "cryptography", "log-injection")})
    report = scan_tree(MemoryTree(programs, "libraries"), request).report
    return {(finding.place.file, finding.place.line, finding.check) for finding in report.findings}


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_is_known(name, reported):
    lines = enumerate(LIBRARIES[name].splitlines(), 2)
    expected = {(number, mark[1]) for number, line in lines if (mark := MARK.search(line))}
    assert {(line, check) for file, line, check in reported if file == f"shop_{name}/main.go"} == expected
