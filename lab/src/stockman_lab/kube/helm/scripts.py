"""Commands of containers: arguments as they are, or lines of a script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SHELLS = frozenset({"sh", "bash", "ash", "busybox"})
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}|\$(\w+)")
_GIVEN = re.compile(r"\$\((\w+)\)")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a program."""

    words: tuple[str, ...]
    text: str = ""
    """What it is given to read."""


class NotUnderstood(Exception):
    """A script that the lab cannot read."""


def calls(words: list[str], variables: Mapping[str, str]) -> list[Call]:
    """What a container runs; raises `NotUnderstood`."""
    given = [_GIVEN.sub(lambda one: variables.get(one[1], one[0]), word) for word in words]
    if not given:
        return []
    name = given[0].rpartition("/")[2]
    if name not in _SHELLS:
        return [Call(tuple(given))]
    for place, word in enumerate(given[1:], 1):
        if word.startswith("-") and word.endswith("c") and place + 1 < len(given):
            return list(_lines(given[place + 1], variables))
    raise NotUnderstood("a shell without a script")


def _lines(script: str, variables: Mapping[str, str]) -> Iterator[Call]:
    known = dict(variables)
    lines = iter(script.replace("\\\n", " ").splitlines())
    for line in lines:
        here = _HERE.search(line)
        text = ""
        if here is not None:
            inner = []
            for following in lines:
                if following.strip() == here[2]:
                    break
                inner.append(following)
            text = "\n".join(inner) + "\n"
            if not here[1]:
                text = _expanded(text, known)
            line = _HERE.sub("", line)
        for part in re.split(r"&&|;", line):
            yield from _call(part, text, known)


def _call(part: str, text: str, known: dict[str, str]) -> Iterator[Call]:
    try:
        words = shlex.split(_expanded(part, known), comments=True)
    except ValueError as why:
        raise NotUnderstood(str(why)) from None
    while words and re.fullmatch(r"\w+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        known[name] = value
    if words and words[0] == "exec":
        words = words[1:]
    if words and words[0] not in {"set", "export", "echo", "true"}:
        yield Call(tuple(words), text)


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[3]
        return variables.get(name) or (found[2] or "")

    return _VARIABLE.sub(value, text)
