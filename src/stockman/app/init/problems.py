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
        what=f"the directory already has files of the {existing} dialect",
        where=str(directory),
        why=f"adding files of the {requested} dialect would describe the cluster twice",
        fix=f"omit `--dialect`, or convert them to {requested} with `stockman convert`",
    )


def gitignore_is_link(path: Path) -> Problem:
    return Problem(
        code="init.gitignore-link",
        what=".gitignore is a link",
        where=str(path),
        why="git does not follow it, so secrets could be committed",
        fix="replace it with a file, then run `stockman init` again",
    )


def unwritable(path: str, reason: str) -> Problem:
    return Problem(
        code="init.unwritable",
        what="a file cannot be written",
        where=path,
        why=f"the system says: {reason}",
        fix="free space and check the permissions, then run it again to continue",
    )


def git_ignores_file(name: str) -> Problem:
    return Problem(
        code="init.ignored",
        what=f"git ignores {name}",
        where=name,
        why="pull requests and Renovate can only change tracked files",
        fix=f"remove the line that ignores {name} from .gitignore",
        severity=Severity.WARNING,
    )


def missing_from_gitignore(name: str) -> Problem:
    return Problem(
        code="init.not-ignored",
        what=f"git does not ignore {name}",
        where=name,
        why="a later line, or another .gitignore, includes the file again",
        fix=f"remove the line with `!` that names {name}, before the next commit",
        severity=Severity.WARNING,
    )


def git_tracks_file(name: str) -> Problem:
    return Problem(
        code="init.tracked-secret",
        what=f"git tracks {name}, which is secret",
        where=name,
        why="every clone of the repository contains it, and the next commit would too",
        fix=f"run `git rm --cached {name}`, commit that, and replace the secret",
        severity=Severity.WARNING,
    )


def incomplete_key(private: str, public: str) -> Problem:
    return Problem(
        code="init.half-key",
        what=f"{public} exists without {private}",
        where=public,
        why="a new private key would not match the existing public key",
        fix=f"restore {private}, or delete {public} to get a new pair",
        severity=Severity.WARNING,
    )


def unknown_key(private: str, public: str) -> Problem:
    return Problem(
        code="init.unknown-key",
        what=f"{public} cannot be created",
        where=private,
        why=f"{private} is not an OpenSSH Ed25519 key",
        fix=f"run `ssh-keygen -y -f {private} > {public}`, or delete {private} to get a new pair",
        severity=Severity.WARNING,
    )


def not_a_file(name: str, path: Path) -> Problem:
    kind = "a broken link" if path.is_symlink() else "not a file"
    return Problem(
        code="init.not-a-file",
        what=f"{name} is {kind}",
        where=name,
        why="it was not changed, so its content is missing",
        fix=f"remove {name}, then run `stockman init` again",
        severity=Severity.WARNING,
    )


def not_together(kept: Sequence[str], written: Sequence[str]) -> Problem:
    return Problem(
        code="init.not-together",
        what=f"{' and '.join(kept)} does not fit the new {' and '.join(written)}",
        where=kept[0],
        why="the existing file describes another cluster than the preset",
        fix="run `stockman validate` and correct what it shows, or start in an empty directory",
        severity=Severity.WARNING,
    )


def no_identity(name: str, why: str) -> Problem:
    return Problem(
        code="init.no-identity",
        what=f"nothing can be encrypted: {name} holds no identity",
        where=name,
        why=f"{why}; files encrypted for another key could not be opened here",
        fix=f"replace it with your {name}, then run `stockman init` again",
        severity=Severity.WARNING,
    )


def other_recipients(name: str) -> Problem:
    return Problem(
        code="init.other-recipients",
        what=f"{name} was not created",
        where=".sops.yaml",
        why="its rule has other recipients than age.key, which could not open the file",
        fix="replace age.key with the one in the rules, or add the public key of this"
        " one to the rules; then run `stockman init` again",
        severity=Severity.WARNING,
    )


def no_bundle(name: str, reason: Problem) -> Problem:
    return Problem(
        code="init.no-bundle",
        what=f"{name} was not created",
        where=reason.where or name,
        why=f"{reason.what}: {reason.why}",
        fix=reason.fix,
        severity=Severity.WARNING,
    )
