"""Load templates from a tree in memory, and compile each of them once."""

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
