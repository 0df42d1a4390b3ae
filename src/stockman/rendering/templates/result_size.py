"""Compute the size of a result before it is built: operators, methods and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import NamedTuple

from stockman.model.pattern import pattern
from stockman.rendering.templates.contract import TemplateStopped
from stockman.rendering.templates.guard import Guard, nesting_too_deep

Arguments = tuple[object, ...]
KeywordArguments = Mapping[str, object]


class Call(NamedTuple):
    """A call of a method or filter that is about to happen."""

    guard: Guard
    subject: object
    arguments: Arguments
    named: KeywordArguments

    def argument(self, position: int, name: str, default: object) -> object:
        """Return an argument by its position or name."""
        known = position < len(self.arguments)
        return self.arguments[position] if known else self.named.get(name, default)


SizeCheck = Callable[[Call], None]

_NUMBER = pattern(r"\d+")
_MAX_DIGITS = 400
"""Decimal places; no float has more."""
_SLOW_TEXT = 1 << 16
"""Maximum characters for filters with quadratic run time."""
_TAB = 8
_LINE = 79


# --- operators --------------------------------------------------------------------------------


def before_operator(guard: Guard, operator: str, left: object, right: object) -> None:
    """Charge an operator, or stop the template if its result would be too large."""
    guard.spend(1)
    match operator:
        case "*":
            _before_times(guard, left, right)
        case "+":
            _before_plus(guard, left, right)
        case "**" if isinstance(left, int) and isinstance(right, int) and right > 0:
            guard.digits(left.bit_length() * right)
        case "%" if isinstance(left, str | bytes):
            before_percent(guard, left, right)
        case _:
            guard.survey((left, right), set())


def _before_times(guard: Guard, left: object, right: object) -> None:
    if isinstance(left, int) and isinstance(right, int):
        guard.digits(left.bit_length() + right.bit_length())
        return
    for operand, times in ((left, right), (right, left)):
        if isinstance(times, int) and isinstance(operand, Sized):
            _before_size(guard, operand, len(operand) * times)


def _before_plus(guard: Guard, left: object, right: object) -> None:
    if isinstance(left, int) and isinstance(right, int):
        guard.digits(max(left.bit_length(), right.bit_length()))
    elif isinstance(left, Sized) and isinstance(right, Sized):
        _before_size(guard, left, len(left) + len(right))


def _before_size(guard: Guard, kind: object, size: int) -> None:
    if isinstance(kind, str | bytes):
        guard.text(size)
    else:
        guard.items(size)


def before_percent(guard: Guard, pattern: str | bytes, values: object) -> None:
    """Charge `pattern % values`: widths are in the pattern, or in values for `*`."""
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    guard.survey(values, set())
    widths = _numbers(text)
    if "*" in text and isinstance(values, tuple):
        widths += sum(value for value in values if isinstance(value, int) and value > 0)
    guard.text(len(text) + widths)


def before_field(guard: Guard, value: object, spec: str) -> None:
    """Charge one field of `str.format`."""
    guard.survey(value, set())
    guard.text(_numbers(spec))


def _numbers(text: str) -> int:
    return sum(
        int(digits[-19:]) if len(digits) < 20 else 10**18 for digits in _NUMBER.findall(text)
    )


# --- string methods ---------------------------------------------------------------------------


def _width_size(call: Call) -> None:
    width = call.argument(0, "width", 80)
    if isinstance(width, int):
        call.guard.text(width)


def _tab_size(call: Call) -> None:
    subject = call.subject
    size = call.argument(0, "tabsize", _TAB)
    if isinstance(subject, str) and isinstance(size, int):
        call.guard.text(len(subject) + subject.count("\t") * max(size, 0))
    else:
        _reject_bytes()


def _replace_size(call: Call) -> None:
    subject = call.subject
    old = call.argument(0, "old", "")
    new = call.argument(1, "new", "")
    if not isinstance(subject, str):
        subject, old, new = str(subject), str(old), str(new)
    if isinstance(old, str) and isinstance(new, str):
        call.guard.text(len(subject) + subject.count(old) * len(new))


def _translate_size(call: Call) -> None:
    subject = call.subject
    table = call.argument(0, "table", None)
    if isinstance(table, dict) and isinstance(subject, str):
        longest = max((len(text) for text in table.values() if isinstance(text, str)), default=1)
        call.guard.text(len(subject) * max(longest, 1))


def _join_size(call: Call) -> None:
    subject = call.subject
    items = call.argument(0, "iterable", ())
    if isinstance(subject, str | bytes) and isinstance(items, list | tuple | dict | str):
        call.guard.items(len(items))
        lengths = (len(item) for item in items if isinstance(item, str | bytes))
        call.guard.text(sum(lengths) + len(subject) * len(items))


def _reject_bytes() -> None:
    raise TypeError("only strings contain tabs")


_TEXT_METHODS: Mapping[str, SizeCheck] = {
    "center": _width_size,
    "ljust": _width_size,
    "rjust": _width_size,
    "zfill": _width_size,
    "expandtabs": _tab_size,
    "replace": _replace_size,
    "translate": _translate_size,
    "join": _join_size,
}
_INTO_LISTS = frozenset({"rsplit", "split", "splitlines"})


def before_text_method(
    guard: Guard, text: str | bytes, name: str, arguments: Arguments, named: KeywordArguments
) -> None:
    """Charge a method of a string."""
    guard.text(len(text))
    guard.survey(arguments, set())
    if name in _INTO_LISTS:
        guard.spend(len(text) >> 3)
    growth = _TEXT_METHODS.get(name)
    if growth is not None:
        growth(Call(guard, text, arguments, named))


# --- methods of lists, mappings and numbers -----------------------------------------------------

_CONSTANT = frozenset({"append", "get", "pop", "popitem", "setdefault", "add", "discard"})


def before_part_method(
    guard: Guard, container: Sized, name: str, arguments: Arguments, named: KeywordArguments
) -> None:
    """Charge a method of a list, a mapping or a set."""
    if name in _CONSTANT:
        guard.survey(
            tuple(argument for argument in arguments if isinstance(argument, tuple)), set()
        )
        guard.items(len(container) + 1 if len(container) >= guard.limits.items else 1)
    elif name in {"extend", "update", "insert", "fromkeys"}:
        added = sum(len(argument) for argument in arguments if isinstance(argument, Sized))
        guard.items(len(container) + added + len(named))
    elif name in {"items", "keys", "values", "copy", "clear", "reverse"}:
        guard.spend(1 + (len(container) >> 3))
    else:
        guard.survey((container, arguments), set())


def before_number_method(
    guard: Guard, name: str, arguments: Arguments, named: KeywordArguments
) -> None:
    """Charge a method of a number."""
    length = Call(guard, None, arguments, named).argument(0, "length", 1)
    if name == "to_bytes" and isinstance(length, int):
        guard.text(length)


# --- filters ------------------------------------------------------------------------------------


def _indent_size(call: Call) -> None:
    subject = call.subject
    width = call.argument(0, "width", 4)
    size = len(width) if isinstance(width, str) else width
    text = str(subject)
    if isinstance(size, int):
        call.guard.text(len(text) + (len(text.splitlines()) + 1) * max(size, 0))


def _wrap_size(call: Call) -> None:
    subject = call.subject
    width = call.argument(0, "width", _LINE)
    ending = call.argument(2, "wrapstring", "\n")
    text = str(subject)
    _short_size(call)
    if isinstance(width, int) and isinstance(ending, str):
        lines = len(text.splitlines()) + 1 + 2 * len(text) // max(width, 1)
        call.guard.text(len(text) + lines * len(ending))


def _batch_size(call: Call) -> None:
    count = call.argument(0, "linecount", 0)
    if isinstance(count, int) and call.argument(1, "fill_with", None) is not None:
        call.guard.items(count)


def _format_size(call: Call) -> None:
    before_percent(call.guard, str(call.subject), (*call.arguments, *call.named.values()))


def _dump_size(call: Call) -> None:
    indent = call.argument(0, "indent", 0)
    size = len(indent) if isinstance(indent, str) else indent
    if isinstance(size, int) and size > 0:
        call.guard.text(size * _indents(call.guard, call.subject, 1))


def _indents(guard: Guard, value: object, depth: int) -> int:
    """Return the number of indents of a value that is written with one item per line."""
    if depth > guard.limits.depth:
        raise nesting_too_deep("a list", guard.limits.depth)
    children = value.values() if isinstance(value, dict) else value
    if isinstance(children, str) or not isinstance(children, Iterable):
        return depth
    return depth + sum(_indents(guard, child, depth + 1) for child in children)


def _round_size(call: Call) -> None:
    digits = call.argument(0, "precision", 0)
    if isinstance(digits, int) and abs(digits) > _MAX_DIGITS:
        call.guard.digits(abs(digits) * 10 // 3)


def _sum_size(call: Call) -> None:
    subject = call.subject
    start = call.argument(1, "start", 0)
    if isinstance(start, Sized) and isinstance(subject, list | tuple):
        sizes = [len(item) for item in subject if isinstance(item, Sized)]
        call.guard.items(len(start) + sum(sizes))
        call.guard.spend(len(subject) * sum(sizes) >> 3)


def _short_size(call: Call) -> None:
    subject = call.subject
    size = len(str(subject))
    if size > _SLOW_TEXT:
        raise TemplateStopped(
            code="template.too-large",
            what="the text is too long for this filter",
            why=f"it has {size:,} characters, and the filter takes at most {_SLOW_TEXT:,}",
            fix="use the filter on a shorter text",
        )


def _separator_size(call: Call) -> None:
    subject = call.subject
    separator = call.argument(0, "d", "")
    if isinstance(subject, Sized) and isinstance(separator, str):
        call.guard.text(len(separator) * len(subject))


FILTERS: Mapping[str, SizeCheck] = {
    "batch": _batch_size,
    "center": _width_size,
    "format": _format_size,
    "indent": _indent_size,
    "join": _separator_size,
    "replace": _replace_size,
    "round": _round_size,
    "striptags": _short_size,
    "sum": _sum_size,
    "tojson": _dump_size,
    "urlize": _short_size,
    "wordwrap": _wrap_size,
}
