"""Bytes to text: encodings, line ends, positions."""

import codecs

import numpy as np
import pytest

from facts import language_of, other_content
from facts.source_text import SourceText


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (codecs.BOM_UTF8 + b"x\n", "x\n"),
        (codecs.BOM_UTF16_LE + "x = 'é'\n".encode("utf-16-le"), "x = 'é'\n"),
        (codecs.BOM_UTF16_BE + "x = 'é'\n".encode("utf-16-be"), "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = '\xe9'\n",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\nx = 'й'\n",
        ),
        (b"x = 1\n# coding: cp1251\ny = '\xe9'\n", "x = 1\n# coding: cp1251\ny = 'é'\n"),
        (b"\n\n# coding: cp1251\ny = '\xe9'\n", "\n\n# coding: cp1251\ny = 'é'\n"),
        (b"# coding: no-such-encoding\nx = '\xe9'\n", "# coding: no-such-encoding\nx = 'é'\n"),
        (b"# coding: rot13\nx = 1\n", "# coding: rot13\nx = 1\n"),
        (b"# coding: utf-8\nx = '\xe9'\n", "# coding: utf-8\nx = 'é'\n"),
        (b"a\r\nb\rc\n", "a\r\nb\nc\n"),
        (b"a\0b\n", "a b\n"),
        (b"", ""),
    ],
    ids=lambda value: None,
)
def test_bytes_are_read_as(data, text):
    assert SourceText(data).utf8.decode() == text


def test_columns_count_characters():
    text = SourceText("é = '𝄞' + x\n  ü".encode())
    x, u = text.utf8.index(b"x"), len(text.utf8)
    lines, columns = text.positions(np.array([0, x, u]))
    assert lines.tolist() == [1, 1, 2]
    assert columns.tolist() == [1, 11, 4]


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\r\n\r\nb\r\n", 3)])
def test_lines(data, lines):
    assert SourceText(data).n_lines == lines


def test_lines_with_null_bytes_are_known():
    assert SourceText(b"a\nb\0\nc\n\0").null_lines == [2, 4]


@pytest.mark.parametrize(
    ("file", "text", "content"),
    [
        ("a.h", "int f(void);\n", None),
        ("a.h", "#import <Foundation/Foundation.h>\n@class A;\n", "Objective-C"),
        ("a.h", "@interface A : NSObject\n@end\n", "Objective-C"),
        ("a.h", "/* @interface */\nstruct class { int public; };\n", None),
        ("a.h", "namespace a {\nint f();\n}\n", "C++"),
        ("a.h", "template <typename T>\nT f(T);\n", "C++"),
        ("a.h", "class A : public B {\n public:\n  int f();\n};\n", "C++"),
        ("a.h", "#ifdef __cplusplus\nnamespace a {\n#endif\nint f(void);\n", None),
        ("a.h", "#if defined(__cplusplus) && B\ntemplate <class T> T f();\n#endif\nint f(void);\n", None),
        ("a.h", "#if __cplusplus >= 201103L\ntemplate <class T> T f();\n#else\nint f(void);\n#endif\n", None),
        ("a.h", "#if __cplusplus >= 201402L\n#define C constexpr\n#endif\nnamespace a {\nint f();\n}\n", "C++"),
        ("a.java", "class A {\n}\n", None),
    ],
)
def test_a_suffix_may_mislead(file, text, content):
    assert other_content(text.encode(), language_of(file)) == content
