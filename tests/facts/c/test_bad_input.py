"""C that is broken, odd or huge gives facts of its sound parts, and says what it could not read."""

import random
from pathlib import Path

import pytest

import facts
from facts.c import attributes, tree
from facts.c.parse import parse
from facts.c.unit import Unit
from facts.render_facts import render
from facts.source_text import SourceText

CASES = Path(__file__).parent / "cases"


def extract(source):
    return facts.extract(source if isinstance(source, bytes) else source.encode(), "c")


def rows(source, relation):
    return render(extract(source)).get(relation, [])


def called(source):
    return {callee.rpartition("/")[2] for _, _, callee in rows(source, "call")}


@pytest.mark.parametrize(
    ("source", "lines", "names"),
    [
        ("void f(void) {\n  g();\n  int x = = 1;\n  h();\n}\n", [3], {"g", "h"}),
        ("void f(void) {\n  g();\n  if (x {\n    h();\n  }\n}\nvoid m(void) { n(); }\n", None, {"g", "h", "n"}),
        ("void f(void) {\n  g();\n", None, {"g"}),
        ("void f(void) {\n  g(1, , 2);\n  h();\n", None, {"g", "h"}),
        ("<<<<<<< HEAD\nvoid f(void) { g(); }\n=======\nvoid f(void) { h(); }\n>>>>>>> x\n", None, {"g", "h"}),
        ("}\nvoid f(void) { g(); }\n", [1], {"g"}),
        ("void f(void) { switch (x) { case 1: g(); case: h(); } }\n", None, {"g", "h"}),
        ('void f(void) { g("abc); }\nvoid m(void) { h(); }\n', None, {"h"}),
    ],
)
def test_sound_parts_of_a_broken_file_give_facts(source, lines, names):
    found = extract(source)
    assert found.unparsed_lines if lines is None else found.unparsed_lines == lines
    assert names <= called(source)


@pytest.mark.parametrize("source", ["", "\n", "// only a comment", "\ufeff", ";", "#define X\n", "#if 1\n#endif"])
def test_files_with_next_to_nothing(source):
    assert not extract(source).unparsed_lines


@pytest.mark.parametrize(
    "source",
    [
        "API int f(void) { g(); return 1; }",
        "API const char *f(void) { g(); }",
        "API thing_t *f(int a) { g(); }",
        "API thing_t (*f)(int a);\nvoid h(void) { g(); }",
        "static thing_t WINAPI f(int a) { g(); }",
        "static int lib_cdecl\nf(int a) { g(); }",
        "thing_t * lib_cdecl f(int a) { g(); }",
        "struct s { struct a *qualified next; };\nvoid f(void) { g(); }",
        "struct s { struct a FAR *b; thing const FAR *c; };\nvoid f(void) { g(); }",
        "typedef struct s { int a; } FAR thing;\nvoid f(void) { g(); }",
        "local const int a[2] = {1, 2};\nlocal const thing *b;\nlocal const thing f(void) { g(); }",
        "#if A\nLIB_BEGIN_DECLS\nvoid h(void);\nstatic void f(void) { g(); }\nLIB_END_DECLS\n#endif\n",
        "void f(void) { g(); }\nLIB_DONE\n",
        "void f(void) { const char *a = ONE TWO; g(HEAD TAIL, 1); }",
        "struct s *f(void) { struct s *p MARK(0); g(); }",
        "int f(void) { g(); return offsetof(struct s, a[1].b.c); }",
        'int API(7, "x") f(void) { g(); }',
        "int f(const char *format, ...) PRINTF(1, 2);\nvoid h(void) { g(); }",
        "struct s { atomic int a; };\nvoid h(void) { g(); }",
        'enum e { OPTION(A, LONG, 1), OPTION(B, LONG, 2), C DEPRECATED(1, "") = 3 };\nvoid h(void) { g(); }',
        "void f(void) {\n  STEP(a)\n  STEP(b)\n  g();\n}",
        "void f(void) {\n  STEP(a)\n  if (b) g();\n}",
        "void f(int *to) {\n  int i;\n  FOR(i, 16) to[i] = g(i);\n  FOR(i, 16) FOR(j, 4) to[i] += j;\n}",
        "void f(struct s *p) {\n  UNLESS(p) p->a.b = g(p);\n}",
        'void f(void) {\n  TEST("x") { g(); }\n}',
        "void f(va_list a) {\n  int x = va_arg(a, int);\n  char *y = va_arg(a, char *);\n  g(); }",
        "void f(void) { struct s *x = ALLOC(struct s, 1); char *y = TAKE(char *); g(); }",
        "void f(void) { ONLY(int x = 1); g(x); }",
        'const char *names[] = {\n  "a",\n#ifdef X\n  "b",\n#endif\n  0 };\nvoid h(void) { g(); }',
        "void f(void) {\n#ifdef X\n  if (a) {\n#else\n  if (b) {\n#endif\n    g();\n  }\n}",
        "void f(void) {\n  if (a) {\n    h();\n#ifdef X\n  } else if (b) {\n    g();\n#endif\n  }\n}",
        '#ifdef __cplusplus\nextern "C" {\n#endif\nvoid h(void) { g(); }\n#ifdef __cplusplus\n}\n#endif',
        "#if 0\nthis is { no code\n#endif\nvoid h(void) { g(); }",
        "hook_t *SHARED hook = start;\nvoid h(char *SPARE a, int SPARE b) { g(); }",
        "DECLARE_HOOK(int, start, (struct s *p, int n))\nvoid h(void) { g(); }",
        "HOOKS(\n  HOOK(a)\n  HOOK(b)\n)\nvoid h(void) { g(); }",
        'void f(struct s *p) { h(1, NUMBER(2) "a %s" NUMBER(3)\n  "b", p); g(); }',
        "typedef long (CALLED *hook)(int);\nvoid h(void) { g(); }",
        "void f(void) {\n  BEGIN\n  g();\n  END\n}",
        "void f(void) {\n  BEGIN\n  END\n}\nvoid h(void) { g(); }",
        "struct s {\n  COMMON\n  int a;\n};\nvoid h(struct s *p) { p->a = 1; g(); }",
        "void f(struct s *p) {\n  a();\n  SILENTLY\n  p->a = g();\n}",
        "void f(void) {\n  if (a)\n    goto out;\n#ifdef X\n  g();\nout:\n#endif\n  h();\n}",
        "void f(void) {\n  if (a)\n    h();\n#ifdef X\n  else\n#endif\n    g();\n}",
        "void f(void) {\n  if (a)\n#pragma x push\n#ifdef X\n    h(),\n#endif\n    g();\n}",
        "void f(void) {\n#ifdef X\n  if (a)\n    h();\n  else {\n#endif\n  g();\n#ifdef X\n  }\n#endif\n}",
        "void f(void) {\n#ifdef X\n  if (a) { h(); }\n#endif\n#ifdef Y\n  else if (b) { g(); }\n#endif\n}",
    ],
)
def test_macros_and_conditionals_that_break_the_grammar(source):
    """At most the side of a conditional is lost that cannot stand beside the other one."""
    lost = extract(source + "\n").unparsed_lines
    assert lost == ([5] if "if (b) {\n#endif" in source else [])
    assert "g" in called(source + "\n")


def test_what_follows_a_macro_that_is_a_statement_is_kept():
    source = 'void f(char *x) {\n  check("a",\n    x == 0)\n\n  x = g(x);\n  check("b", x[0] == 1)\n  h(x);\n}\n'
    assert not extract(source).unparsed_lines
    assert ("def f/h()", "0", "def f/x#1") in rows(source, "argument")


def test_a_product_that_is_compared_is_no_declaration():
    source = "void f(int a, int b) {\n  ONLY(int x = a);\n  CHECK(a * b == SIZE);\n  broken broken broken;\n}\n"
    assert ("def f/CHECK()", "0", "def f/a * b == SIZE") in rows(source, "argument")


@pytest.mark.parametrize(
    ("source", "declares"),
    [
        ("DECLARE(int) f(void)\n{\n}\n", False),
        ("DECLARE(int)\nf(void)\n{\n}\n", False),
        ("TEST(f)\n{\n}\n", False),
        ("HOOK(int, f, (struct s *p))\nint x;\n", True),
        ("HOOK(int, f, (struct s *p,\n  int n));\nHOOK(int, g, (void))\n", True),
    ],
)
def test_a_macro_declares_where_it_is_all_of_a_line(source, declares):
    assert bool([*attributes.declaring(b"int y;\n" + source.encode())]) is declares


@pytest.mark.parametrize(
    ("macro", "statement"),
    [
        ("EACH(x, &all, link)", " { if (x) break; g(x); }"),
        ("ALL_FOREACH(x, &all, link)", " if (x) break;"),
        ("list_for_each(x, &all)", " { if (x) break; }"),
        ("EACH(x, &all, link)", "{\n    if (x) break; }"),
        ("EACH(x)", " {\n    if (x) break; }"),
        ("EACH (x)", "\n  {\n    if (x) break; }"),
        ("EACH(x)", "{\n    if (x) break; }"),
        ("EACH(x, &all, link)", "{ if (x) break; }"),
        ("FOR(x, all)", " all[0] = x;"),
        ("FOR(x, 16)", " all[*x] = (2 * all[1]) << 8;"),
    ],
)
def test_a_macro_before_a_block_is_a_loop(macro, statement):
    source = f"int f(void) {{\n  int *x;\n  {macro}{statement}\n  return x == 0;\n}}\n"
    assert not extract(source).unparsed_lines
    heads = {row[1] for row in rows(source, "branch") if "more" in row[1]}
    assert len(heads) == 1
    assert ("def f/x#1", "def f/unknown") in rows(source, "assign")


@pytest.mark.parametrize("macro", ["EACH(all(x))", "EACH (all(x)->first)", "EACH(x[2])", "EACH(first(x, 3))"])
def test_a_macro_of_what_a_call_gives_is_a_loop(macro):
    """The argument is no variable that counts; the block runs never, once or often, and is no function of its own."""
    source = f"int f(int *x) {{\n  {macro} {{\n    if (*x) return 1;\n  }}\n  return 0;\n}}\n"
    assert not extract(source).unparsed_lines
    assert len({row[1] for row in rows(source, "branch") if "more" in row[1]}) == 1
    assert len(rows(source, "function")) == 1


def test_a_call_with_a_semicolon_before_a_block_is_no_loop():
    assert not rows("int f(int *x) {\n  EACH(x);\n  { g(x); }\n  return 0;\n}\n", "branch")


@pytest.mark.parametrize("target", ["*card = 0;", "**card = 0;", "k = 3;"])
def test_a_macro_alone_on_its_line_is_no_type(target):
    source = f"int f(int *card, int k) {{\n  (void)k;\n  BEGIN_WORK\n\n  {target}\n  return *card;\n}}\n"
    assert "BEGIN_WORK" in called(source)
    assert {row[2] for row in rows(source, "binds") if row[3] == "variable"} <= {"k"}


def test_macros_as_lines_of_their_own_are_statements():
    lines = "    GET(1, &a)\n    GET(2, &b)\n    GET(3, &c)\n\n"
    source = f"int f(int k) {{\n  if (k) {{\n{lines}    if (k == 3) g(a, b, c);\n  }}\n}}\n"
    assert len([row for row in rows(source, "call") if row[2].endswith("/GET")]) == 3


def test_a_macro_before_a_text_is_no_argument_of_its_own():
    found = rows('void f(int a) {\n  log(1, NUMBER(2) "x",\n    a);\n}\n', "argument")
    assert [row[1:] for row in found if row[0] == "def f/log()"] == [
        ("0", "def f/1"),
        ("1", "def f/'x'"),
        ("2", "def f/a"),
    ]


def test_of_two_statements_under_an_else_the_shorter_one_is_left_out():
    source = "void f(void) {\n  if (a)\n    h();\n  else\n#ifdef X\n    g(1);\n#else\n    g(22);\n#endif\n}\n"
    assert extract(source).unparsed_lines == [6]
    ((_, _, first, second),) = rows(source, "branch")
    blocks = dict(rows(source, "in_block"))
    found = {callee.rpartition("/")[2]: blocks[call] for call, _, callee in rows(source, "call")}
    assert found == {"h": first, "g": second}


def test_what_is_mended_stays_in_its_place():
    source = "API int f(void) {\n  return va_arg(a, char *) + 1;\n}\n"
    places = {row[0]: row[1:] for row in rows(source, "location")}
    assert places["def f/va_arg()"] == ("2", "10", "2", "27")
    assert ("def f/va_arg()", "1", "type char *") in rows(source, "argument")


def test_only_the_side_of_a_conditional_that_is_left_out_is_stated():
    source = "void f(void) {\n#ifdef X\n  if (g()) {\n#else\n  if (h()) {\n#endif\n  }\n}\n"
    assert extract(source).unparsed_lines == [5]
    assert called(source) == {"g"}


def test_null_bytes_are_stated():
    assert extract(b"int x;\nint y = '\0';\n").unparsed_lines == [2]


def test_other_encodings_are_read():
    assert [row[2] for row in rows('char *a = "é";\n'.encode("latin-1"), "constant")] == ["é"]
    assert [row[2] for row in rows('char *a = "é";\n'.encode("utf-16"), "constant")] == ["é"]


def test_binary_data_is_no_crash():
    source = random.Random(1)
    for size in (1, 100, 5000):
        assert extract(source.randbytes(size)).entities.shape[0] == 3


def inside(code):
    return "int f(int x) { " + code + " }\n"


DEEP = {
    "parentheses": (inside("x = " + "(" * 2000 + "g()" + ")" * 2000 + ";"), 1),
    "calls in calls": (inside("g(" * 1500 + "h()" + ")" * 1500 + ";"), 1501),
    "calls of calls": (inside("g" + "()" * 2000 + ";"), 2000),
    "fields": (inside("g()" + "->a" * 3000 + ";"), 1),
    "dots": (inside("g()" + ".a" * 3000 + ";"), 1),
    "subscripts": (inside("x = g()" + "[0]" * 3000 + ";"), 1),
    "stars": (inside("x = " + "*" * 2000 + "g();"), 1),
    "sum": (inside("x = " + " + ".join(["g()"] * 4000) + ";"), 4000),
    "and": (inside("if (" + " && ".join(["g()"] * 3000) + ") h();"), 3001),
    "not": (inside("x = " + "!" * 2000 + "g();"), 1),
    "conditional": (inside("x = " + "g() ? h() : " * 1000 + "k();"), 2001),
    "comma": (inside(", ".join(["g()"] * 3000) + ";"), 3000),
    "braces": ("int a[] = " + "{" * 1000 + "g()" + "}" * 1000 + ";\n", 1),
    "blocks": (inside("{" * 1500 + "g();" + "}" * 1500), 1),
    "else if": (inside("if (g()) h();" + " else if (g()) h();" * 2000), 4002),
    "ifs in a row": (inside("if (g()) x = 1;\n" * 2000 + "h(x);"), 2001),
    "loops": (inside("while (g()) {" * 300 + "}" * 300), 300),
    "cases": (inside("switch (x) {" + "".join(f"case {i}: g();" for i in range(2000)) + "}"), 2000),
    "labels": (inside("".join(f"l{i}: g();" for i in range(2000)) + "goto l0;"), 2000),
    "casts": (inside("x = " + "(int)" * 1500 + "g();"), 1),
    "declarators": (inside("int " + "*" * 2000 + "p = g();"), 1),
    "strings": (inside("g(" + '"a" ' * 3000 + ");"), 1),
}


@pytest.mark.parametrize(("source", "count"), DEEP.values(), ids=DEEP)
def test_deep_and_long_code_is_read(source, count):
    found = extract(source)
    assert not found.unparsed_lines
    assert found.relations["call"].shape[1] == count


def test_a_mistake_of_ours_costs_its_statement_only(monkeypatch):
    def fail(unit, node):
        raise AttributeError("no such field")

    for kind in tree.kind_ids("subscript_expression"):
        monkeypatch.setitem(tree.EXPRESSIONS, kind, fail)
    source = """int f(int *a) {
    int x = 1;
    while (g(a)) {
        h(a[0]);
        k(x);
    }
    switch (x) {
    case 1:
        h(a[1]);
    case 2:
        { int y = a[0]; }
        l(x);
    }
    return a[2];
}
"""
    assert extract(source).unparsed_lines == [4, 9, 11, 14]
    assert {"g", "k", "l"} <= called(source)


SOURCES = [
    case.partition("\n")[2].partition("\n--\n")[0] + "\n"
    for path in sorted(CASES.glob("*.txt"))
    for case in path.read_text(encoding="utf-8").split("== ")[1:]
]


@pytest.mark.parametrize("seed", range(80))
def test_damaged_code(seed, monkeypatch):
    """Whatever is cut out or put in, nothing raises (`attempt` is disarmed here) and every error is stated."""
    monkeypatch.setattr(Unit, "attempt", lambda unit, handler, node: handler(unit, node))
    source = random.Random(seed)
    data = "".join(source.sample(SOURCES, 12)).encode()
    for _ in range(source.randint(1, 5)):
        at = source.randrange(len(data) + 1)
        put = source.choice(
            [
                *(bytes([octet]) for octet in b"(]{};:\n\"' \t=*@&#,\xff\0\r"),
                b"struct ",
                b"else ",
                b"#else\n",
                b"\n#endif\n",
                b"\n#define X(",
                b"case 1: ",
                b"/* ",
                b"goto ",
                b"",
                data[at // 2 : at // 2 + 50],
            ]
        )
        data = data[:at] + put + data[at + source.choice([0, 1, 20]) :]
    found = extract(data)
    damaged = parse(SourceText(data).utf8).root.has_error
    assert damaged <= bool(found.unparsed_lines)


@pytest.mark.parametrize("cast", ["(gpointer) &x", "(caddr_t)&x", "(Name) &x"])
def test_a_cast_to_a_type_of_a_header_leaves_the_address(cast):
    assert ("def f/g()", "0", "def f/&x") in rows(
        f"int f(void) {{\n  int x = 1;\n  return g({cast});\n}}\n", "argument"
    )


def test_an_operator_between_blanks_has_two_operands():
    assert ("def f/a & b", "&") in rows("int f(int a, int b) {\n  return g((a) & b);\n}\n", "operation")


def test_a_macro_names_the_rest_of_its_arguments():
    source = '#define END(s, args...) do { print("end: " s, ##args); exit(1); } while (0)\nvoid f(void) { END("x"); }\n'
    assert not extract(source).unparsed_lines
    assert "exit" in called(source)


def test_the_operand_of_typeof_is_not_evaluated():
    source = "int f(int *p) {\n  return g(p, __typeof__(*p));\n}\n"
    assert not rows(source, "load_pointer")


def test_a_loop_that_knows_the_next_element_reads_its_arguments_once():
    source = "void f(int *all) {\n  int *x, *y;\n  EACH_SAFE(x, y, all) { g(x); }\n}\n"
    (place,) = {row[1] for row in rows(source, "in_block") if row[0].endswith("EACH_SAFE()")}
    assert place.endswith("entry")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("do { x = 1; goto done; } while (0)", True),
        ("{ return x; }", True),
        ("{ free(x); break; }", True),
        ("while (x) { if (f()) break; }", False),
        ("do { if (x) goto again; again: f(); } while (0)", False),
        ("(x + 1)", False),
    ],
)
def test_a_macro_may_leave_the_function_that_uses_it(text, leaves):
    assert bool(rows(f"#define M(x) {text}\n", "leaves_macro")) is leaves


def test_a_name_in_capitals_that_is_a_statement_runs_a_macro():
    assert {"FINISH", "f"} == called("void m(void) {\n  int DONE = 1;\n  f();\n  FINISH;\n  DONE;\n}\n")


@pytest.mark.parametrize(
    "statement",
    [
        "lock(x, return -1);",
        'check("a", x != 0, return g(x););',
        "while (before(a.time, b.time, <)) break;",
        'open_file(DIRECTORY SLASH "a" SLASH "b");',
        'char text[] ALIGNED(8) = "a";',
        "static LIST_HEAD(head, item) items = START(items);",
        "s->next = (z_const Bytef *)x;",
        "s->next = (const code FAR *)(const void FAR *)(x);",
        "s->next = (unsigned char FAR *) x;",
        "s->next = (z_const unsigned char *)x;",
        'struct option all[] = {{"a", 1}, AUTO_HELP{"b", 2}};',
        'struct option all[] = {\n  AUTO_HELP\n  {"b", 2}};',
        'struct option all[] = {{"a", 1},\n  AUTO_HELP\n  TABLE_END\n  };',
        "Object a = {\n  Object_HEAD(NULL)\n  0, sizeof(x)};",
        "check_same(x, ==, a->b[2]);\n  check_same(x, <, 3);",
        "g(&NEW_ITEM(.a = x, .b = {LEFT, h(x)}));",
        "switch (x) {\n  case 1: x = 3; __attribute_fallthrough__\n  case 2:\n    x++;\n  }",
    ],
)
def test_what_only_a_macro_can_take_does_not_break_the_function(statement):
    source = f"void f(int x) {{\n  {statement}\n  last(x);\n}}\n"
    assert not extract(source).unparsed_lines
    assert "last" in called(source)


@pytest.mark.parametrize(
    "declaration",
    [
        "_nonnull_(1, 2) char *f(char *a, char *b);",
        "_must_check_ _nonnull_(2) ssize_t f(int a,\n    char *b);",
        "_pure_ const char *f(void);",
        "int f(struct item *item UNUSED, int n UNUSED);",
        "enum e {\n  A,\n#define A A\n  B\n#define B B\n};",
        "struct s { TAILQ_HEAD(, item) items; int n; };",
        "#define INLINE /* empty */\n#define CONSTANT  /* a\n and b */\nstatic int n;",
        "#include <a.h>\nTAILQ_HEAD(, item) items;",
        "int n;\nstatic SLIST_HEAD(, item) items[4];",
        "void like_printf(1, 2) f(const char *, ...);",
        "static char * like_scanf(2,3)\nf(int n, const char *text, ...)\n{\n  return g(n, text);\n}",
        "void f(const char *text, ...) like_printf(1, 2);",
        "void f(const char *text, ...)PRINTF_LIKE(1, 2) NO_RETURN;",
        "extern size_t f(struct item *)\n  __attribute_pure__;",
        "void f(struct item *) __must_check__ __not_null__(1);",
        "__attribute_cold__\n__attribute_nonnull__(1)\nitem * f(int *p) {\n  return p;\n}",
        "int f(__unused__ int n, item_t *p __unused__);",
        "LIBRARY const item_t FAR * LIBRARY_CALL f OF((void));",
        "unsigned int first:1; /* one */\n  bool second : 1;\nint n;",
        "local int f(code FAR * FAR *table, unsigned FAR *bits) {\n  return 1;\n}",
    ],
)
def test_what_only_a_macro_can_stand_for_does_not_break_a_declaration(declaration):
    source = f"{declaration}\nvoid g(void) {{ last(); }}\n"
    assert not extract(source).unparsed_lines
    assert "last" in called(source)


@pytest.mark.parametrize(
    "code",
    [
        "int f(int n) { return (struct item *)n; }",
        "int f(int n) { return (const item *)n; }",
        "int f(int n) { return (const FILE *)n; }",
        "int f(int n) { return (FILE const *)n; }",
        "int f(int n) { return (unsigned long *)n; }",
        "int f(int n) { return A * A * n; }",
        "int f(int n) { if (n) g(1, 2); else g(1)\n; h(n); return g(1); }",
        "__typeof__(n) *f(int n);",
        "int f(int n) { g(of__name__); return __name__; }",
        "int f(int n) { EACH(n) { g(n); } int a[] = {A, B, C(1)}; return n == 3; }",
        "struct item a = {.a = g(n), .b = N};",
        "__extension__ typedef long long wide;",
        "__attribute__((noreturn)) void f(int n);",
        "void f(int n) __attribute__((noreturn));",
    ],
)
def test_what_is_no_macro_stays(code):
    assert attributes.without_attributes(code.encode()) == code.encode()


def test_arguments_of_what_compares_by_a_macro_keep_their_places():
    found = rows("void f(int a) {\n  check_same(a, !=, 7);\n}\n", "argument")
    assert {position for _, position, _ in found} == {"0", "1", "2"}


def test_values_of_members_that_a_macro_takes_are_read():
    source = "void f(int a) {\n  g(&NEW_ITEM(.a = h(a), .b = {LEFT}));\n}\n"
    assert not extract(source).unparsed_lines
    assert {"g", "h"} <= called(source)


def test_a_prototype_within_a_macro_declares_no_variable():
    assert not rows("LIBRARY int f OF((int n, char *p));\nint g(int n);\n", "cell")
