"""Classes, functions, modules and fields that constants name: the calls that running programs makes, and taint."""

import pytest

from analyzer.graphs import callgraph


def java(classes, body):
    """Return a package of classes with a method that runs `body`."""
    start = f"package p;\nimport java.lang.reflect.*;\n{classes}\n"
    return {"p/Main.java": start + f"class Main {{\n  static void run() throws Exception {{ {body} }}\n}}\n"}


PROGRAMS = {
    "java: a class by its name makes objects": (
        java(
            "class A { A() { made(); } static void made() {} void m() {} }",
            'Object a = Class.forName("p.A").getDeclaredConstructor().newInstance(); ((A) a).m();',
        ),
        {"p.Main.run": ["p.A.A", "p.A.m"], "p.A.A": ["p.A.made"]},
    ),
    "java: the name of a class is handed over, and a nested one has a dollar sign in it": (
        java(
            "class A { static class In { In() { made(); } static void made() {} } }\n"
            "class Maker { static Object make(String n) throws Exception { return Class.forName(n).newInstance(); } }",
            'Maker.make("p.A$In");',
        ),
        {"p.Main.run": ["p.Maker.make"], "p.Maker.make": ["p.A.In.In"], "p.A.In.In": ["p.A.In.made"]},
    ),
    "java: a method by its name, of the receiver's class": (
        java(
            "class A { void m(String s) {} void other(String s) {} }\nclass B extends A { void m(String s) {} }",
            'Method m = A.class.getDeclaredMethod("m", String.class); m.setAccessible(true); m.invoke(new B(), "x");',
        ),
        {"p.Main.run": ["p.B.m"]},
    ),
    "java: the types that are asked for choose among overloads": (
        java(
            "class A { static void m(String s) { one(); } static void m(Integer i) { two(); }\n"
            "  static void one() {} static void two() {} }",
            'A.class.getMethod("m", Integer.class).invoke(null, 1);',
        ),
        {"p.Main.run": ["p.A.m"], "p.A.m": ["p.A.one", "p.A.two"]},
    ),
    "java: arguments reach the parameters, one by one or in an array": (
        java(
            "interface I { void go(); }\n"
            "class A implements I { public void go() {} }\nclass B implements I { public void go() {} }\n"
            "class C { static void one(I i) { i.go(); } static void two(int n, I i) { i.go(); } }",
            'C.class.getMethod("one", I.class).invoke(null, new A()); Object[] all = {1, new B()};'
            ' C.class.getMethod("two", int.class, I.class).invoke(null, all);',
        ),
        {"p.Main.run": ["p.C.one", "p.C.two"], "p.C.one": ["p.A.go"], "p.C.two": ["p.B.go"]},
    ),
    "java: a field by its name": (
        java(
            "class B { void n() {} }\nclass C { void n() {} }\nclass A { public Object b = new B(); public Object c; }",
            'A a = new A(); Field f = a.getClass().getField("b"); ((B) f.get(a)).n();'
            ' A.class.getDeclaredField("c").set(a, new C()); ((C) a.c).n();',
        ),
        {"p.Main.run": ["p.A.<initializer>", "p.B.n", "p.C.n"]},
    ),
    "java: a constructor with arguments": (
        java(
            "interface I { void go(); }\nclass B implements I { public void go() {} }\nclass A { A(I i) { i.go(); } }",
            "Constructor<A> k = A.class.getConstructor(I.class); k.newInstance(new B());",
        ),
        {"p.Main.run": ["p.A.A"], "p.A.A": ["p.B.go"]},
    ),
    "python: modules by their names": (
        {
            "main.py": "import importlib\nimport sys\ndef one(): importlib.import_module('m').run()\n"
            "def two(): __import__('q.sub').sub.go()\ndef three(name='m'): importlib.import_module(name).run()\n"
            "def four(): sys.modules['m'].run()\ndef five(): importlib.import_module('.sub', 'q').go()\n",
            "m.py": "def run(): pass\n",
            "q/__init__.py": "",
            "q/sub.py": "def go(): pass\n",
        },
        {
            "main.one": ["m.run"],
            "main.two": ["q.sub.go"],
            "main.three": ["m.run"],
            "main.four": ["m.run"],
            "main.five": ["q.sub.go"],
        },
    ),
    "python: any class of a module that has few": (
        {
            "main.py": "import shapes, many\ndef one(n): getattr(shapes, n)().draw()\n"
            "def two(n): getattr(many, n)().draw()\ndef three(): getattr(shapes, 'Ring')().draw()\n",
            "shapes.py": "class Ring:\n    def draw(self): pass\nclass Disc:\n    def draw(self): pass\n",
            "many.py": "".join(f"class C{i}:\n    def draw(self): pass\n" for i in range(9)),
        },
        {
            "main.one": ["shapes.Disc.draw", "shapes.Ring.draw"],
            "main.three": ["shapes.Ring.draw"],
        },
    ),
    "python: any module of a package": (
        {
            "main.py": "from importlib import import_module\nimport app.views\n"
            "def one(n): import_module(f'app.views.{n}').run()\ndef two(n): import_module('app.views.' + n).run()\n"
            "def three(n): import_module('.' + n, package='app.views').run()\n"
            "def four(n): import_module(f'app.{n}.urls').run()\ndef get(name): return import_module(name)\n"
            "def five(n): get(f'app.views.{n}').run()\ndef six(n): import_module(f'other.{n}').run()\n"
            "def seven(n): app.views.load(n)\ndef eight(n): import_module(n + '.views').run()\n",
            "app/__init__.py": "def run(): pass\n",
            "app/views/__init__.py": "from importlib import import_module\ndef run(): pass\n"
            "def load(n):\n    import_module(f'{__name__}.{n}').run()\n"
            "    import_module(__package__ + '.' + n).run()\n    import_module(f'.{n}', __package__).run()\n",
            "app/views/a.py": "def run(): pass\n",
            "app/views/b.py": "def run(): pass\n",
            "app/shop/__init__.py": "",
            "app/shop/urls.py": "def run(): pass\n",
        },
        {
            "main.one": ["app.views.a.run", "app.views.b.run"],
            "main.two": ["app.views.a.run", "app.views.b.run"],
            "main.three": ["app.views.a.run", "app.views.b.run"],
            "main.four": ["app.shop.urls.run"],
            "main.five": ["app.views.a.run", "app.views.b.run", "main.get"],
            "main.seven": ["app.views.load"],
            "app.views.load": ["app.views.a.run", "app.views.b.run"],
        },
    ),
    "python: variables and attributes by their names": (
        {
            "main.py": "import m\nclass C: pass\ndef f(): pass\ndef g(): pass\ndef one(): globals()['f']()\n"
            "def two(): vars(m)['run']()\ndef three():\n    c = C()\n    c.__dict__['k'] = g\n    c.k()\n"
            "def four():\n    c = C()\n    setattr(c, 'k', f)\n    getattr(c, 'k')()\n",
            "m.py": "def run(): pass\n",
        },
        {"main.one": ["main.f"], "main.two": ["m.run"], "main.three": ["main.g"], "main.four": ["main.f"]},
    ),
    "javascript: a module by a name that is computed": (
        {
            "main.js": 'function one() { const n = "m"; require("./" + n).run(); }\n'
            'function two(n) { require(n).go(); }\ntwo("./q");\n',
            "m.js": "exports.run = function run() {};\n",
            "q/index.js": "module.exports = { go() {} };\n",
            "q/m.js": "exports.run = function run() { other(); };\n",
        },
        {"main": ["main.two"], "main.one": ["m.run"], "main.two": ["q.go"]},
    ),
    "go: methods and functions by package reflect": (
        {
            "main.go": 'package main\nimport "reflect"\ntype T struct{}\ntype U struct{}\n'
            "func (t *T) M(u *U) { u.Go() }\n"
            "func (t *T) N() {}\nfunc (u *U) Go() {}\nfunc f() *U { return &U{} }\n"
            'func one() { reflect.ValueOf(&T{}).MethodByName("M").Call([]reflect.Value{reflect.ValueOf(&U{})}) }\n'
            "func two() { r := reflect.ValueOf(f).Call(nil); r[0].Interface().(*U).Go() }\n"
        },
        {"main.one": ["main.T.M"], "main.T.M": ["main.U.Go"], "main.two": ["main.U.Go", "main.f"]},
    ),
    "c: functions with external linkage by dlsym": (
        {
            "main.c": "#include <dlfcn.h>\nint f(int x) { return x; }\nstatic int g(int x) { return x; }\n"
            'int one(void) { int (*p)(int) = (int (*)(int)) dlsym(RTLD_DEFAULT, "f"); return p(1); }\n'
            'int two(void *h) { int (*p)(int); *(void **) (&p) = dlsym(h, "f"); return p(1); }\n'
            'int three(void *h) { int (*p)(int) = dlsym(h, "g"); return p(1); }\n'
            "static void *load(const char *name) { return dlsym(RTLD_DEFAULT, name); }\n"
            'int four(void) { int (*p)(int) = load("f"); return p(1); }\n'
        },
        {"main.c.one": ["main.c.f"], "main.c.two": ["main.c.f"], "main.c.four": ["main.c.f", "main.c.load"]},
    ),
}


WITHIN = """
.decl edge_within(caller: symbol, callee: symbol)
edge_within(f, g) :- call_edge(f, g), qualified_name(_, g).
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_edges_within_the_program_are_those_that_run(rows, name):
    files, expected = PROGRAMS[name]
    assert callgraph.render(rows("edge_within", files, WITHIN)) == expected


MODEL = """
source_call("test", "flows.source"). sink_argument("test", "flows.sink", "0").
source_call("test", "flows.Flows.source"). sink_argument("test", "flows.Flows.sink", "0").
source_call("test", "flows.Source"). sink_argument("test", "flows.Sink", "0").
"""
FLOWS = {
    "p/Main.java": """package p;
import flows.Flows;
import java.lang.reflect.*;
class A {
    public String kept;
    public String other;
    static void one(String s) {
        Flows.sink(s); // found
    }
    static void two(String s, String t) {
        Flows.sink(s);
        Flows.sink(t); // found
    }
    static void three(String s) {
        Flows.sink(s);
    }
    String same(String s) { return s; }
}
class Main {
    static void run() throws Exception {
        A.class.getMethod("one", String.class).invoke(null, Flows.source());
        A.class.getMethod("two", String.class, String.class).invoke(null, new Object[] {"a", Flows.source()});
        A.class.getMethod("three", String.class).invoke(null, "a");
        A a = new A();
        Flows.sink(A.class.getMethod("same", String.class).invoke(a, Flows.source())); // found
        Flows.sink(A.class.getMethod("same", String.class).invoke(a, "a"));
        Field f = A.class.getField("kept");
        f.set(a, Flows.source());
        Flows.sink(f.get(a)); // found
        Flows.sink(a.kept); // found
        Flows.sink(A.class.getField("other").get(a));
    }
}
""",
    "main.py": """from flows import sink, source
class C: pass
def f():
    c = C()
    c.__dict__["k"] = source()
    sink(c.k)  # found
    sink(vars(c)["k"])  # found
    sink(vars(c)["other"])
""",
    "g/main.go": """package g

import (
	"flows"
	"reflect"
)

type T struct{}

func (t *T) M(a string, b string) {
	flows.Sink(a) // found
	flows.Sink(b)
}

func f() {
	reflect.ValueOf(&T{}).MethodByName("M").Call([]reflect.Value{reflect.ValueOf(flows.Source()), reflect.ValueOf("b")})
}
""",
}


def test_taint_follows_what_is_named(flows, marked):
    assert flows(MODEL, FLOWS) == {name: marked(code) for name, code in FLOWS.items()}
