"""Regular expressions: what has a limit in time, and that both matchers agree on what either may get."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import regular_expressions
from engine.regular_expressions import Pattern, matches

ATOMS = st.sampled_from(
    ["a", "B", "_", ".", "-", "1", "[ab]", "[^a]", "[a-cB]", "[]", "[^]a]", "[[:alpha:]]", "[[:digit:]_]", "\\.", "\\d"]
    + ["\\S", "\\w", "\\b", "\\n", "\\x41", "\\1", "\\h", "\\p{L}", "é", "^", "$", "#", " ", "&&", "]", "}"]
)
SUFFIXES = st.sampled_from(["", "", "", "*", "+", "?", "*?", "{2}", "{1,}", "{0,2}", "{2}{2}", "*+", "++", "{"])
FLAGS = st.sampled_from(["", "(?i)", "(?s)", "(?is)"])
PATTERNS = st.recursive(
    st.tuples(ATOMS, SUFFIXES).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join),
        st.tuples(st.sampled_from(["(", "(?:", "(?=", "(?P<n>", "(?i:", "(?-i:"]), inner, SUFFIXES).map(
            lambda parts: f"{parts[0]}{parts[1]}){parts[2]}"
        ),
    ),
    max_leaves=6,
)


@given(FLAGS, PATTERNS, st.lists(st.text("abAB_-1.é \n#]}ſK", max_size=6), max_size=6))
def test_a_quick_match_is_the_general_one(flags, text, texts):
    pattern = Pattern(flags + text)
    if pattern.quick_length >= 0 and pattern.quick is not None:
        assert pattern.general is not None
        for each in texts:
            assert (pattern.quick.fullmatch(each) is None) == (pattern.general.fullmatch(each) is None)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [("[[:digit:]]+", "42"), ("(?i)select.*", "SELECT 1"), ("[^/]*[.]py|a{2}", "aa"), (".{2,3}", "abc"), ("a?b??", "")],
)
def test_plain_patterns_on_short_texts_are_quick(text, accepted, monkeypatch):
    monkeypatch.setattr(Pattern, "general", None)
    assert matches(text, accepted)
    assert matches(text, "!" * 30) is False


@pytest.mark.parametrize("text", ["a{", "(a", "a)", "*a", "[a", "a{2}{", "(?<n"])
def test_malformed_patterns_have_no_value(text):
    assert matches(text, "a") is None


@pytest.mark.parametrize(
    "text", ["(a+)+b", "(a|a)*b", "(a?){40}b", "a?" * 30 + "a" * 30 + "b", "(a|a)(?R)?b", "(a|a)(?1)?b", "(a|a)" * 30]
)
def test_a_pattern_that_may_take_long_has_a_limit(text):
    assert Pattern(text).quick_length < 30


def alternatives(repetitions: int, length: int) -> int:
    """The ways to give so many repetitions their shares of a text."""
    return sum(1 for shares in product(range(length + 1), repeat=repetitions) if sum(shares) <= length)


@pytest.mark.parametrize("repetitions", [1, 2, 3, 4])
def test_the_limit_depends_on_the_length_of_the_text(repetitions):
    length = Pattern(".*" * repetitions + "b").quick_length
    assert alternatives(repetitions, min(int(length), 30)) <= 1 << regular_expressions.QUICK_BITS
    assert length**repetitions < 1 << regular_expressions.QUICK_BITS


def test_a_match_ends_at_its_limit(monkeypatch):
    monkeypatch.setattr(regular_expressions, "MATCH_S", 0.2)
    with pytest.raises(engine.EvaluationError, match=r"takes more than 0.2 s"):
        matches("(a|a)" * 30 + r"\1b", "a" * 60)


@pytest.mark.parametrize("text", ["(a|a)" * 30 + "b", "(a+)+b", "(.*,)*x", ".*" * 12 + "b", r"([\s\S]*,)*x"])
def test_plain_patterns_take_linear_time(text, monkeypatch):
    """Each backtracks over 2**30 alternatives or more."""
    monkeypatch.setattr(Pattern, "general", None)
    assert matches(text, "a," * 30 + "a") is False
    assert matches(text, "é," * 30 + "\na") is False


@given(
    FLAGS, PATTERNS, st.lists(st.text("abAB_-1.é \n\r\t\v\x1c\x7f\x85\u2028#]}K\u017f\u212a", max_size=6), max_size=6)
)
def test_a_match_in_linear_time_is_the_general_one(flags, text, texts):
    pattern = Pattern(flags + text)
    if pattern.linear is not None and pattern.general is not None:
        for each in filter(pattern.is_common, texts):
            assert (pattern.linear.fullmatch(each.encode()) is None) == (pattern.general.fullmatch(each) is None)


@pytest.mark.parametrize("text", ["a.*", "(get|set)_?name", "[a-z]{2,}", "(?:a|b)c?"])
def test_a_pattern_that_cannot_take_long_needs_none(text, monkeypatch):
    monkeypatch.setattr(regular_expressions, "MATCH_S", 1e-9)
    assert matches(text, "a" * 1000) is not None


@given(FLAGS, PATTERNS, st.lists(st.text("abAB_-1.é \n#]}ſK", max_size=6), max_size=6))
def test_texts_match_side_by_side_as_each_does_alone(flags, text, texts):
    """Some are the lines of one text, which must not be told from others by what stands beside them."""
    pattern = Pattern(flags + text)
    if pattern.general is not None:
        assert pattern.matches_each(texts) == [pattern.general.fullmatch(each) is not None for each in texts]


@pytest.mark.parametrize("text", [r"a[^x]*c", r"a\s+c", r"a\W*c", r"a(.|\n)*c", r"a\D*c", "a\nc", "^a$|c", ""])
def test_no_pattern_matches_from_one_text_to_the_next(text):
    pattern = Pattern(text)
    assert pattern.matches_each(["a", "", "c"]) == [matches(text, each) for each in ("a", "", "c")]
    assert pattern.matches_each(["c", "a", "c", ""])[1] == (text == "^a$|c")
