"""Decide which calls templates may make: methods of plain values, macros, contract functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from datetime import date, datetime, time
from types import BuiltinMethodType, FunctionType, GeneratorType, MethodType

from jinja2 import Undefined
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.utils import Cycler, Joiner, Namespace

from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.guard import VIEWS, Guard
from stockman.rendering.templates.instrumentation import CALL
from stockman.rendering.templates.result_size import (
    before_number_method,
    before_part_method,
    before_text_method,
)

_PARTS = (list, tuple, dict, set, frozenset, range, *VIEWS)
_TIMES = (date, datetime, time)


class MeteredMethod:
    """A string method that is charged before it runs."""

    def __init__(self, function: Callable[..., str]) -> None:
        self._function = function

    def __call__(self, *arguments: object, **named: object) -> str:
        return self._function(*arguments, **named)


_JINJA_CALLABLES = (Macro, LoopContext, BlockReference, Joiner, Undefined, MeteredMethod)
_METHODS_OF = (LoopContext, Cycler, Joiner)
_MUTATING_METHODS = frozenset(
    {
        "append",
        "add",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "insert",
        "intersection_update",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "symmetric_difference_update",
        "update",
    }
)


class Calls:
    """Checks and charges every call of a template."""

    def __init__(self, guard: Guard, functions: Mapping[str, Callable[..., object]]) -> None:
        self._guard = guard
        self._own = frozenset(functions.values())
        self._shared: dict[int, object] = {}

    def share(self, value: object) -> None:
        """Protect a value that all templates share from changes."""
        if isinstance(value, dict | list) and id(value) not in self._shared:
            self._shared[id(value)] = value
            for item in value.values() if isinstance(value, dict) else value:
                self.share(item)

    def would_change_shared(self, owner: object, name: str) -> bool:
        """Return whether a method would change a shared value."""
        return name in _MUTATING_METHODS and id(owner) in self._shared

    def before(
        self, called: object, arguments: tuple[object, ...], named: Mapping[str, object]
    ) -> None:
        """Charge a call, or stop a template that must not make it."""
        self._guard.spend(CALL + len(arguments) + len(named))
        if isinstance(called, _JINJA_CALLABLES):
            return
        owner = getattr(called, "__self__", None)
        if isinstance(called, BuiltinMethodType) or isinstance(owner, str):
            self._before_method(owner, getattr(called, "__name__", ""), arguments, named)
        elif called is dict:
            before_part_method(self._guard, {}, "update", arguments, named)
        elif not self._is_known(called, owner):
            raise not_callable(called)

    def _is_known(self, called: object, owner: object) -> bool:
        if isinstance(called, MethodType):
            return isinstance(owner, _METHODS_OF)
        if isinstance(called, FunctionType):
            return called in self._own
        return called is Namespace or called is Cycler or called is Joiner

    def _before_method(
        self, owner: object, name: str, arguments: tuple[object, ...], named: Mapping[str, object]
    ) -> None:
        for argument in (*arguments, *named.values()):
            if callable(argument) and not isinstance(argument, Undefined):
                raise not_callable(argument)
        if isinstance(owner, str | bytes):
            before_text_method(self._guard, owner, name, arguments, named)
        elif isinstance(owner, _PARTS) and isinstance(owner, Sized):
            before_part_method(self._guard, owner, name, arguments, named)
        elif isinstance(owner, int | float):
            before_number_method(self._guard, name, arguments, named)
        elif isinstance(owner, _TIMES):
            self._guard.text(
                sum(len(argument) for argument in arguments if isinstance(argument, str)) ** 2
            )
        else:
            raise not_callable(owner)

    def charge_iterator(self, value: object, labels: set[str] | None = None) -> object:
        """Return the value; a lazy iterator is charged for each item."""
        if isinstance(value, GeneratorType) and isinstance(value, Iterable):
            return self._guard.charge_items(value, labels)
        return value


def not_callable(called: object) -> TemplateStopped:
    """Return the problem of a forbidden call."""
    name = getattr(called, "__name__", "") or type(called).__name__
    return TemplateStopped(
        code="template.unsafe",
        what=f"the template calls {name}, which is not allowed",
        why=(
            "templates may call macros, methods of strings and lists, and the functions of "
            "the contract"
        ),
        fix="remove the call",
    )


def forbid_shared_change(name: str) -> TemplateStopped:
    """Return the problem of a change to a shared value."""
    return TemplateStopped(
        code="template.unsafe",
        what=f"{name} would change a value that other templates use",
        why="all templates share the configuration keys",
        fix=f"copy the value with `| list` or `dict(...)` first, and use {name} on the copy",
    )
