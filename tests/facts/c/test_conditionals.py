"""Sides of conditionals that no compiler of today sees."""

import pytest

from facts.c.conditionals import continued, settled


@pytest.mark.parametrize(
    ("condition", "first", "second"),
    [
        ("if 0", False, True),
        ("if 1", True, False),
        ("ifdef __cplusplus", False, True),
        ("ifndef __cplusplus", True, False),
        ("if !defined(__cplusplus)", True, False),
        ("if __STDC_VERSION__ >= 199901L", True, False),
        ("if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L", True, False),
        ("if defined __STDC_VERSION__ && (__STDC_VERSION__ >= 201112L)", True, False),
        ("ifdef __STDC_VERSION__", True, False),
        ("if __STDC_VERSION__ < 199901L", False, True),
        ("if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L", False, True),
        ("if __STDC_VERSION__-0 >= 201112L", True, False),
        ("if !(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)", False, True),
        # not decided
        ("if __STDC_VERSION__ >= 202311L", True, True),
        ("if __STDC_VERSION__ >= 199901L && defined(FAST)", True, True),
        ("if !defined(__STDC_VERSION__) && FAST", True, True),
        ("ifdef FAST", True, True),
        ("if FAST", True, True),
    ],
)
def test_a_side_is_kept_if_a_compiler_may_see_it(condition, first, second):
    text = f"#{condition}\nint first;\n#else\nint second;\n#endif\n".encode()
    kept = settled(text)
    assert (b"first" in kept, b"second" in kept) == (first, second)
    assert kept.count(b"\n") == text.count(b"\n")


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("if (a)\n  b();\n#ifdef X\nelse\n  c();\n#endif\n", True),
        ("if (a) {\n}\n# if X\n\nelse if (b)\n  c();\n# endif\n", True),
        # A side of its own, another conditional in front, another word.
        ("if (a)\n  b();\n#ifdef X\nelse\n  c();\n#else\n  d();\n#endif\n", False),
        ("#ifdef X\nif (a)\n  b();\n#endif\n#ifdef Y\nelse\n  c();\n#endif\n", False),
        ("if (a)\n  b();\n#ifdef X\nelsewhere();\n#endif\n", False),
    ],
)
def test_an_else_goes_on_with_the_statement_before_the_conditional(text, blanked):
    kept = continued(text.encode())
    assert (b"#" not in kept) == blanked
    assert len(kept) == len(text)
    assert kept.count(b"\n") == text.count("\n")
