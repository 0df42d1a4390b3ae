"""Every problem of templates, made by the template that its page shows."""

from collections.abc import Callable
from functools import partial

from stockman.model.problem import Problem
from stockman.rendering.templates.contract import CLASSIC, TOML, Contract, forbidden_path_reason
from stockman.rendering.templates.render import find_exposed_secrets
from tests.model.page_files import shown
from tests.rendering.templates.trees import problem_of, rendering_of

_STRICT = ("template.undefined",)
_SHOWN = (
    "template.expression",
    "template.include-missing",
    "template.key-file",
    "template.not-text",
    "template.outside-root",
    "template.random",
    "template.secret-used",
    "template.secret-withheld",
    "template.syntax",
    "template.too-deep",
    "template.too-large",
    "template.too-much-work",
    "template.undefined",
    "template.unknown-filter",
    "template.unsafe",
)


def _made(code: str) -> Problem:
    contract: Contract = TOML if code in _STRICT else CLASSIC
    return problem_of(shown(code), contract)


def _exposed() -> Problem:
    (problem,) = find_exposed_secrets(
        rendering_of({"app.yaml.j2": shown("template.secret-exposed")})
    )
    return problem


def _taken() -> Problem:
    (problem,) = rendering_of({"app.j2": "a: 1\n", "app/values.yaml": "b: 2\n"}).problems
    return problem


def _reserved() -> Problem:
    path = ".git/hooks/pre-commit"
    problem = forbidden_path_reason(path, f"templates/config/{path}")
    assert problem is not None
    return problem


def _unreadable() -> Problem:
    return problem_of(f"{'#{ domain }#' * 6000}\n")


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    **{code: partial(_made, code) for code in _SHOWN},
    "template.path-taken": _taken,
    "template.reserved": _reserved,
    "template.secret-exposed": _exposed,
    "template.unreadable": _unreadable,
}
