"""Render a tree of templates in memory: all files and all problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from jinja2 import TemplateError

from stockman.config.gc_pause import pause_gc
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.templates.contract import BLOCK, COMMENT, VARIABLE, Limits
from stockman.rendering.templates.environment import TemplateSandbox
from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.functions import FILTERS, Functions
from stockman.rendering.templates.guard import Guard, RevealedSecret
from stockman.rendering.templates.names import SecretValue, TemplateNames, environment_names
from stockman.rendering.templates.problems import ProblemBuilder
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
    """Environment variables: `env` in templates."""


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
    process = {name: _mark_secrets(value) for name, value in variables.values.items()}
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
    guard.begin()
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
