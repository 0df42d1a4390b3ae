"""The Jinja environment: set up like makejinja for cluster-template, as a metered sandbox."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from functools import update_wrapper
from types import GeneratorType
from typing import cast

from jinja2 import (
    ChainableUndefined,
    StrictUndefined,
    Template,
    Undefined,
    pass_context,
    pass_eval_context,
)
from jinja2.environment import TemplateModule
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, markup_join, str_join
from jinja2.sandbox import SandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter
from jinja2.tests import TESTS
from markupsafe import Markup

from stockman.model.origin import Position
from stockman.rendering.templates.calls import Calls, MeteredMethod, forbid_shared_change
from stockman.rendering.templates.contract import BLOCK, COMMENT, VARIABLE, Contract
from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.guard import VIEWS, Guard, RevealedSecret
from stockman.rendering.templates.instrumentation import JOIN, SLICE, TICK, WEIGH
from stockman.rendering.templates.loader import TreeLoader
from stockman.rendering.templates.result_size import FILTERS, before_field, before_operator
from stockman.rendering.templates.secret_text import (
    UnresolvedSecret,
    mark_all_secrets,
    mark_secret,
    secret_labels,
)
from stockman.rendering.templates.tree import TemplateTree

_PASS_ARGUMENT = "jinja_pass_arg"
_PRINTABLE = (int, float, bytes, date, datetime, time, range, TemplateModule, Undefined, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset, *VIEWS)
_PLAIN = frozenset({str, int, bool, float, type(None)})

_SHALLOW_FILTERS = frozenset(
    {
        *("attr", "batch", "count", "d", "default", "first", "items", "last", "length", "list"),
        *("map", "reject", "rejectattr", "reverse", "select", "selectattr", "slice"),
    }
)
"""Filters that return the items of a list without looking into them."""
_WALKING_FILTERS = frozenset({"groupby", "join", "max", "min", "sort", "sum", "unique"})
"""Other filters that accept lazy iterators."""
_DEEP_TESTS = frozenset(
    {
        *("!=", "<", "<=", "==", ">", ">=", "divisibleby", "eq", "equalto", "ge", "greaterthan"),
        *("gt", "in", "le", "lessthan", "lower", "lt", "ne", "upper"),
    }
)
"""Tests that look into their values."""
_NOT_REPEATABLE = "random"


class TemplateSandbox(SandboxedEnvironment):
    """Renders one tree; every operation is charged, and secrets are tracked."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(
        self,
        tree: TemplateTree,
        contract: Contract,
        guard: Guard,
        functions: Mapping[str, Callable[..., object]],
    ) -> None:
        super().__init__(
            block_start_string=BLOCK[0],
            block_end_string=BLOCK[1],
            variable_start_string=VARIABLE[0],
            variable_end_string=VARIABLE[1],
            comment_start_string=COMMENT[0],
            comment_end_string=COMMENT[1],
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            undefined=StrictUndefined if contract.strict else ChainableUndefined,
            finalize=self._print_value,
            loader=TreeLoader(tree, guard),
            cache_size=0,
            auto_reload=False,
        )
        self.guard = guard
        self._bounded_range = _range(guard)
        self.calls = Calls(guard, {**functions, "range": self._bounded_range, "": _lipsum})
        self.globals["range"] = self._bounded_range
        self.globals["lipsum"] = _lipsum
        for name, function in self.filters.items():
            self.filters[name] = self._filter(name, function)
        self.tests |= {
            name: self._test(cast("Callable[..., object]", TESTS[name])) for name in _DEEP_TESTS
        }
        self.filters[_NOT_REPEATABLE] = _random
        self.filters |= {
            TICK: self._tick,
            WEIGH: self._weigh,
            SLICE: self._slice,
            JOIN: self._join,
        }

    def add_filter(self, name: str, function: Callable[..., object]) -> None:
        """Add a filter for templates."""
        self.filters[name] = self._filter(name, function)

    # --- called by instrumented templates ----------------------------------------------------

    @property
    def _tick(self) -> Callable[[Context, int], bool]:
        guard = self.guard

        @pass_context
        def tick(context: Context, steps: int) -> bool:
            guard.spend(steps)
            return True

        return tick

    def _weigh(self, value: object) -> object:
        if type(value) not in _PLAIN or type(value) is str:
            self.guard.survey(value, set())
        return value

    def _slice(self, value: object) -> object:
        if isinstance(value, str | bytes):
            self.guard.text(len(value))
        elif isinstance(value, list | tuple):
            self.guard.spend(1 + (len(value) >> 3))
        return value

    @property
    def _join(self) -> Callable[[EvalContext, list[object]], str]:
        @pass_eval_context
        def join(eval_context: EvalContext, items: list[object]) -> str:
            labels: set[str] = set()
            self.guard.survey(items, labels)
            self.guard.text(sum(len(item) for item in items if isinstance(item, str)))
            join = markup_join if eval_context.autoescape else str_join
            return mark_secret(join(items), frozenset(labels))

        return join

    # --- called by Jinja ----------------------------------------------------------------------

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if self.calls.would_change_shared(obj, attr):
            raise forbid_shared_change(attr)
        return super().is_safe_attribute(obj, attr, value)

    def unsafe_undefined(self, obj: object, attribute: str) -> Undefined:
        raise TemplateStopped(
            code="template.unsafe",
            what=f"the template uses {attribute}, which is not allowed",
            why=f"it gives access from {type(obj).__name__} to internals of the program",
            fix="remove it",
        )

    def getitem(self, obj: object, argument: object) -> object:
        if type(argument) is tuple:
            self.guard.survey(argument, set())
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        before_operator(self.guard, operator, left, right)
        result: object = self.binop_table[operator](left, right)
        if isinstance(result, str):
            labels: set[str] = set()
            self.guard.survey((left, right), labels)
            return mark_secret(result, frozenset(labels))
        return result

    def call(
        self, context: Context, called: object, /, *arguments: object, **named: object
    ) -> object:
        guard = self.guard
        self.calls.before(called, arguments, named)
        labels: set[str] = set()
        owner = getattr(called, "__self__", None)
        if isinstance(owner, str | bytes):
            guard.survey((owner, arguments, tuple(named.values())), labels)
        before = guard.depth
        guard.deeper(getattr(called, "name", None) or "the template")
        try:
            paid = (self.calls.charge_iterator(argument, labels) for argument in arguments)
            result: object = super().call(context, called, *paid, **named)
        finally:
            guard.depth = before
        if isinstance(result, str):
            guard.text(len(result))
        if labels and isinstance(result, bytes):
            raise TemplateStopped(
                code="template.unsafe",
                what="the template converts a secret to bytes, which is not allowed",
                why="secrets cannot be tracked in bytes",
                fix="remove the call",
            )
        return mark_all_secrets(result, frozenset(labels))

    def wrap_str_format(self, value: object) -> MeteredMethod | None:
        owner = getattr(value, "__self__", None)
        if super().wrap_str_format(value) is None or not isinstance(owner, str):
            return None
        by_map = getattr(value, "__name__", "") == "format_map"
        formatter = (
            _EscapeFormatter(self, escape=owner.escape)
            if isinstance(owner, Markup)
            else _Formatter(self)
        )

        def wrapper(*arguments: object, **named: object) -> str:
            labels: set[str] = set()
            self.guard.survey((owner, arguments, tuple(named.values())), labels)
            if by_map:
                (only,) = arguments
                fields = only if isinstance(only, Mapping) else {}
                text = formatter.vformat(owner, (), fields)
            else:
                text = formatter.vformat(owner, arguments, named)
            self.guard.text(len(text))
            kind = Markup if isinstance(owner, Markup) else str
            return mark_secret(kind(text), frozenset(labels))

        return MeteredMethod(wrapper)

    # --- filters, tests, output ---------------------------------------------------------------

    def _filter(self, name: str, function: Callable[..., object]) -> Callable[..., object]:
        first = 1 if hasattr(function, _PASS_ARGUMENT) else 0
        growth = FILTERS.get(name)
        deep = name not in _SHALLOW_FILTERS
        guard = self.guard

        def wrapper(*arguments: object, **named: object) -> object:
            subject, *remaining = arguments[first:]
            labels: set[str] = set()
            if deep:
                guard.survey((subject, remaining, tuple(named.values())), labels)
            elif isinstance(subject, list | tuple | dict | str):
                guard.spend(1 + (len(subject) >> 2))
            if isinstance(subject, GeneratorType):
                if deep and name not in _WALKING_FILTERS:
                    raise _not_text(subject)
                items = guard.charge_items(subject, labels if deep else None)
                subject = list(items) if deep else items
            if growth is not None:
                growth(guard, subject, tuple(remaining), named)
            result = function(*arguments[:first], subject, *remaining, **named)
            result = self.calls.charge_iterator(result)
            if isinstance(result, str):
                guard.text(len(result))
                if deep:
                    return mark_secret(result, frozenset(labels))
            return result

        return update_wrapper(wrapper, function)

    def _test(self, function: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*arguments: object) -> object:
            self.guard.survey(arguments, set())
            return function(*arguments)

        return update_wrapper(wrapper, function)

    def _print_value(self, value: object) -> object:
        guard = self.guard
        if type(value) is str:
            guard.spend(1 + (len(value) >> 6))
            return value
        if isinstance(value, str):
            guard.spend(1 + (len(value) >> 6))
            self._reveal(secret_labels(value))
            return value
        if isinstance(value, _CONTAINERS):
            labels: set[str] = set()
            guard.survey(value, labels)
            self._reveal(frozenset(labels))
            return value
        if isinstance(value, _PRINTABLE):
            return value
        if isinstance(value, UnresolvedSecret):
            raise value.stop_problem()
        raise _not_text(value)

    def _reveal(self, labels: frozenset[str]) -> None:
        if labels:
            at = _caller_line()
            for label in sorted(labels):
                self.guard.reveals[RevealedSecret(name=label, at=at)] = None


class _Formatter(SandboxedFormatter):
    def __init__(self, environment: TemplateSandbox) -> None:
        super().__init__(environment)
        self._guard = environment.guard

    def format_field(self, value: object, format_spec: str) -> str:
        before_field(self._guard, value, format_spec)
        return str(super().format_field(value, format_spec))


class _EscapeFormatter(SandboxedEscapeFormatter):
    def __init__(self, environment: TemplateSandbox, escape: Callable[[object], Markup]) -> None:
        super().__init__(environment, escape=escape)
        self._guard = environment.guard

    def format_field(self, value: object, format_spec: str) -> str:
        before_field(self._guard, value, format_spec)
        return str(super().format_field(value, format_spec))


def _range(guard: Guard) -> Callable[..., range]:
    def bounded_range(*bounds: int) -> range:
        result = range(*bounds)
        try:
            guard.items(len(result))
        except OverflowError:
            guard.items(sys.maxsize)
        return result

    bounded_range.__name__ = "range"
    return bounded_range


def _not_text(value: object) -> TemplateStopped:
    return TemplateStopped(
        code="template.not-text",
        what=f"the template prints a {type(value).__name__}",
        why="the value is not text, and its representation changes with every run",
        fix="add `| list` or `| join(...)` to the result of a filter; call a macro with `()`",
    )


def _random(*arguments: object, **named: object) -> object:
    raise TemplateStopped(
        code="template.random",
        what="the template uses random values",
        why=(
            "`random` and `lipsum` return something else in every run, so every render would differ"
        ),
        fix="select an item by its index, or write the text",
    )


def _lipsum(*arguments: object, **named: object) -> object:
    return _random()


def _caller_line() -> Position:
    """Return the line of the template that is being rendered."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        template = frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            line = template.get_corresponding_lineno(frame.f_lineno)
            return Position(template.filename or template.name or "", line, 1)
    return Position("", 0, 0)
