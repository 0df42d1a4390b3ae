"""Finds templates in a tree that is in memory, and compiles each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType

from jinja2 import BaseLoader, Environment, Template, TemplateNotFound
from jinja2.runtime import Context

from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.guard import Guard
from stockman.rendering.templates.instrumentation import CALL, instrument
from stockman.rendering.templates.tree import TemplateFile, TemplateTree


class TreeLoader(BaseLoader):
    """Finds templates in a tree that is in memory; each is compiled once."""

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
        file = self._tree.included(name)
        if file is None:
            raise TemplateNotFound(name)
        code = self._compiled.get(name)
        if code is None:
            code = _compile(file, name, environment, file.source(self._guard.limits))
            self._compiled[name] = code
        made = environment.template_class.from_code(environment, code, dict(globals or {}))
        made.root_render_func = self._nested(name, made.root_render_func)
        return made

    def _nested(
        self, name: str, render: Callable[[Context], Iterator[str]]
    ) -> Callable[[Context], Iterator[str]]:
        def nested(context: Context) -> Iterator[str]:
            before = self._guard.depth
            self._guard.deeper(name)
            self._guard.spend(CALL)
            try:
                yield from render(context)
            finally:
                self._guard.depth = before

        return nested


def _compile(file: TemplateFile, name: str, environment: Environment, source: str) -> CodeType:
    try:
        parsed = environment.parse(source, name, file.label)
        return environment.compile(instrument(parsed, environment), name, file.label)
    except (MemoryError, RecursionError, SyntaxError):
        raise TemplateStopped(
            code="template.syntax",
            what="the template is nested too deep to be read",
            why="about twenty loops, and a hundred brackets or operators, go inside each other",
            fix="split it with macros or includes",
            where=file.label,
        ) from None
