"""Render a tree of templates in memory: all files and all problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import TracebackType

from jinja2 import (
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)

from stockman.config.gc_pause import pause_gc
from stockman.config.nearest import nearest_name
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.templates.contract import BLOCK, COMMENT, VARIABLE, Limits, TemplateStopped
from stockman.rendering.templates.environment import TemplateSandbox
from stockman.rendering.templates.functions import FILTERS, Functions
from stockman.rendering.templates.guard import Guard, RevealedSecret, nesting_too_deep
from stockman.rendering.templates.names import (
    TEMPLATE_VARIABLES,
    SecretValue,
    TemplateNames,
    environment_names,
)
from stockman.rendering.templates.secret_text import UnresolvedSecret, mark_secret
from stockman.rendering.templates.tree import TemplateFile, TemplateTree


@record
class RenderedTemplate:
    """One rendered file."""

    path: str
    """Path in the repository."""
    content: bytes | None = field(repr=False)
    """None: nothing. Other files with this path are not written either."""
    origin: str
    """The template or file it comes from."""
    mode: int
    """Permissions: those of the template."""
    reveals: tuple[RevealedSecret, ...] = ()
    """Secrets in the content, and where the template wrote them."""


@record
class RenderResult:
    """The result of rendering a tree."""

    files: Mapping[str, RenderedTemplate]
    """By path, sorted. Only files without errors."""
    problems: Problems
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    """Every secret that templates could use, by name: to search for in files."""


@record
class TemplateInputs:
    """All inputs of templates."""

    names: TemplateNames
    key_files: Mapping[str, Secret]
    """Contents of the files that functions read, by name."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables, of which templates can read some: `env`."""


def render_templates(
    tree: TemplateTree, sources: TemplateInputs, limits: Limits | None = None
) -> RenderResult:
    """Render all files of a tree. A template with an error results in a problem only."""
    with pause_gc():
        return _rendering(tree, sources, limits or Limits())


def _rendering(tree: TemplateTree, sources: TemplateInputs, limits: Limits) -> RenderResult:
    guard = Guard(limits)
    functions = Functions(tree.contract, tree, sources.key_files)
    by_name = functions.by_name()
    fenced = TemplateSandbox(tree, tree.contract, guard, by_name)
    for name in tree.contract.filters:
        fenced.add_filter(name, FILTERS[name])
    variables = environment_names(sources.environment)
    values = {name: _mark_secrets(value) for name, value in sources.names.values.items()}
    process = _Variables(
        {name: _mark_secrets(value) for name, value in variables.values.items()},
        hidden=frozenset(sources.environment) - variables.values.keys(),
    )
    fenced.calls.share([values, process])
    fenced.globals |= {"env": process, **by_name, **values}
    known = sources.names.secrets | variables.secrets
    problems = Problems()
    failures = ProblemBuilder(tree, fenced.globals, (known, functions.given))
    files: dict[str, RenderedTemplate] = {}
    for file in tree.files_to_render():
        if file.is_template:
            try:
                files[file.target] = _render_file(file, fenced)
            except (*FAILURES, TemplateStopped) as error:
                problems.add(failures.problem(error, file))
        else:
            files[file.target] = RenderedTemplate(
                path=file.target, content=file.content, origin=file.label, mode=file.mode
            )
    _check_targets(files, problems)
    return RenderResult(
        files=dict(sorted(files.items())),
        problems=problems,
        secrets=known | functions.given,
    )


class _Variables(dict[str, object]):
    """The environment variables for templates; stops a template that reads another one."""

    def __init__(self, values: Mapping[str, object], hidden: frozenset[str]) -> None:
        super().__init__(values)
        self._hidden = hidden

    def __missing__(self, name: str) -> object:
        if name in self._hidden:
            raise TemplateStopped(
                code="template.unsafe",
                what=f"the template reads the environment variable {name}, which is not allowed",
                why=f"templates can only read variables whose names begin with"
                f" {TEMPLATE_VARIABLES}; others may contain credentials",
                fix=f"set {TEMPLATE_VARIABLES}{name}, and use `env.{TEMPLATE_VARIABLES}{name}`",
            )
        raise KeyError(name)


FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TemplateError,
    TypeError,
    ValueError,
)
"""Exceptions that template expressions and Jinja's parser raise."""


def _render_file(file: TemplateFile, fenced: TemplateSandbox) -> RenderedTemplate:
    guard = fenced.guard
    guard.begin("" if is_sealed(file.target) else file.target)
    try:
        text = _text(file, fenced)
        return RenderedTemplate(
            path=file.target,
            content=text.encode() if text.strip() else None,
            origin=file.label,
            mode=file.mode,
            reveals=tuple(guard.reveals),
        )
    finally:
        guard.end()


def _text(file: TemplateFile, fenced: TemplateSandbox) -> str:
    guard = fenced.guard
    source = file.source(guard.limits)
    if not any(start in source for start, _ in (BLOCK, VARIABLE, COMMENT)):
        return source
    template = fenced.get_template(file.path)
    chunks: list[str] = []
    size = 0
    for chunk in template.root_render_func(template.new_context()):
        size += len(chunk)
        guard.text(size if size > guard.limits.text else 0)
        chunks.append(chunk)
    return "".join(chunks)


def _mark_secrets(value: object) -> object:
    """Return a value for templates: secrets as marked strings."""
    if isinstance(value, SecretValue):
        if value.value is None:
            return UnresolvedSecret(value.name)
        return mark_secret(value.value.reveal(), frozenset({value.name}))
    if isinstance(value, dict):
        return {key: _mark_secrets(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mark_secrets(item) for item in value]
    return value


def _check_targets(files: Mapping[str, RenderedTemplate], problems: Problems) -> None:
    for path, file in files.items():
        parent = path.rpartition("/")[0]
        while parent:
            if parent in files and files[parent].content is not None and file.content is not None:
                problems.error(
                    "template.path-taken",
                    f"{parent} would be both a file and a directory",
                    why=f"{files[parent].origin} renders the file, {file.origin} a file below it",
                    fix="rename one of them",
                    at=file.origin,
                )
            parent = parent.rpartition("/")[0]


_SEALED = pattern(r"[^/]+\.sops\.[^/]+$")


def is_sealed(path: str) -> bool:
    """Return whether the file is encrypted before it is written. `.sops.yaml` is not."""
    return _SEALED.search(path) is not None


def find_exposed_secrets(rendering: RenderResult) -> Problems:
    """Return a problem for each secret in a file that is not encrypted."""
    problems = Problems()
    for path, file in rendering.files.items():
        if file.content is None or is_sealed(path):
            continue
        reported: set[str] = set()
        for reveal in file.reveals:
            reported.add(reveal.name)
            problems.add(_problem(reveal.name, path, reveal.at))
        for name in sorted(secrets_in_file(file.content, rendering.secrets)):
            if name not in reported:
                problems.add(_problem(name, path, file.origin))
    return problems


def secrets_in_file(content: bytes, secrets: Mapping[str, Secret]) -> set[str]:
    """Return the names of secrets that a file contains, in any common encoding."""
    folded = content.lower()
    return {
        name
        for name, secret in secrets.items()
        if any(form.lower() in folded for form in secret_encodings(secret.reveal()))
    }


def _problem(name: str, path: str, where: Position | str) -> Problem:
    return Problem(
        code="template.secret-exposed",
        what=f"{name} would be readable in {path}",
        where=where,
        why="only files with .sops. before the suffix are encrypted",
        fix="move it to a *.sops.* file, and refer to that",
    )


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
