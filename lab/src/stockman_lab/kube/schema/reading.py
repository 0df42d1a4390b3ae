"""Bodies of requests in JSON, and what Go says of those that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from stockman_lab.kube.schema.type import Json

DEEPEST = 200
"""How many levels objects and lists may be inside of one another; the real server takes 10,000."""
_DEEPEST_OF_GO = 10_000
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_UNPAIRED = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """A body that is not JSON; its text is what Go's scanner says."""


class TooDeep(Exception):
    """A document that is more deeply nested than the lab takes."""


class Unbounded(float):
    """A number that no type holds, which keeps how it was written."""

    text: str = ""

    def __str__(self) -> str:
        return self.text


class Doubled(dict[str, Json]):
    """An object in which names were given more than once; the last value counts."""

    pairs: Sequence[tuple[str, Json]] = ()
    """All names and values as they came."""


def read_json(body: bytes) -> Json:
    """The value of a body; objects with a name twice are `Doubled`; raises `TooDeep` as well."""
    deepest = written_depth(body)
    if deepest > _DEEPEST_OF_GO:
        raise Unreadable(f"invalid character {_too_deep(body)} exceeded max depth")
    if deepest > DEEPEST:
        raise TooDeep(f"the lab takes no document of more than {DEEPEST} levels")
    text = whole_text(body.decode("utf-8", "surrogateescape"))
    try:
        found: Json = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refused,
            parse_float=_float,
            parse_int=_integer,
        )
    except ValueError:
        raise Unreadable(complaint(body.decode("latin-1"))) from None
    return _paired(found) if _ESCAPED_SURROGATE.search(body) else found


_UNKNOWN = "\ufffd"
"""What stands for bytes that are no character."""
_BRACES = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def written_depth(body: bytes) -> int:
    """How many levels a text in JSON has, be it right or wrong."""
    if body.count(b"{") + body.count(b"[") <= DEEPEST:
        return 0
    depth = deepest = 0
    for found in _BRACES.finditer(body):
        sign = found[0]
        if sign in (b"{", b"["):
            depth += 1
            deepest = max(deepest, depth)
        elif sign in (b"}", b"]"):
            depth -= 1
    return deepest


def _too_deep(body: bytes) -> str:
    """The bracket that is one too many."""
    depth = 0
    for found in _BRACES.finditer(body):
        depth += (found[0] in (b"{", b"[")) - (found[0] in (b"}", b"]"))
        if depth > _DEEPEST_OF_GO:
            return _quoted(found[0].decode())
    return ""


def _float(text: str) -> float:
    found = float(text)
    return _unbounded(text) if found in (float("inf"), float("-inf")) else found


_MOST_DIGITS = 400


def _integer(text: str) -> int | float:
    return int(text) if len(text) < _MOST_DIGITS else _unbounded(text)


def _unbounded(text: str) -> Unbounded:
    unbounded = Unbounded("-inf" if text.startswith("-") else "inf")
    unbounded.text = text
    return unbounded


def unbounded_in(value: Json) -> Unbounded | None:
    """A number inside of a value that no type holds."""
    if isinstance(value, Unbounded):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((unbounded for one in inner if (unbounded := unbounded_in(one)) is not None), None)


def whole_text(text: str) -> str:
    """A text in which halves of characters that stand alone are unknown characters."""
    return _UNPAIRED.sub(_UNKNOWN, text)


def _paired(value: Json) -> Json:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, Doubled):
        pairs = [(whole_text(name), _paired(one)) for name, one in value.pairs]
        return _object(pairs)
    if isinstance(value, dict):
        return {whole_text(name): _paired(one) for name, one in value.items()}
    return [_paired(one) for one in value] if isinstance(value, list) else value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    jsons = dict(pairs)
    if len(jsons) == len(pairs):
        return jsons
    doubled = Doubled(jsons)
    doubled.pairs = pairs
    return doubled


def _refused(text: str) -> Json:
    raise ValueError(text)


_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ENDED = "unexpected end of JSON input"
_BLANKS = " \t\r\n"
_VALUE = "looking for beginning of value"
_NAME = "looking for beginning of object key string"


class _Broken(Exception):
    """Where and why a text stops being JSON."""


def complaint(text: str) -> str:
    """Why a text, one character for each byte, is not JSON, as Go's scanner says it."""
    try:
        end = _blanks(text, _value(text, _blanks(text, 0)))
        if end < len(text):
            _break(text, end, "after top-level value")
    except _Broken as why:
        return str(why)
    except RecursionError:
        return "exceeded max depth"
    return ""


def _break(text: str, place: int, why: str) -> None:
    if place >= len(text):
        raise _Broken(_ENDED)
    raise _Broken(f"invalid character {_quoted(text[place])} {why}")


def _break_inside(text: str, place: int, why: str) -> None:
    """Inside of words and numbers the end of the text counts as a blank."""
    _break(f"{text} ", place, why)


def _quoted(one: str) -> str:
    if one == "'":
        return r"'\''"
    if one == '"':
        return "'\"'"
    return repr(one)


def _blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place


def _value(text: str, place: int) -> int:
    first = text[place : place + 1]
    if first == "{":
        return _members(text, place)
    if first == "[":
        return _entries(text, place)
    if first == '"':
        return _string(text, place)
    if first in _LITERALS:
        return _literal(text, place, _LITERALS[first])
    found = _NUMBER.match(text, place)
    if found is None:
        if first == "-":
            _break_inside(text, place + 1, "in numeric literal")
        _break(text, place, _VALUE)
        return place
    return _whole_number(text, found.end())


def _whole_number(text: str, end: int) -> int:
    """The end of a number; a point or an exponent without digits is none."""
    following = text[end : end + 1]
    if following == ".":
        _break_inside(text, end + 1, "after decimal point in numeric literal")
    if following in ("e", "E"):
        signed = text[end + 1 : end + 2] in ("+", "-")
        _break_inside(text, end + 1 + signed, "in exponent of numeric literal")
    return end


_LITERALS = {"t": "true", "f": "false", "n": "null"}


def _literal(text: str, place: int, word: str) -> int:
    for offset, wanted in enumerate(word):
        if text[place + offset : place + offset + 1] != wanted:
            _break_inside(text, place + offset, f"in literal {word} (expecting '{wanted}')")
    return place + len(word)


def _string(text: str, place: int) -> int:
    place += 1
    while True:
        one = text[place : place + 1]
        if one == '"':
            return place + 1
        if one == "\\":
            place += 1
            following = text[place : place + 1]
            if following == "u":
                for _ in range(4):
                    place += 1
                    if text[place : place + 1] not in _HEX:
                        _break(text, place, r"in \u hexadecimal character escape")
            elif following not in _ESCAPES:
                _break(text, place, "in string escape code")
        elif one < " ":
            _break(text, place, "in string literal")
        place += 1


_HEX = frozenset("0123456789abcdefABCDEF")
_ESCAPES = frozenset('bfnrt\\/"')


def _members(text: str, place: int) -> int:
    place = _blanks(text, place + 1)
    if text[place : place + 1] == "}":
        return place + 1
    while True:
        if text[place : place + 1] != '"':
            _break(text, place, _NAME)
        place = _blanks(text, _string(text, place))
        if text[place : place + 1] != ":":
            _break(text, place, "after object key")
        place = _blanks(text, _value(text, _blanks(text, place + 1)))
        following = text[place : place + 1]
        if following == "}":
            return place + 1
        if following != ",":
            _break(text, place, "after object key:value pair")
        place = _blanks(text, place + 1)


def _entries(text: str, place: int) -> int:
    place = _blanks(text, place + 1)
    if text[place : place + 1] == "]":
        return place + 1
    while True:
        place = _blanks(text, _value(text, place))
        following = text[place : place + 1]
        if following == "]":
            return place + 1
        if following != ",":
            _break(text, place, "after array element")
        place = _blanks(text, place + 1)
