"""Turn exceptions of templates into problems with file and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType

from jinja2 import (
    Template,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)

from stockman.config.nearest import nearest_name
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.guard import nesting_too_deep
from stockman.rendering.templates.tree import TemplateFile, TemplateTree

_UNDEFINED_NAME = pattern(r"^'([A-Za-z_]\w*)' is undefined")
_UNKNOWN = pattern(r"^No (filter|test) named '([^']+)'")
_OWN_TYPE = pattern(r"stockman\.[\w.]+\.Revealed\w* object")
_LONGEST = 200
_WINDOW = 8
"""Number of consecutive characters that reveal a secret."""
_SHORTEST = 4


class ProblemBuilder:
    """Builds problems that never contain a secret."""

    def __init__(
        self, tree: TemplateTree, names: Iterable[str], secrets: Iterable[Mapping[str, Secret]]
    ) -> None:
        self._tree = tree
        self._names = tuple(names)
        self._secrets = tuple(secrets)
        self._labels = {file.label: file for files in tree.inputs for file in files.values()}

    def problem(self, error: Exception, file: TemplateFile) -> Problem:
        """Return the problem of an exception that ended the rendering of a file."""
        if isinstance(error, TemplateSyntaxError):
            where = self._at(error.filename or file.label, error.lineno)
            return self._of_syntax(error).at(where)
        return self._of_run(error, file).at(self._position(error, file))

    def _of_run(self, error: Exception, file: TemplateFile) -> TemplateStopped:
        match error:
            case TemplateStopped():
                return error
            case RecursionError():
                return nesting_too_deep("the template", 100)
            case TemplateNotFound():
                return self._not_found(error, file)
            case UndefinedError():
                return self._undefined_name_problem(error.message or "")
            case TemplateRuntimeError():
                unknown = _UNKNOWN.match(error.message or "")
                if unknown is not None:
                    return _unknown_filter(unknown[1], unknown[2])
        return TemplateStopped(
            code="template.expression",
            what="an expression of the template cannot be evaluated",
            why=f"{type(error).__name__}: {self._redact(str(error))}",
            fix="correct the expression in this line",
        )

    def _of_syntax(self, error: TemplateSyntaxError) -> TemplateStopped:
        message = error.message or ""
        unknown = _UNKNOWN.match(message)
        if unknown is not None:
            return _unknown_filter(unknown[1], unknown[2])
        return TemplateStopped(
            code="template.syntax",
            what="the template cannot be parsed",
            why=self._redact(message),
            fix="blocks are #% ... %#, values #{ ... }#, and comments #| ... #|",
        )

    def _not_found(self, error: TemplateNotFound, file: TemplateFile) -> TemplateStopped:
        names = getattr(error, "templates", None) or [error.name or str(error)]
        known = {path for files in self._tree.inputs for path in files} - {file.path}
        near = nearest_name(str(names[0]), sorted(known))
        shown = self._redact(", ".join(str(name) for name in names))
        root = self._tree.contract.root
        return TemplateStopped(
            code="template.include-missing",
            what=f"{shown} does not exist",
            why=f"neither {root}/overrides nor {root}/config contains this file"
            + (f"; did you mean {near}?" if near else ""),
            fix=f"use {near}" if near else "use the name of an existing file, with its suffix",
        )

    def _undefined_name_problem(self, message: str) -> TemplateStopped:
        match = _UNDEFINED_NAME.match(message)
        near = nearest_name(match[1], self._names) if match else None
        return TemplateStopped(
            code="template.undefined",
            what="the template uses an undefined name",
            why=self._redact(message) + (f"; did you mean {near}?" if near else ""),
            fix=f"use {near}" if near else "add the key, or use `default(...)`",
        )

    def _position(self, error: Exception, file: TemplateFile) -> Position:
        position: tuple[str, int] | None = None
        trace: TracebackType | None = error.__traceback__
        while trace is not None:
            template = trace.tb_frame.f_globals.get("__jinja_template__")
            if isinstance(template, Template):
                line = template.get_corresponding_lineno(trace.tb_lineno)
                position = (template.filename or file.label, line)
            trace = trace.tb_next
        return self._at(*(position or (file.label, 1)))

    def _at(self, label: str, line: int) -> Position:
        """Return a line and its first non-space character."""
        file = self._labels.get(label)
        text = b""
        if file is not None:
            lines = file.content.splitlines()
            text = lines[line - 1] if 0 < line <= len(lines) else b""
        return Position(label, line, len(text) - len(text.lstrip()) + 1)

    def _redact(self, message: str) -> str:
        shown = " ".join(_OWN_TYPE.sub("str object", message).split())
        lower = shown.lower()
        for secrets in self._secrets:
            for secret in secrets.values():
                text = secret.reveal().lower()
                windows = range(max(len(text) - _WINDOW, 0) + 1)
                if len(text) >= _SHORTEST and any(
                    text[at : at + _WINDOW] in lower for at in windows
                ):
                    return "the message contains part of a secret and is not shown"
        return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."


def _unknown_filter(kind: str, name: str) -> TemplateStopped:
    from jinja2.filters import FILTERS as OF_JINJA
    from jinja2.tests import TESTS

    from stockman.rendering.templates.functions import FILTERS

    known = (*OF_JINJA, *FILTERS) if kind == "filter" else tuple(TESTS)
    near = nearest_name(name, known)
    return TemplateStopped(
        code="template.unknown-filter",
        what=f"there is no {kind} {name}",
        why="templates have those of Jinja, and basename and nthhost in the classic dialect"
        + (f"; did you mean {near}?" if near else ""),
        fix=f"use {near}" if near and near != name else "use another one",
    )
