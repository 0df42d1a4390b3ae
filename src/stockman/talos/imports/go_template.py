"""Render Go templates as far as patches use them: values, conditions, lists, a few functions.

Anything unsupported is refused with its position; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeAlias

from stockman.model.origin import Position
from stockman.model.pattern import pattern

Data: TypeAlias = object
"""Texts, numbers, flags, None, lists, and mappings of names to data."""

_ACTION = pattern(r"\{\{(?P<left>-(?=\s))?(?P<body>.*?)(?P<right>(?<=\s)-)?\}\}", re.DOTALL)
_TOKEN = pattern(
    r"\s*(?:(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)"
    r"|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<field>\$?(?:\.[A-Za-z_][A-Za-z0-9_]*)+|\$(?=[\s)|]|$)|\.(?=[\s)|]|$))"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>[()|]))"
)
_BLOCKS = ("if", "range", "with")
_LEFT_SPACE = pattern(r"[ \t\r\n]*\Z")
_RIGHT_SPACE = pattern(r"[ \t\r\n]*")


class UnsupportedTemplate(Exception):
    """A template, or a part of it, is not supported."""

    def __init__(self, why: str, at: Position) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


class _Text(str):
    """A text between actions."""


class _Action:
    __slots__ = ("at", "body", "branches")

    def __init__(self, body: str, at: Position) -> None:
        self.body = body
        self.at = at
        self.branches: list[tuple[str, list[_Text | _Action]]] = []
        """For blocks: condition and content; an empty condition is the `else` branch."""


def is_template(text: str) -> bool:
    """Whether a text contains template actions."""
    return "{{" in text


def render_template(file: str, text: str, data: Data, first_line: int = 1) -> str:
    """Return the text that a template renders with the data; raises UnsupportedTemplate."""
    pieces = _tokenize(file, text, first_line)
    tree, end = _parse_block_body(pieces, 0, None)
    if end < len(pieces):
        unexpected = pieces[end]
        raise UnsupportedTemplate(
            "`end` without a start",
            unexpected.at if isinstance(unexpected, _Action) else Position(file, first_line, 1),
        )
    return "".join(_execute(tree, data, data))


def _tokenize(file: str, text: str, first_line: int) -> list[_Text | _Action]:
    """Split the text into actions and text, and remove the space that `{{-` and `-}}` trim."""
    pieces: list[_Text | _Action] = []
    start = 0
    for action in _ACTION.finditer(text):
        between = text[start : action.start()]
        if action["left"]:
            between = _LEFT_SPACE.sub("", between)
        pieces.append(_Text(between))
        before = text[: action.start()]
        column = action.start() - (before.rfind("\n") + 1) + 1
        at = Position(file, before.count("\n") + first_line, column)
        body = action["body"].strip()
        if not body.startswith("/*"):
            pieces.append(_Action(body, at))
        start = action.end()
        if action["right"]:
            space = _RIGHT_SPACE.match(text, start)
            start = space.end() if space is not None else start
    remainder = text[start:]
    if "{{" in remainder:
        before = text[: text.rindex("{{")]
        at = Position(file, before.count("\n") + first_line, len(before) - before.rfind("\n"))
        raise UnsupportedTemplate("an action is not closed", at)
    return [*pieces, _Text(remainder)]


def _parse_block_body(
    pieces: list[_Text | _Action], index: int, opened: _Action | None
) -> tuple[list[_Text | _Action], int]:
    """Return the content of a block and the index where it ends."""
    content: list[_Text | _Action] = []
    while index < len(pieces):
        piece = pieces[index]
        if isinstance(piece, _Text):
            content.append(piece)
            index += 1
            continue
        keyword, _, condition = piece.body.partition(" ")
        if keyword in ("end", "else"):
            return content, index
        if keyword not in _BLOCKS:
            content.append(piece)
            index += 1
            continue
        index = _parse_block(pieces, index, piece, condition.strip())
        content.append(piece)
    if opened is not None:
        raise UnsupportedTemplate(f"`{opened.body}` has no `end`", opened.at)
    return content, index


def _parse_block(pieces: list[_Text | _Action], index: int, start: _Action, condition: str) -> int:
    """Fill a block with its branches; returns the index after its end."""
    while True:
        content, index = _parse_block_body(pieces, index + 1, start)
        start.branches.append((condition, content))
        if index >= len(pieces):
            raise UnsupportedTemplate(f"`{start.body}` has no `end`", start.at)
        end = pieces[index]
        if not isinstance(end, _Action) or end.body == "end":
            return index + 1
        condition = end.body.removeprefix("else").strip()
        if condition and not condition.startswith("if "):
            raise UnsupportedTemplate(f"`{end.body}` is not supported", end.at)
        condition = condition.removeprefix("if").strip()


def _execute(tree: list[_Text | _Action], dot: Data, root: Data) -> Iterator[str]:
    for piece in tree:
        if isinstance(piece, _Text):
            yield piece
        elif piece.branches:
            yield from _execute_block(piece, dot, root)
        else:
            value = _Expression(piece, piece.body, dot, root).value()
            if isinstance(value, dict):
                raise UnsupportedTemplate(
                    f"`{{{{ {piece.body} }}}}` is a mapping, not a text", piece.at
                )
            yield _format_value(value)


def _execute_block(block: _Action, dot: Data, root: Data) -> Iterator[str]:
    keyword = block.body.partition(" ")[0]
    for condition, content in block.branches:
        if not condition:
            yield from _execute(content, dot, root)
            return
        value = _Expression(block, condition, dot, root).value()
        if keyword == "range" and _is_true(value):
            for item in _range_items(value, block):
                yield from _execute(content, item, root)
            return
        if _is_true(value):
            yield from _execute(content, value if keyword == "with" else dot, root)
            return


def _range_items(value: Data, block: _Action) -> list[Data]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, list | tuple):
        return list(value)
    raise UnsupportedTemplate("range needs a list or a mapping", block.at)


class _Expression:
    """Evaluates one pipeline."""

    def __init__(self, action: _Action, text: str, dot: Data, root: Data) -> None:
        self._action = action
        self._dot = dot
        self._root = root
        self._tokens = self._tokenize(text)
        self._next = 0

    def value(self) -> Data:
        value = self._pipeline()
        if self._next < len(self._tokens):
            self._refuse(f"unexpected `{self._tokens[self._next][1]}`")
        return value

    def _tokenize(self, text: str) -> list[tuple[str, str]]:
        tokens: list[tuple[str, str]] = []
        index = 0
        text = text.strip()
        while index < len(text):
            token = _TOKEN.match(text, index)
            if token is None or token.end() == index:
                self._refuse(f"`{text[index:].strip()}` is not supported")
            tokens.append((str(token.lastgroup), token[token.lastgroup or 0]))
            index = token.end()
        return tokens

    def _pipeline(self) -> Data:
        value = self._command(None)
        while self._peek() == ("sign", "|"):
            self._next += 1
            value = self._command((value,))
        return value

    def _command(self, piped: tuple[Data] | None) -> Data:
        kind, text = self._take()
        if kind == "word" and text not in ("true", "false", "nil"):
            operands = []
            while (following := self._peek()) is not None and following[1] not in ("|", ")"):
                operands.append(self._operand(*self._take()))
            return self._call(text, [*operands, *(piped or ())])
        if piped is not None:
            self._refuse(f"`{text}` takes no value")
        return self._operand(kind, text)

    def _operand(self, kind: str, text: str) -> Data:
        if kind == "text":
            return text[1:-1] if text.startswith("`") else json.loads(text)
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "field":
            return self._field(text)
        if (kind, text) == ("sign", "("):
            value = self._pipeline()
            if self._peek() != ("sign", ")"):
                self._refuse("a bracket is not closed")
            self._next += 1
            return value
        if text in ("true", "false", "nil"):
            return {"true": True, "false": False, "nil": None}[text]
        if kind != "word":
            self._refuse(f"unexpected `{text}`")
        return self._call(text, [])

    def _field(self, text: str) -> Data:
        value = self._root if text.startswith("$") else self._dot
        for name in text.removeprefix("$").split(".")[1:]:
            if not name:
                continue
            if not isinstance(value, dict) or name not in value:
                self._refuse(f"`{text}` is not defined")
            value = value[name]
        return value

    def _call(self, name: str, operands: list[Data]) -> Data:
        function = _FUNCTIONS.get(name)
        if function is None:
            self._refuse(f"the function `{name}` is not supported")
        try:
            return function(*operands)
        except (TypeError, ValueError, IndexError, KeyError):
            self._refuse(f"invalid arguments of `{name}`")

    def _peek(self) -> tuple[str, str] | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> tuple[str, str]:
        token = self._peek()
        if token is None:
            self._refuse("a value is missing")
        self._next += 1
        return token

    def _refuse(self, why: str) -> NoReturn:
        raise UnsupportedTemplate(f"{why}, in `{{{{ {self._action.body} }}}}`", self._action.at)


def _is_true(value: Data) -> bool:
    return bool(value)


def _format_value(value: Data) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{' '.join(_format_value(item) for item in value)}]"
    if isinstance(value, dict):
        pairs = sorted((str(key), _format_value(item)) for key, item in value.items())
        return f"map[{' '.join(f'{key}:{item}' for key, item in pairs)}]"
    raise TypeError(f"{type(value).__name__} has no text")


def _quote(*values: Data) -> str:
    return " ".join(json.dumps(_format_value(value), ensure_ascii=False) for value in values)


def _default(fallback: Data, *values: Data) -> Data:
    return values[0] if values and _is_true(values[0]) else fallback


def _ternary(when_true: Data, when_false: Data, condition: Data) -> Data:
    return when_true if _is_true(condition) else when_false


def _and(*values: Data) -> Data:
    return next((value for value in values if not _is_true(value)), values[-1])


def _or(*values: Data) -> Data:
    return next((value for value in values if _is_true(value)), values[-1])


_FUNCTIONS: dict[str, Callable[..., Data]] = {
    "and": _and,
    "contains": lambda needle, text: _format_value(needle) in _format_value(text),
    "default": _default,
    "eq": lambda first, *values: any(first == value for value in values),
    "hasPrefix": lambda prefix, text: _format_value(text).startswith(_format_value(prefix)),
    "hasSuffix": lambda suffix, text: _format_value(text).endswith(_format_value(suffix)),
    "join": lambda mark, items: _format_value(mark).join(_format_value(item) for item in items),
    "lower": lambda text: _format_value(text).lower(),
    "ne": lambda first, second: first != second,
    "not": lambda value: not _is_true(value),
    "or": _or,
    "quote": _quote,
    "replace": lambda old, new, text: _format_value(text).replace(
        _format_value(old), _format_value(new)
    ),
    "squote": lambda *values: " ".join(f"'{_format_value(value)}'" for value in values),
    "ternary": _ternary,
    "trim": lambda text: _format_value(text).strip(),
    "trimPrefix": lambda prefix, text: _format_value(text).removeprefix(_format_value(prefix)),
    "trimSuffix": lambda suffix, text: _format_value(text).removesuffix(_format_value(suffix)),
    "upper": lambda text: _format_value(text).upper(),
}
"""The supported functions of Go templates and of sprig."""
