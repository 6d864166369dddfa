"""The call graph of small Java programs, each against the edges that running it takes."""

import pytest

from analyzer.graphs import callgraph

PROGRAMS = {
    "a virtual call runs the method of the object's class": (
        {
            "p/Main.java": "package p;\nclass A { void m() {} }\nclass B extends A { void m() {} }\n"
            "class Main { static void run() { A a = new B(); a.m(); } }\n"
        },
        {"p.Main.run": ["p.B.m"]},
    ),
    "a method is chosen by the number of arguments, and by their types": (
        {
            "p/Main.java": "package p;\n"
            "class A { void m(int i) {} void m(String s) {} void m() {} void m(int i, int j) {} }\n"
            'class Main { static void run() { new A().m("x"); } }\n'
        },
        {"p.Main.run": ["p.A.m"]},
    ),
    "an overload of the base class is found beside that of the class": (
        {
            "p/Main.java": "package p;\nclass A { void m(int i) { one(); } void one() {} }\n"
            "class B extends A { void m(String s) { two(); } void two() {} }\n"
            "class Main { static void run() { new B().m(1); } }\n"
        },
        {"p.Main.run": ["p.A.m"], "p.A.m": ["p.A.one"]},
    ),
    "a default method of an interface runs the class's method": (
        {
            "p/Main.java": "package p;\ninterface I { void m(); default void twice() { m(); m(); } }\n"
            "class C implements I { public void m() {} }\nclass Main { static void run(I i) { new C().twice(); } }\n"
        },
        {"p.Main.run": ["p.I.twice"], "p.I.twice": ["p.C.m"]},
    ),
    "constructors run those of base classes and the initializers": (
        {
            "p/Main.java": "package p;\nclass A { A() { this(1); } A(int i) { a(); } void a() {} }\n"
            "class B extends A { { b(); } B(String s) {} void b() {} }\n"
            'class Main { static void run() { new B("x"); } }\n'
        },
        {
            "p.Main.run": ["p.A.A", "p.B.<initializer>", "p.B.B"],
            "p.A.A": ["p.A.A", "p.A.a"],
            "p.B.<initializer>": ["p.B.b"],
        },
    ),
    "super runs the method that is overridden": (
        {
            "p/Main.java": "package p;\nclass A { void m() {} }\nclass B extends A { void m() { super.m(); } }\n"
            "class Main { static void run() { new B().m(); } }\n"
        },
        {"p.Main.run": ["p.B.m"], "p.B.m": ["p.A.m"]},
    ),
    "a lambda and a method reference run where the interface's method is called": (
        {
            "p/Main.java": "package p;\nimport java.util.function.Supplier;\nclass Main {\n  static void one() {}\n"
            "  void two() {}\n"
            "  static void call(Runnable r) { r.run(); }\n"
            "  static void run() { call(() -> one()); call(new Main()::two); }\n}\n"
        },
        {
            "p.Main.run": ["p.Main.call"],
            "p.Main.call": ["java.lang.Runnable.run", "p.Main.run.<lambda1>", "p.Main.two"],
            "p.Main.run.<lambda1>": ["p.Main.one"],
        },
    ),
    "an anonymous class sees the methods of the object around": (
        {
            "p/Main.java": "package p;\ninterface I { void m(); }\nclass Main {\n  void one() {}\n"
            "  void go() { I i = new I() { public void m() { one(); } }; i.m(); }\n"
            "  static void run() { new Main().go(); }\n}\n"
        },
        {
            "p.Main.run": ["p.Main.go"],
            "p.Main.go": ["p.Main.go.<anonymous>.m"],
            "p.Main.go.<anonymous>.m": ["p.Main.one"],
        },
    ),
    "an inner object belongs to the object that made it": (
        {
            "p/Main.java": "package p;\nclass A {\n  void m() {}\n  class In { void call() { m(); } }\n"
            "  In in() { return new In(); }\n}\n"
            "class B extends A { void m() {} }\n"
            "class Main { static void run() { new B().in().call(); } }\n"
        },
        {"p.Main.run": ["p.A.In.call", "p.A.in"], "p.A.In.call": ["p.B.m"]},
    ),
    "imports, packages and nested classes lead to the class": (
        {
            "a/A.java": "package a;\npublic class A { public static class In { public static void m() {} }\n"
            "  public static void f() {} public static void g() {} }\n",
            "b/Main.java": "package b;\nimport a.A;\nimport static a.A.f;\nimport static a.A.*;\n"
            "class Main { static void run() { A.In.m(); f(); g(); a.A.g(); Other.h(); } }\n",
            "b/Other.java": "package b;\nclass Other { static void h() {} }\n",
        },
        {"b.Main.run": ["a.A.In.m", "a.A.f", "a.A.g", "b.Other.h"]},
    ),
    "a static import is called from a class that has a base, unless it inherits the name": (
        {
            "a/A.java": "package a;\npublic class A { public static void f() {} public static void g() {} }\n",
            "b/Main.java": "package b;\nimport static a.A.f;\nimport static a.A.g;\n"
            "class Base { static void g() {} }\n"
            "class Main extends Base implements java.io.Serializable { static void run() { f(); g(); } }\n",
        },
        {"b.Main.run": ["a.A.f", "b.Base.g"]},
    ),
    "a declared type names the methods of a library": (
        {
            "p/Main.java": "package p;\nimport java.sql.*;\nimport javax.servlet.http.HttpServletRequest;\n"
            "class Main {\n"
            "  private Connection connection;\n  String run(HttpServletRequest request) throws Exception {\n"
            "    Statement statement = connection.createStatement();\n"
            '    statement.execute(request.getParameter("x"));\n'
            "    return String.valueOf(1);\n  }\n}\n"
        },
        {
            "p.Main.run": [
                "java.lang.String.valueOf",
                "java.sql.Connection.createStatement",
                "java.sql.Statement.execute",
                "javax.servlet.http.HttpServletRequest.getParameter",
            ]
        },
    ),
    "a field that nobody sets holds objects of its type": (
        {
            "p/Main.java": "package p;\ninterface Service { void work(); }\n"
            "class Impl implements Service { public void work() {} }\n"
            "class Main {\n  @Inject Service service;\n  void run() { service.work(); }\n}\n"
        },
        {"p.Main.run": ["p.Impl.work"]},
    ),
    "a list holds by position, a map by key": (
        {
            "p/Main.java": "package p;\nimport java.util.*;\ninterface I { void m(); }\n"
            "class A implements I { public void m() {} }\nclass B implements I { public void m() {} }\n"
            "class Main {\n"
            "  static void list() { List<I> l = new ArrayList<>(); l.add(new A()); l.add(new B()); l.get(1).m(); }\n"
            "  static void map() {\n    Map<String, I> m = new HashMap<>();\n"
            '    m.put("a", new A());\n    m.put("b", new B());\n    m.get("a").m();\n  }\n}\n'
        },
        {
            "p.Main.list": [
                "java.util.ArrayList",
                "java.util.List.add",
                "java.util.List.get",
                "java.util.List.get.m",
                "p.B.m",
            ],
            "p.Main.map": [
                "java.util.HashMap",
                "java.util.Map.get",
                "java.util.Map.get.m",
                "java.util.Map.put",
                "p.A.m",
            ],
        },
    ),
    "a thread runs where it is started, a function where a library gets it": (
        {
            "p/Main.java": "package p;\nclass T extends Thread { public void run() {} }\nclass Main {\n"
            "  static void one() {}\n  static void start() { new T().start(); }\n"
            "  static void give() { new Thread(() -> one()).start(); }\n}\n"
        },
        {
            "p.Main.give": ["java.lang.Thread", "java.lang.Thread.start", "p.Main.give.<lambda1>"],
            "p.Main.give.<lambda1>": ["p.Main.one"],
            "p.Main.start": ["java.lang.Thread.start", "p.T.run"],
        },
    ),
    "a member that the base class of a library has": (
        {
            "p/Main.java": "package p;\nimport javax.servlet.http.HttpServlet;\n"
            "class Main extends HttpServlet { void run() { getServletContext(); } }\n"
        },
        {"p.Main.run": ["javax.servlet.http.HttpServlet.getServletContext"]},
    ),
    "a switch over a character of a constant takes one way": (
        {
            "p/Main.java": 'package p;\nclass Main { static final String S = "ABC"; static void a() {}\n'
            "static void b() {} static void c() {} static void run() { switch (S.charAt(1)) { case 'A': a(); break;\n"
            "case 'B': b(); break; default: c(); } } }\n"
        },
        {"p.Main.run": ["java.lang.String.charAt", "p.Main.b"]},
    ),
    "a condition on constants takes one way": (
        {
            "p/Main.java": "package p;\nclass Main { static void a() {} static void b() {}\n"
            "static void run() { int n = 86; if ((500 / 42) * 18 - n > 200) a(); else b(); } }\n"
        },
        {"p.Main.run": ["p.Main.b"]},
    ),
    "a name in full leaves the packages of the program": (
        {
            "org/mine/Main.java": "package org.mine;\nclass Main { static void run() {"
            " org.mine.deep.Other.go(); org.theirs.Lib.go(); } }\n",
            "org/mine/deep/Other.java": "package org.mine.deep;\npublic class Other { public static void go() {} }\n",
        },
        {"org.mine.Main.run": ["org.mine.deep.Other.go", "org.theirs.Lib.go"]},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_call_graph_has_the_edges_that_run(rows, name):
    files, expected = PROGRAMS[name]
    assert callgraph.render(rows("call_edge", files)) == expected


@pytest.mark.parametrize(
    ("changes", "called"),
    [
        ("l.get(1).m();", {"p.B.m"}),
        ("l.remove(0); l.get(1).m();", {"p.C.m"}),
        ("l.remove(1); l.remove(0); l.get(0).m();", {"p.C.m"}),
        ("l.remove(0); l.remove(1); l.get(0).m();", {"p.B.m"}),
        ("l.remove(2); l.get(1).m();", {"p.B.m"}),
        ("if (l.size() > n) { l.remove(0); } l.get(1).m();", {"p.A.m", "p.B.m", "p.C.m"}),
    ],
)
def test_positions_in_a_list_move_with_what_is_removed(rows, changes, called):
    text = "package p;\nimport java.util.*;\ninterface I { void m(); }\n"
    text += "".join(f"class {name} implements I {{ public void m() {{}} }}\n" for name in "ABC")
    text += "class Main { static void run(int n) { List<I> l = new ArrayList<>();\n"
    text += "l.add(new A()); l.add(new B()); l.add(new C()); " + changes + " } }\n"
    found = rows("call_edge", {"p/Main.java": text})
    assert {callee for _, callee in found if callee.startswith("p.")} == called
