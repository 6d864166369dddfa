"""Headers of checks: what they say, and what is wrong with them."""

import pytest

from rules.catalogue import HeaderError, checks, read_check

HEADER = """\
// @id py/x
// @name Something bad
// @severity error   @precision high   @cwe 89, 90   @security-severity 8.8
// @tags correctness
// @message This depends on {source}.
finding("py/x") :- true.
"""
HELP = """\
# Something bad

It is bad,
because.

## Wrong

```python
bad()  # expect: py/x
```
"""


def test_a_header_and_its_page_describe_a_check():
    check = read_check("x.dl", HEADER, HELP)
    assert (check.id, check.name, check.severity, check.precision) == ("py/x", "Something bad", "error", "high")
    assert (check.cwe, check.security_severity, check.tags) == ((89, 90), "8.8", ("security", "correctness"))
    assert check.message == "This depends on {source}."
    assert check.summary == "It is bad, because."
    assert check.examples == [("python", "bad()  # expect: py/x\n")]


def test_a_weakness_alone_does_not_make_a_check_one_of_security():
    assert read_check("x.dl", HEADER.replace("   @security-severity 8.8", ""), HELP).tags == ("correctness",)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("// @name Something bad\n", "", 1, "lacks @name"),
        ("@severity error", "@severity fatal", 3, "error, warning, note"),
        ("@precision high", "@precision 1", 3, "very-high"),
        ("@tags", "@tagz", 4, "unknown key '@tagz'"),
    ],
)
def test_a_wrong_header_is_an_error_with_its_line(old, new, line, said):
    with pytest.raises(HeaderError, match=said) as caught:
        read_check("x.dl", HEADER.replace(old, new), HELP)
    assert caught.value.line == line


def test_bundled_checks_are_in_order_of_their_ids_and_each_has_one():
    ids = [check.id for check in checks()]
    assert ids == sorted(set(ids))


def test_a_check_is_of_the_default_tier_unless_its_header_says_another():
    assert read_check("x.dl", HEADER, HELP).tier == "default"
    assert read_check("x.dl", HEADER.replace("@tags", "@tier audit   @tags"), HELP).tier == "audit"
    with pytest.raises(HeaderError, match="expected one of default, audit"):
        read_check("x.dl", HEADER.replace("@tags", "@tier later   @tags"), HELP)
