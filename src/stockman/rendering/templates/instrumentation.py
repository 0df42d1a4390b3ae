"""Instrument templates: every loop, macro and block is charged for its steps."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment, nodes
from jinja2.visitor import NodeTransformer

TICK = "stockman tick"
"""Filter that charges a section of a template; templates cannot use its name."""
WEIGH = "stockman weigh"
"""Filter that charges walking through its value."""
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
        if isinstance(node, nodes.Compare) and not _is_short(node):
            node.expr = _filter_call(node.expr, WEIGH)
            for operand in node.ops:
                operand.expr = _filter_call(operand.expr, WEIGH)
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
