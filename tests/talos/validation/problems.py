"""Every problem of a machine configuration, made of the file that its page shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stockman.model.problem import Problem
from stockman.model.problems import problem_codes
from tests.model.page_files import shown
from tests.talos.validation.judge import Case, our_problems

NEWER = {
    "machine.bgp",
    "machine.container",
    "machine.control-plane-only",
    "machine.dependency",
    "machine.etc-file",
    "machine.etcd-encryption",
}
"""Problems of documents and rules that came with Talos 1.14; the others are shown with 1.13."""


def made(code: str) -> Problem:
    minor = "1.14" if code in NEWER else "1.13"
    (only,) = (
        problem for problem in our_problems(Case(shown(code)), minor) if problem.code == code
    )
    return only


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    code: partial(made, code) for code in problem_codes() if code.startswith("machine.")
}
