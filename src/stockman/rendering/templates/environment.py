"""The Jinja environment: set up like makejinja for cluster-template, as a metered sandbox."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from datetime import date, datetime, time
from functools import update_wrapper
from types import BuiltinMethodType, CodeType, FunctionType, GeneratorType, MethodType
from typing import cast

from jinja2 import (
    BaseLoader,
    ChainableUndefined,
    Environment,
    StrictUndefined,
    Template,
    TemplateNotFound,
    Undefined,
    nodes,
    pass_context,
    pass_eval_context,
)
from jinja2.environment import TemplateModule
from jinja2.nodes import EvalContext
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, markup_join, str_join
from jinja2.sandbox import SandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter
from jinja2.tests import TESTS
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from stockman.model.origin import Position
from stockman.rendering.templates.contract import (
    BLOCK,
    COMMENT,
    VARIABLE,
    Contract,
    TemplateStopped,
)
from stockman.rendering.templates.guard import VIEWS, Guard, RevealedSecret
from stockman.rendering.templates.result_size import (
    FILTERS,
    Call,
    before_field,
    before_number_method,
    before_operator,
    before_part_method,
    before_text_method,
)
from stockman.rendering.templates.secret_text import (
    UnresolvedSecret,
    mark_all_secrets,
    mark_secret,
    secret_labels,
)
from stockman.rendering.templates.tree import TemplateFile, TemplateTree

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
_PASSING_FILTERS = frozenset({"batch", "d", "default", "slice"})
"""Filters whose arguments can be part of the result."""
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
            USE: self._use,
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
            labels: set[str] = set()
            self.guard.survey(value, labels)
            self.guard.use(labels)
        return value

    def _use(self, value: object) -> object:
        self.guard.use(secret_labels(value))
        return value

    def _slice(self, value: object) -> object:
        self.guard.use(secret_labels(value))
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
            self.guard.use(labels)
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
        labels = {*secret_labels(obj), *secret_labels(argument)}
        if type(argument) is tuple:
            self.guard.survey(argument, labels)
        self.guard.use(labels)
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        before_operator(self.guard, operator, left, right)
        labels: set[str] = set()
        if isinstance(left, str) or isinstance(right, str):
            self.guard.survey((left, right), labels)
            self.guard.use(labels)
        result: object = self.binop_table[operator](left, right)
        return mark_secret(result, frozenset(labels)) if isinstance(result, str) else result

    def call(
        self, context: Context, called: object, /, *arguments: object, **named: object
    ) -> object:
        guard = self.guard
        self.calls.before(called, arguments, named)
        labels: set[str] = set()
        owner = getattr(called, "__self__", None)
        if isinstance(owner, str | bytes):
            guard.survey((owner, arguments, tuple(named.values())), labels)
            guard.use(labels)
        elif not _passes_arguments_on(called):
            used: set[str] = set()
            guard.survey((arguments, tuple(named.values())), used)
            guard.use(used)
        before = guard.depth
        guard.deeper(getattr(called, "name", None) or "the template")
        try:
            paid = (self.calls.charge_iterator(argument, labels) for argument in arguments)
            result: object = super().call(context, called, *paid, **named)
        finally:
            guard.depth = before
        guard.use(labels)
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
            self.guard.use(labels)
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
            elif name not in _PASSING_FILTERS:
                for value in (subject, *remaining, *named.values()):
                    labels.update(secret_labels(value))
            guard.use(labels)
            if not deep and isinstance(subject, list | tuple | dict | str):
                guard.spend(1 + (len(subject) >> 2))
            if isinstance(subject, GeneratorType):
                if deep and name not in _WALKING_FILTERS:
                    raise _not_text(subject)
                items = guard.charge_items(subject, labels if deep else None)
                subject = list(items) if deep else items
            if growth is not None:
                growth(Call(guard, subject, tuple(remaining), named))
            result = function(*arguments[:first], subject, *remaining, **named)
            result = self.calls.charge_iterator(result)
            guard.use(labels)
            if isinstance(result, str):
                guard.text(len(result))
                if deep:
                    return mark_secret(result, frozenset(labels))
            return result

        return update_wrapper(wrapper, function)

    def _test(self, function: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*arguments: object) -> object:
            labels: set[str] = set()
            self.guard.survey(arguments, labels)
            self.guard.use(labels)
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


class TreeLoader(BaseLoader):
    """Loads templates from a tree in memory; each is compiled once."""

    def __init__(self, tree: TemplateTree, guard: Guard) -> None:
        self._tree = tree
        self._guard = guard
        self._compiled: dict[str, CodeType] = {}

    def load(
        self,
        environment: Environment,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  # Jinja's name
    ) -> Template:
        file = self._tree.find_included(name)
        if file is None:
            raise TemplateNotFound(name)
        code = self._compiled.get(name)
        if code is None:
            code = _compile(file, name, environment, file.source(self._guard.limits))
            self._compiled[name] = code
        template = environment.template_class.from_code(environment, code, dict(globals or {}))
        template.root_render_func = self._limit_depth(name, template.root_render_func)
        return template

    def _limit_depth(
        self, name: str, render: Callable[[Context], Iterator[str]]
    ) -> Callable[[Context], Iterator[str]]:
        def render_nested(context: Context) -> Iterator[str]:
            before = self._guard.depth
            self._guard.deeper(name)
            self._guard.spend(CALL)
            try:
                yield from render(context)
            finally:
                self._guard.depth = before

        return render_nested


def _compile(file: TemplateFile, name: str, environment: Environment, source: str) -> CodeType:
    try:
        parsed = environment.parse(source, name, file.label)
        return environment.compile(instrument(parsed, environment), name, file.label)
    except (MemoryError, RecursionError, SyntaxError):
        raise TemplateStopped(
            code="template.syntax",
            what="the template is nested too deeply to be parsed",
            why="about 20 loops, or 100 brackets or operators, may be nested",
            fix="split it with macros or includes",
            where=file.label,
        ) from None


TICK = "stockman tick"
"""Filter that charges a section of a template; templates cannot use its name."""
WEIGH = "stockman weigh"
"""Filter that charges walking through its value."""
USE = "stockman use"
"""Filter that stops if its value is a secret that must not be used."""
SLICE = "stockman slice"
"""Filter that charges a slice of a string or list."""
JOIN = "stockman join"
"""Filter for `~`."""

CALL = 32
"""Steps charged for every call and include; shorter bodies need no charge of their own."""
_CHARACTERS = 6
_IN = frozenset({"in", "notin"})


def instrument(template: nodes.Template, environment: Environment) -> nodes.Template:
    """Return the instrumented template."""
    weaver = _Instrumenter()
    weaver.visit(template)
    template.set_environment(environment)
    return template


class _Instrumenter(NodeTransformer):
    def __init__(self) -> None:
        self._steps = 0

    def get_visitor(self, node: nodes.Node) -> Callable[[nodes.Node], nodes.Node] | None:
        self._steps += 1
        match node:
            case nodes.TemplateData():
                self._steps += len(node.data) >> _CHARACTERS
            case nodes.Template() | nodes.Block() | nodes.Macro() | nodes.CallBlock():
                return self._body
            case nodes.For():
                return self._loop
            case nodes.Compare():
                return self._comparison
            case nodes.Concat():
                return self._concatenation
            case nodes.Getitem(arg=nodes.Slice()):
                return self._slice
            case nodes.Pair():
                return self._pair
        return None

    def _body(self, node: nodes.Node) -> nodes.Node:
        steps = self._steps_inside(node)
        if steps > CALL and isinstance(
            node, nodes.Template | nodes.Block | nodes.Macro | nodes.CallBlock
        ):
            node.body.insert(0, nodes.ExprStmt(_tick(steps, node.lineno), lineno=node.lineno))
        return node

    def _loop(self, node: nodes.Node) -> nodes.Node:
        steps = self._steps_inside(node)
        if isinstance(node, nodes.For):
            tick = _tick(steps, node.lineno)
            if isinstance(node.iter, nodes.Expr):
                node.iter = _filter_call(node.iter, USE)
            if node.test is None:
                node.body.insert(0, nodes.ExprStmt(tick, lineno=node.lineno))
            else:
                node.test = nodes.And(tick, node.test, lineno=node.lineno)
        return node

    def _steps_inside(self, node: nodes.Node) -> int:
        """Return the steps of one pass through a node; nested loops are charged separately."""
        outside, self._steps = self._steps, 0
        self.generic_visit(node)
        inside, self._steps = self._steps, outside
        return inside

    def _comparison(self, node: nodes.Node) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node, nodes.Compare) and not _is_existence_test(node):
            name = USE if _is_short(node) else WEIGH
            node.expr = _filter_call(node.expr, name)
            for operand in node.ops:
                operand.expr = _filter_call(operand.expr, name)
        return node

    def _concatenation(self, node: nodes.Node) -> nodes.Node:
        self.generic_visit(node)
        # Jinja joins constants at compile time and loses their mark as safe HTML.
        if isinstance(node, nodes.Concat) and not all(map(_is_constant, node.nodes)):
            return _filter_call(nodes.List(node.nodes, lineno=node.lineno), JOIN)
        return node

    def _slice(self, node: nodes.Node) -> nodes.Node:
        self.generic_visit(node)
        return _filter_call(node, SLICE) if isinstance(node, nodes.Expr) else node

    def _pair(self, node: nodes.Node) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node, nodes.Pair):
            node.key = _filter_call(node.key, WEIGH)
        return node


def _is_short(node: nodes.Compare) -> bool:
    """Return whether a comparison is cheap because one side is a scalar."""
    (first, *more) = node.ops
    single = isinstance(node.expr, nodes.Const) or isinstance(first.expr, nodes.Const)
    return single and not more and first.op not in _IN


def _is_existence_test(node: nodes.Compare) -> bool:
    """Return whether a comparison with an empty text only tests whether a value is set."""
    (first, *more) = node.ops
    is_empty = isinstance(first.expr, nodes.Const) and first.expr.value == ""
    return is_empty and not more and first.op in ("eq", "ne")


def _is_constant(node: nodes.Node) -> bool:
    of_constants = isinstance(node, nodes.Literal | nodes.Filter | nodes.Keyword)
    return of_constants and all(map(_is_constant, node.iter_child_nodes()))


def _filter_call(node: nodes.Expr, name: str) -> nodes.Expr:
    if isinstance(node, nodes.Const):
        return node
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _tick(cost: int, line: int) -> nodes.Filter:
    number = nodes.Const(cost, lineno=line)
    return nodes.Filter(number, TICK, [], [], None, None, lineno=line)


_STORING_METHODS = frozenset({"append", "extend", "insert"})


def _passes_arguments_on(called: object) -> bool:
    """Return whether a call does nothing with its arguments that a template could see."""
    if isinstance(called, BuiltinMethodType):
        return called.__name__ in _STORING_METHODS
    return isinstance(called, Macro) or called in (Namespace, Cycler, Joiner, dict)


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
        *("append", "add", "clear", "difference_update", "discard", "extend", "insert"),
        *("intersection_update", "pop", "popitem", "remove", "reverse", "setdefault", "sort"),
        *("symmetric_difference_update", "update"),
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
