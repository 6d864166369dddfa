"""Texts that are mended before they are parsed keep all places: what is put in place is as long as what stood there."""

import importlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from facts.java import tree as java
from facts.javascript.parse import parse as parse_script

c = importlib.import_module("facts.c.parse")

# Words that mends look for, beside those that stand around them, in code, strings and remarks.
C = """
static free auto for each_item STATIC THREAD_LOCAL cleanup_free API FAR local const int struct s *p a = b ; , ( ) { }
" /* */ #if #endif #define va_arg(a,int) offsetof(s,a.b) MARK(1) LIB_END_DECLS _pure_ WINAPI lib_cdecl ONE TWO
__cold__ like(1,2) ... ) NO(1) HEAD(,a) (FAR (z
,HELP{ ={HELP( (x,==,b) NEW(.a= )
""".split()
SCRIPT = """
await f<typeof import('a')>() import('a').B<C> export type * from 'a' in?: abstract?: { } ( ) < > ; , = interface A
<T>(a:T):B <p> </p> & ::b class='b' for={c} // /* */ ?T {| |} +a: opaque x as y
""".split()
JAVA = """
case A.B(var n) -> instanceof C.D(int n) import module java.base; class K { } ( ) ; , @A ... names @B("x") T t // /* */
super( ) this(a) .super(
""".split()


def texts(words):
    joined = st.lists(st.tuples(st.sampled_from(words), st.sampled_from([" ", "\n", "\n  ", ""])), max_size=24)
    return joined.map(lambda parts: "".join(word + blank for word, blank in parts).encode())


@given(texts(C))
@example(b'void f(void) { g("too few free places left, no more"); }\n')
def test_c(text):
    assert len(c.parse(text).source) == len(text)


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@given(texts(SCRIPT))
def test_scripts(language, text):
    assert parse_script(language, text).end_byte == len(text)


@given(texts(JAVA))
def test_java(text):
    assert java.parse(text).end_byte == len(text)
