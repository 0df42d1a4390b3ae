"""Label selectors, as they stand in queries and in objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stockman_lab.kube.admission.draft import quoted
from stockman_lab.kube.admission.names import label_value_errors, qualified_errors
from stockman_lab.kube.failures import bad_request

_TOKEN = re.compile(r"\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)")
_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_WORDS = {"in": "in", "notin": "notin", "=": "in", "==": "in", "!=": "notin"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a label has to be."""

    key: str
    operator: str
    """`in`, `notin`, `exists`, `!`, `gt` or `lt`."""
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        label = labels.get(self.key)
        match self.operator:
            case "in":
                return label is not None and label in self.values
            case "notin":
                return label is None or label not in self.values
            case "exists":
                return label is not None
            case "!":
                return label is None
        return label is not None and _compares(label, self.operator, *self.values)


def _compares(found: str, operator: str, value: str) -> bool:
    try:
        left, right = int(found), int(value)
    except ValueError:
        return False
    return left > right if operator == "gt" else left < right


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of several requirements."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def read_label_selector(text: str) -> LabelSelector:
    """`app in (a,b),!old`; raises `Failure`."""
    tokens = [found.group(1) for found in _TOKEN.finditer(text)]
    requirements: list[Requirement] = []
    place = 0
    while place < len(tokens):
        if tokens[place] in _SIGNS:
            text = f"found '{tokens[place]}', expected: !, identifier, or 'end of string'"
            raise bad_request(text)
        requirement, place = _requirement(tokens, place)
        _check(requirement)
        requirements.append(requirement)
        if place < len(tokens):
            if tokens[place] != ",":
                raise bad_request(f"found '{tokens[place]}', expected: ',' or 'end of string'")
            place += 1
            following = tokens[place] if place < len(tokens) else ""
            if not following or following in _SIGNS:
                raise bad_request(f"found '{following}', expected: identifier after ','")
    return LabelSelector(tuple(requirements))


_SIGNS = frozenset({"=", "==", "!=", ",", "(", ")", "<", ">"})
_NUMBER = re.compile(r"[-+]?[0-9]{1,19}")


def _check(requirement: Requirement) -> None:
    """Refuse what no label can be."""
    wrong = [
        f"<nil>: Invalid value: {quoted(requirement.key)}: {why}"
        for why in qualified_errors(requirement.key)
    ]
    values = sorted(requirement.values)
    if requirement.operator in {"gt", "lt"}:
        why = "for 'Gt', 'Lt' operators, the value must be an integer"
        wrong += [
            f"values[{place}]: Invalid value: {quoted(value)}: {why}"
            for place, value in enumerate(values)
            if not _NUMBER.fullmatch(value)
        ]
    wrong += [
        f"values[{place}][{requirement.key}]: Invalid value: {quoted(value)}: {why}"
        for place, value in enumerate(values)
        for why in label_value_errors(value)
    ]
    if wrong:
        raise _unreadable(wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")


def _unreadable(why: str) -> Exception:
    return bad_request(f"unable to parse requirement: {why}")


def _requirement(tokens: list[str], place: int) -> tuple[Requirement, int]:
    if tokens[place] == "!":
        if place + 1 == len(tokens):
            raise _unreadable("found '', expected: identifier")
        if tokens[place + 1] in _SIGNS | {"!"}:
            raise _unreadable(f"found '{tokens[place + 1]}', expected: identifier")
        return Requirement(tokens[place + 1], "!"), place + 2
    key = tokens[place]
    place += 1
    if place == len(tokens) or tokens[place] == ",":
        return Requirement(key, "exists"), place
    operator = tokens[place]
    if operator in {"<", ">"}:
        value = tokens[place + 1] if place + 1 < len(tokens) else ""
        return Requirement(key, "gt" if operator == ">" else "lt", frozenset({value})), place + 2
    if operator not in _WORDS:
        raise _unreadable(f"found '{operator}', expected: {_OPERATORS}")
    if operator in {"in", "notin"}:
        return _among(key, operator, tokens, place + 1)
    place += 1
    if place == len(tokens) or tokens[place] == ",":
        return Requirement(key, _WORDS[operator], frozenset({""})), place
    return Requirement(key, _WORDS[operator], frozenset({tokens[place]})), place + 1


def _among(key: str, operator: str, tokens: list[str], place: int) -> tuple[Requirement, int]:
    if place == len(tokens) or tokens[place] != "(":
        token = tokens[place] if place < len(tokens) else ""
        raise _unreadable(f"found '{token}' expected: '('")
    try:
        end = tokens.index(")", place)
    except ValueError:
        raise _unreadable("found '', expected: ',' or ')'") from None
    values = frozenset(one for one in tokens[place + 1 : end] if one != ",") or frozenset({""})
    return Requirement(key, operator, values), end + 1
