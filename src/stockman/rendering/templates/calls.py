"""What templates may call: methods of plain values, macros, and the functions of the contract."""

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
    """A method that makes a text, and pays for itself."""

    def __init__(self, function: Callable[..., str]) -> None:
        self._function = function

    def __call__(self, *given: object, **named: object) -> str:
        return self._function(*given, **named)


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
    """Decides on every call of a template, and pays for it."""

    def __init__(self, guard: Guard, functions: Mapping[str, Callable[..., object]]) -> None:
        self._guard = guard
        self._own = frozenset(functions.values())
        self._shared: dict[int, object] = {}

    def share(self, value: object) -> None:
        """Keep a value from being changed by templates: all of them see the same one."""
        if isinstance(value, dict | list) and id(value) not in self._shared:
            self._shared[id(value)] = value
            for part in value.values() if isinstance(value, dict) else value:
                self.share(part)

    def changes_shared(self, owner: object, name: str) -> bool:
        """Whether a method would change what all templates see."""
        return name in _MUTATING_METHODS and id(owner) in self._shared

    def before(
        self, called: object, arguments: tuple[object, ...], named: Mapping[str, object]
    ) -> None:
        """Pay for a call, or stop the template that must not make it."""
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
        for one in (*arguments, *named.values()):
            if callable(one) and not isinstance(one, Undefined):
                raise not_callable(one)
        if isinstance(owner, str | bytes):
            before_text_method(self._guard, owner, name, arguments, named)
        elif isinstance(owner, _PARTS) and isinstance(owner, Sized):
            before_part_method(self._guard, owner, name, arguments, named)
        elif isinstance(owner, int | float):
            before_number_method(self._guard, name, arguments, named)
        elif isinstance(owner, _TIMES):
            self._guard.text(sum(len(one) for one in arguments if isinstance(one, str)) ** 2)
        else:
            raise not_callable(owner)

    def paid(self, value: object, labels: set[str] | None = None) -> object:
        """The same value; one that makes its items only when they are asked for pays for each."""
        if isinstance(value, GeneratorType) and isinstance(value, Iterable):
            return self._guard.counted(value, labels)
        return value


def not_callable(called: object) -> TemplateStopped:
    """What is said of a call that templates must not make."""
    name = getattr(called, "__name__", "") or type(called).__name__
    return TemplateStopped(
        code="template.unsafe",
        what=f"the template must not call {name}",
        why="templates call macros, methods of texts and lists, and the functions of the contract",
        fix="remove the call",
    )


def shared_change_problem(name: str) -> TemplateStopped:
    """What is said of a change to what all templates see."""
    return TemplateStopped(
        code="template.unsafe",
        what=f"{name} would change what other templates see",
        why="the keys of the configuration are the same for all templates, in any order",
        fix=f"make a copy with `| list` or `dict(...)` first, and use {name} on that",
    )
