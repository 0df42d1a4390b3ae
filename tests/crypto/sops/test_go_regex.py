"""Expressions in the syntax of Go."""

import pytest

from stockman.crypto.sops.selectors import GoRegex


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^(data|stringData)$", "data", True),
        ("^(data|stringData)$", "metadata", False),
        ("^data$", "data\n", False),
        (r"\Aa\z", "a", True),
        ("[[:alpha:]]+$", "abc", True),
        ("^[^[:digit:]]$", "1", False),
        ("[]a]", "]", True),
        ("[a$]", "$", True),
        (r"^\w+$", "über", False),
        ("(?i)SECRET", "my_secret", True),
        ("(?P<name>a)b", "ab", True),
        ("(?<name>a)b", "ab", True),
        ("(?:a|b){2}", "ab", True),
        (r"\$", "$", True),
        ("a+?", "a", True),
        ("(?:(?i)secret)Key", "SECRETKey", True),
        ("(?:(?i)secret)Key", "SECRETKEY", False),
        (r"^\p{Lu}", "Über", True),
        (r"\pL$", "ж", True),
        (r"\Qa.b\E", "a.b", True),
        ("(?U)^a+b", "aab", True),
        (r"\\C", r"\C", True),
        ("^a.b$", "a\udcffb", True),
    ],
)
def test_what_go_matches_is_matched(pattern: str, text: str, matches: bool) -> None:
    assert GoRegex(pattern).matches(text) == matches


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        r"(a)\1",
        "a++",
        r"\C",
        "(?#x)",
        "*",
        r"a\Z",
        "(?P=x)",
    ],
)
def test_what_go_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        GoRegex(pattern)


def test_no_expression_takes_exponential_time() -> None:
    assert not GoRegex("^(a+)+$").matches("a" * 50_000 + "!")
