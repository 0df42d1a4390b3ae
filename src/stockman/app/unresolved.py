"""Why a reference to a secret leads nowhere, and what would help; never a value in the words."""

from __future__ import annotations

from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Reason:
    """Why, and what to do about it."""

    why: str
    fix: str


def variable(name: str, *, is_set: bool) -> Reason:
    return Reason(
        why="the variable is empty" if is_set else "the variable is not set",
        fix=f"run the command with {name} set, for example from your password manager",
    )


def file(name: str, why: str) -> Reason:
    return Reason(why=f"{name}: {why}", fix=f"write the secret into {name}, for you alone to read")


def path(text: str, why: str) -> Reason:
    return Reason(
        why=f"{text}: {why}",
        fix="list the paths of the file with `stockman secrets get -o name` and correct the one"
        " behind the `#`",
    )


def because(problem: Problem) -> Reason:
    """The problem that stands in the way."""
    return Reason(why=f"{problem.what}: {problem.why}", fix=problem.fix)


def stray(name: str) -> Reason:
    return Reason(
        why=f"{name} holds this ciphertext at a place where SOPS did not encrypt it",
        fix="write the secret with `stockman secrets set`, which encrypts it where it stands",
    )


def nowhere() -> Reason:
    return Reason(why="it is not known where it was written", fix="write it at the key itself")
