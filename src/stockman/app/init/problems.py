"""Problems that prevent starting a directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stockman.model.problem import Problem, Severity


def in_one_line(problem: Problem) -> str:
    """Return a problem on one line, for prompts."""
    return f"{problem.what}: {problem.why}; {problem.fix}"


def other_dialect(directory: Path, existing: str, requested: str) -> Problem:
    return Problem(
        code="init.other-dialect",
        what=f"files of the {existing} dialect are here already",
        where=str(directory),
        why=f"adding files of the {requested} dialect would describe the cluster twice",
        fix=f"leave `--dialect` out, or make them {requested} with `stockman convert`",
    )


def gitignore_is_link(path: Path) -> Problem:
    return Problem(
        code="init.gitignore-link",
        what=".gitignore is a link",
        where=str(path),
        why="git does not follow it, so nothing would keep secrets out of commits",
        fix="put a file of its own in its place, then run `stockman init` again",
    )


def unwritable(path: str, reason: str) -> Problem:
    return Problem(
        code="init.unwritable",
        what="a file cannot be written",
        where=path,
        why=f"the system says: {reason}",
        fix="make room and give yourself the right to write there; a second run goes on from here",
    )


def git_ignores_file(name: str) -> Problem:
    return Problem(
        code="init.ignored",
        what=f"git ignores {name}",
        where=name,
        why="pull requests and Renovate can only change files that git knows",
        fix=f"remove the line that ignores {name} from .gitignore",
        severity=Severity.WARNING,
    )


def missing_from_gitignore(name: str) -> Problem:
    return Problem(
        code="init.not-ignored",
        what=f"git does not ignore {name}",
        where=name,
        why="a line further down, or below this directory's .gitignore, takes the file back in",
        fix=f"remove the line with `!` that names {name}, before the next commit",
        severity=Severity.WARNING,
    )


def git_tracks_file(name: str) -> Problem:
    return Problem(
        code="init.tracked-secret",
        what=f"git keeps {name}, which is a secret",
        where=name,
        why="every clone of the repository has it, and the next commit would take a new one",
        fix=f"run `git rm --cached {name}`, commit that, and make the secret anew",
        severity=Severity.WARNING,
    )


def incomplete_key(private: str, public: str) -> Problem:
    return Problem(
        code="init.half-key",
        what=f"{public} stands without {private}",
        where=public,
        why="a new private key would not fit the public key that is there",
        fix=f"put {private} back beside it, or delete {public} to get a new pair",
        severity=Severity.WARNING,
    )


def unknown_key(private: str, public: str) -> Problem:
    return Problem(
        code="init.unknown-key",
        what=f"{public} cannot be made",
        where=private,
        why=f"{private} is no Ed25519 key as OpenSSH writes it",
        fix=f"run `ssh-keygen -y -f {private} > {public}`, or delete {private} to get a new pair",
        severity=Severity.WARNING,
    )


def not_a_file(name: str, path: Path) -> Problem:
    kind = "a link that leads nowhere" if path.is_symlink() else "not a file"
    return Problem(
        code="init.not-a-file",
        what=f"{name} is {kind}",
        where=name,
        why="it was left as it is, so that what should be in it is missing",
        fix=f"remove {name}, then run `stockman init` again",
        severity=Severity.WARNING,
    )


def not_together(kept: Sequence[str], written: Sequence[str]) -> Problem:
    return Problem(
        code="init.not-together",
        what=f"{' and '.join(kept)} does not fit the new {' and '.join(written)}",
        where=kept[0],
        why="the file that was here describes another cluster than the preset",
        fix="run `stockman validate` and correct what it shows, or start in an empty directory",
        severity=Severity.WARNING,
    )


def no_identity(name: str, why: str) -> Problem:
    return Problem(
        code="init.no-identity",
        what=f"nothing can be encrypted: {name} holds no identity",
        where=name,
        why=f"{why}; what is encrypted for another key could not be opened here",
        fix=f"put your {name} in its place, then run `stockman init` again",
        severity=Severity.WARNING,
    )


def other_recipients(name: str) -> Problem:
    return Problem(
        code="init.other-recipients",
        what=f"{name} was not made",
        where=".sops.yaml",
        why="its rule names other recipients than age.key, which could not open the file",
        fix="put the age.key that the rules are for in its place, or add the public key of this"
        " one to the rules; then run `stockman init` again",
        severity=Severity.WARNING,
    )


def no_bundle(name: str, reason: Problem) -> Problem:
    return Problem(
        code="init.no-bundle",
        what=f"{name} was not made",
        where=reason.where or name,
        why=f"{reason.what}: {reason.why}",
        fix=reason.fix,
        severity=Severity.WARNING,
    )
