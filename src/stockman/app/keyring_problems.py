"""What can be wrong with the places that age identities come from; never a key in the words."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.errors import Denied
from stockman.model.problem import Problem, Severity


def exposed(name: str, mode: int) -> Problem:
    return Problem(
        code="key.mode",
        what=f"others on this machine can open {name}",
        where=name,
        why=f"its mode is {mode:04o}, and whoever reads it can read every secret",
        fix="run `stockman secrets status --fix`, which sets the mode to 0600",
        severity=Severity.WARNING,
    )


def not_ours(name: str, mode: int) -> Problem:
    return Problem(
        code="key.owner",
        what=f"the mode of {name} was left as it is",
        where=name,
        why=f"others can open it (mode {mode:04o}), and it belongs to another user",
        fix="let its owner set the mode to 0600, or keep a copy of your own",
        severity=Severity.WARNING,
    )


def unusable(name: str, why: str) -> Problem:
    return Problem(
        code="key.source",
        what=f"no identity can be taken from {name}",
        where=name,
        why=why,
        fix="keep in it only lines that `age-keygen` wrote, and give yourself the right to read it",
        severity=Severity.WARNING,
    )


def silent_command(why: str) -> Problem:
    return Problem(
        code="key.command",
        what="the command of SOPS_AGE_KEY_CMD gave no identity",
        where="SOPS_AGE_KEY_CMD",
        why=why,
        fix="run it by hand with SOPS_AGE_RECIPIENT set; it has to print `AGE-SECRET-KEY-1...`",
        severity=Severity.WARNING,
    )


def none_at_hand(file: str, looked: Sequence[str], broken: Sequence[Problem]) -> Denied:
    """Nothing to open a file with."""
    reasons = "".join(f"; {problem.what}: {problem.why}" for problem in broken)
    return Denied(
        Problem(
            code="key.none",
            what=f"there is no age identity to open {file} with",
            where=file,
            why=f"none is in {', '.join(looked)}{reasons}",
            fix="put your age.key into this directory, or name it in SOPS_AGE_KEY_FILE",
        )
    )
