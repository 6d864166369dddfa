"""Where tainted data flows in Go, and where it does not, program by program."""

import pytest

MODEL = 'source_call("test", "flows.Source"). sink_argument("test", "flows.Sink", "0").\n'
HEADER = (
    'package p\n\nimport (\n\t"bytes"\n\t"context"\n\t"encoding/base64"\n\t"encoding/json"\n\t"flows"\n'
    '\t"fmt"\n\t"io"\n\t"os"\n\t"example.org/other"\n\t"strconv"\n\t"strings"\n\t"time"\n)\n'
)
PROGRAMS = {
    "a struct that is assigned is copied": """
type T struct{ a string }
func f() { x := T{}; y := x; y.a = flows.Source()
	flows.Sink(x.a)
	flows.Sink(y.a) // found
}""",
    "a struct that is passed is copied, unless by a pointer": """
type T struct{ a string }
func set(t T) { t.a = flows.Source() }
func put(t *T) { t.a = flows.Source() }
func f() { var x, y T; set(x); put(&y)
	flows.Sink(x.a)
	flows.Sink(y.a) // found
}""",
    "a pointer leads to its variable": """
func set(p *string) { *p = flows.Source() }
func f() { var x, y string; set(&x)
	flows.Sink(x) // found
	flows.Sink(y)
}""",
    "results are told apart": """
func two() (string, string) { return flows.Source(), "b" }
func f() { a, b := two()
	flows.Sink(a) // found
	flows.Sink(b)
}""",
    "an error of reading does not tell what was read": """
func f() { body, err := io.ReadAll(flows.Source())
	if err != nil { flows.Sink(err); return }
	flows.Sink(body) // found
	text, err := base64.StdEncoding.DecodeString(flows.Source())
	if err != nil { flows.Sink(err.Error()) } else { flows.Sink(text) } // found
	name, other := io.ReadAll(flows.Source())
	flows.Sink(other) // found
	flows.Sink(name) // found
}""",
    "objects that a function makes for its callers are kept apart, however many values refer to them": """
type T struct{ root string }
func build(root string) *T { return &T{root: root} }
func open(root string) *T { return build(root) }
func (t *T) path(name string) string { return t.root + name }
func f() { x, y := open(flows.Source()), open("b"); pass0(y)
	flows.Sink(x.path("c")) // found
	flows.Sink(y.path("c"))
}
"""
    + "".join(f"func pass{i}(t *T) {{ pass{i + 1}(t) }}\n" for i in range(120))
    + "func pass120(t *T) { flows.Sink(t.path(``)) }",
    "a function without parameters makes a new object for each caller, however many values refer to them": """
type T struct{ name string }
func build() *T { return &T{} }
func (t *T) copyOf(name string) { t.name = name + "x" }
func f() { t := build(); t.copyOf(flows.Source()); pass0(t)
	flows.Sink(t.name) // found
}
func g() { t := build(); pass0(t)
	flows.Sink(t.name)
}
"""
    + "".join(f"func pass{i}(t *T) {{ pass{i + 1}(t) }}\n" for i in range(120))
    + "func pass120(t *T) { flows.Sink(t.name) }",
    "a context tells its keys apart": """
func f(ctx context.Context) {
	ctx = context.WithValue(ctx, "a", flows.Source())
	ctx = context.WithValue(ctx, "b", "c")
	flows.Sink(ctx.Value("a")) // found
	flows.Sink(ctx.Value("b"))
	flows.Sink(other.Find(ctx))
	g(ctx)
}
func g(ctx context.Context) {
	flows.Sink(ctx.Value("a")) // found
	flows.Sink(ctx.Value("b"))
}""",
    "a key of a map is deleted": """
func f() { m := map[string]string{"a": flows.Source(), "b": flows.Source()}; delete(m, "a")
	flows.Sink(m["a"])
	flows.Sink(m["b"]) // found
}""",
    "an embedded struct's field is promoted": """
type A struct{ a, b string }
type B struct{ A }
func (x *A) first() string { return x.a }
func f() { x := B{A{a: flows.Source()}}
	flows.Sink(x.a) // found
	flows.Sink(x.b)
	flows.Sink(x.first()) // found
}""",
    "a channel carries what is sent": """
func f() { c, d := make(chan string), make(chan string)
	go func() { c <- flows.Source() }()
	flows.Sink(<-c) // found
	flows.Sink(<-d)
}""",
    "recover gives what was raised": """
func f() {
	defer func() { r := recover()
		flows.Sink(r) // found
	}()
	panic(flows.Source())
}""",
    "a deferred call runs later": """
func f() { x := "a"
	defer func() { x = flows.Source() }()
	flows.Sink(x)
}""",
    "a builder holds what is written to it": """
func f() { var a, b strings.Builder; a.WriteString(flows.Source()); b.WriteString("b")
	flows.Sink(a.String()) // found
	flows.Sink(b.String())
}""",
    "a decoded value holds what it was decoded from": """
type T struct{ A, b string }
func f() { var x, y T; json.Unmarshal([]byte(flows.Source()), &x)
	flows.Sink(x.A) // found
	flows.Sink(x.b)
	flows.Sink(y.A)
}""",
    "printing shows the fields of a struct": """
type T struct{ a string }
func f() { x, y := T{a: flows.Source()}, T{a: "b"}
	flows.Sink(fmt.Sprint(x)) // found
	flows.Sink(fmt.Sprint(y))
}""",
    "what is written to a file is not its name": """
func f() { x, _ := os.Create("x"); var b bytes.Buffer; fmt.Fprint(x, flows.Source()); fmt.Fprint(&b, flows.Source())
	flows.Sink(x.Name())
	flows.Sink(b.String()) // found
}""",
    "a number is no text": """
func f() { n, _ := strconv.Atoi(flows.Source())
	flows.Sink(strconv.Itoa(n))
	flows.Sink(bytes.NewBufferString(flows.Source()).String()) // found
}""",
    "a field for numbers or times holds no text": """
type T struct { N int; P *uint16; Ok bool; At time.Time; Name string; B []byte }
func f() { var x T; json.Unmarshal([]byte(flows.Source()), &x)
	flows.Sink(fmt.Sprint(x.N))
	flows.Sink(fmt.Sprint(*x.P))
	flows.Sink(fmt.Sprint(x.Ok))
	flows.Sink(x.At.String())
	flows.Sink(x.Name) // found
	flows.Sink(string(x.B)) // found
}""",
    "a verb for numbers shows no text": """
func f() { x := flows.Source()
	flows.Sink(fmt.Sprintf("%d %5.2f", x, x))
	flows.Sink(fmt.Sprintf("%d%% %s", 1, x)) // found
	flows.Sink(fmt.Sprintf("%s %d", "a", x))
	flows.Sink(fmt.Sprintf("%x", x))
}""",
    "what is scanned as a number is one": """
func f() { var n, m, k int; var s string
	fmt.Sscanf(flows.Source(), "%d of %3d", &n, &m)
	flows.Sink(fmt.Sprint(n, m))
	fmt.Sscanf(flows.Source(), "%d %s", &k, &s)
	flows.Sink(s) // found
}""",
    "what a library looks up is not what it is asked for": """
func f(cache *other.Cache, client other.Client) { x := flows.Source()
	flows.Sink(cache.Fetch(x))
	flows.Sink(client.FindByName("a", x))
	flows.Sink(client.GetPath(x)) // found
	flows.Sink(client.Decode(x)) // found
	flows.Sink(other.Get(x)) // found
}""",
    "what is made with a length holds nothing of it": """
func f() { x := make([]string, len(flows.Source())); y := make([]string, unknown(flows.Source()))
	flows.Sink(x[0])
	flows.Sink(y[0])
	y[0] = flows.Source()
	flows.Sink(y[0]) // found
}""",
}


FILES = {f"p{n}/p.go": HEADER + code for n, code in enumerate(PROGRAMS.values())}
"""Each program is a package of its own."""


@pytest.fixture(scope="module")
def found(flows):
    return flows(MODEL, FILES)


@pytest.mark.parametrize("file", FILES, ids=PROGRAMS)
def test_taint_flows_where_the_language_lets_it(found, marked, file):
    assert found[file] == marked(FILES[file])
