"""Patterns known to be exponential from the literature and by hand, and patterns that only look like them."""

import pytest

from facts import extract
from facts.regex_backtracking import exponential, polynomial
from facts.render_facts import render


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a*)*$",
        r"([a-z]+)*!",
        r"(ab|ab)*c",
        r"(a|a)*b",
        r"(a|aa)+$",
        r"(\w\d|_1)+$",
        r"(\d+\s?)*;",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"^(\w+\s?)*$",
        r'"(\\?.)*"',
        r"(x+x+)+y",
        r"x(bb|[ab]b)*z",
        r"(.*)*=",
        r"(ée|\we)+!",
        r"([\u0400-\u04ff]x|[а-я]x)*!",
        r"(жx|[^б]x)*!",
        r"(\wx|жx)*!",
        r"([^\d]x|жx)*!",
        r"^(\s|/\*([^*]|\*)*?\*/)*x$",
        r"^(\s)(?:\s*\1){2,}\s*$",
        r"^(?:(?!b)\w|a)*$",
        r"^(?:a(?!c)b|ab)*$",
        r"""</?("[^"]*"|'[^']*'|[^>])*>""",
        r"(a|[^>])*(b|$)",
        r"(a|[^>])*(>x|$)",
        r"<(\"[^\"]*\"|[^>])*>",
        r"<(\"[^\"]*\"|[^>])*(>|;)",
        r"<(\"(a+)+\"|[^>])*(>|$)",
        r"<(\"[^\"]*\"|[^>;])*(>|$)",
        r"^([0-9a-z]{1,2}|[а-я]){1,40}$",  # 2 ** 20 ways and more
        r"^((a+)+b){1,3}$",
        r"^(?:[^'\\]|'{1,2}(?=['a]))*$",
        r"^(?:[^'\\]|'{1,2}(?!a))*$",
        r"^(?:a+(?=[ab])|b)*$",
        r"^(?:a++b|a{2}b)*$",
        r"^(?>(a+)+b)*$",
        r"^(?:(?>a+)|[ab])*$",
    ],
)
def test_ambiguous_loops_are_found(pattern):
    assert exponential(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a+b*",
        r"(ab)*c",
        r"(\d{1,3}\.){3}\d{1,3}",
        r"([a-z]+,)*[a-z]+$",
        r"^(?:[^'\\]|\\[\s\S]|'{1,2}(?=[^']))*$",
        r"^(?:a+(?=b)|b)*$",
        r"^(?:\w+(?!\w)|\s)*$",
        r"^(?:a++|b)*$",
        r"^(?:[^\"\\]++|\\.)*\"",
        r"^(?>[^\"\\]+|\\.)*\"",
        r"^(?:(?:a++)+b?)*$",
        r"^(?>(a+)+)*b$",
        r"^(?:\d{2,}+-)*$",
        r"(a+)+",  # nothing can fail after the loop
        r"<(\"[^\"]*\"|'[^']*'|[^>])*(>|$)",
        r"(a|b)*c",
        r"^(\w+)(\s+\w+)*$",
        r'"([^"\\]|\\.)*"',
        r"(?:[^<]+|<[^>]*>)",
        r"(\s*,\s*\w+)*\]",
        r"(?:\r\n|\n)+$",
        r"^([\uf900-\ufdcf]|(%a)|[\ue000-\uf8ff])*$",
        r"(бx|[^б]x)*!",
        r"(\u00ffx|[\u0100-\u0101]x|\u0102x)*!",
        r"^(\s|/\*([^*]|\*(?!/))*?\*/)*x$",
        r"^([*\-_])(?:\s*\1){2,}\s*$",
        r"^(?:(?!a)\w|a)*$",
        r"^(?:a(?=b)|ab)*$",
        r"""</?("[^"]*"|'[^']*'|[^>])*(>|$)""",  # nothing can fail behind a loop that takes all but `>`
        r"(\w+)*(\W|$)",
        r"(a|[^>b])*(>|b|$)",
        r"(not a pattern",
        r"no loop (at all)",
        r"^([0-9a-z]{1,2}|[а-я]){1,8}$",  # 34 ways at most, the Fibonacci number of 8 characters
        "",
    ],
)
def test_unambiguous_loops_are_not(pattern):
    assert not exponential(pattern)


OVERLAPPING_SETS = [r"(\w|_)*!", r"([а-я]|[б])*!", r"([a-z]|[b])*!", r"(\d|1)*!", r"(?:-|[.]|[-+])+@"]
DISJOINT_SETS = [
    r"(\w|-)*!",
    r"([а-я]|[a-z])*!",
    r"(\d|[a-f])*!",
    r"[\w_]*!",
    r"(?:[\w_])*!",
    r"(\[b\]|b)*!",
    r"(\\d|d)*!",
]


@pytest.mark.parametrize("pattern", OVERLAPPING_SETS)
def test_alternative_sets_that_overlap_are_two_ways_unless_merged(pattern):
    assert exponential(pattern)
    assert not exponential(pattern, merged=True)


@pytest.mark.parametrize("pattern", DISJOINT_SETS)
def test_alternative_sets_without_a_common_character_are_one_way(pattern):
    assert not exponential(pattern)


@pytest.mark.parametrize("merged", [False, True])
def test_equal_alternatives_are_two_ways_to_every_matcher(merged):
    assert exponential(r"(a|a)*b", merged=merged)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a+b)?a",
        r"(?:\w+:)?\w+?",
        r"(?:\w+:)?\w+$",
        r"(?:\w+:)?\w+(?=x)",
        r"\s+$",
        r"\s*,\s*",
        r'(\\*)"',
        r"^.*a.*a.*$x",
        r"[a-z]+@",
        r"^\s*(\s|x)*y",
        r"<[^>]*>",
        r"x.*y.*z",
        r"(?<!\w)\w+.*x",
        r"(?<!\w)\w+(?:\s\w+)*x",
        r"(?<![a-z])[a-z0-9]+:",
        r"(?<!\s)\s+\s+$",
        r"(?<!ab)\s+$",
        r"(?<=,)[a-z,]+:",
        r"\b[a-z-]+:",
        r"\b\w+(?:\s\w+)*x",
        r"\B\d+x",
        r"(?!x)\s+$",
    ],
)
def test_searches_of_quadratic_time_are_found(pattern):
    assert polynomial(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:\w+:)?\w+",
        r'(?:([^:\s]+):)?(?:"([^"]+)"|(\S+))',
        r"^\s+x",
        r"[a-z]+",
        r"^[a-z]+@[0-9]+$",
        r"abc",
        r"a{2}b",
        r"x",
        r"(",
        r"^a*b*c$",
        r"(?<!\s)\s+$",
        r"(?<=,)\s+$",
        r"(?<![0-9])[0-9]+px",
        r"(?<!\S)\S+:",
        r"\b\w+\s*$",
        r"\b\d+x",
    ],
)
def test_searches_of_linear_time_are_not_polynomial(pattern):
    assert not polynomial(pattern)


@pytest.mark.parametrize(
    ("pattern", "line_ends"), [(r"(.|\n|\r)*b", "\n\r"), (r"(.|\n)*b", "\n"), (r"(.|\x85)*b", "\n\r\x85")]
)
def test_a_dot_matches_no_line_ends(pattern, line_ends):
    assert not exponential(pattern, line_ends=line_ends)
    assert exponential(pattern, line_ends="")


def test_a_dot_leaves_out_the_line_ends_that_its_language_has():
    assert exponential(r"(.|\r)*b", line_ends="\n")
    for language, source in (("javascript", "x = {}"), ("java", 'class A {{ String x = "{}"; }}')):
        found = render(extract(source.format("/(.|\\r)*b/").encode(), language))
        assert "exponential_regex" not in found
    assert "exponential_regex" in render(extract(b"x = /(.|\\r)*b/s", "javascript"))
    assert "exponential_regex" in render(extract(b'x = re.compile("(.|\\r)*?b")', "python"))
