"""Resolve secret references in the configuration; messages never contain values."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.reading import open_for_reading, read_secret_file
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm, replace_secrets

if TYPE_CHECKING:
    from stockman.crypto.sops.files import DecryptedFile


@record
class Reason:
    """Why a reference cannot be resolved, and the fix."""

    why: str
    fix: str


def variable_missing(name: str, *, is_set: bool) -> Reason:
    return Reason(
        why="the variable is empty" if is_set else "the variable is not set",
        fix=f"run the command with {name} set, for example from your password manager",
    )


def file_unreadable(name: str, why: str) -> Reason:
    return Reason(why=f"{name}: {why}", fix=f"write the secret into {name}, for you alone to read")


def path_missing(text: str, why: str) -> Reason:
    return Reason(
        why=f"{text}: {why}",
        fix="list the paths of the file with `stockman secrets get -o name` and correct the one"
        " behind the `#`",
    )


def from_problem(problem: Problem) -> Reason:
    """Return the reason for a problem of a file."""
    return Reason(why=f"{problem.what}: {problem.why}", fix=problem.fix)


def stray_reference(name: str) -> Reason:
    return Reason(
        why=f"{name} holds this ciphertext at a place where SOPS did not encrypt it",
        fix="write the secret with `stockman secrets set`, which encrypts it where it stands",
    )


def no_location() -> Reason:
    return Reason(why="it is not known where it was written", fix="write it at the key itself")


T = TypeVar("T")
_LONGEST = 1 << 20


@record
class ResolvedDesired:
    """The desired state with resolved secrets, and problems."""

    desired: Desired
    """With errors: unresolved secrets are still references."""
    problems: Problems


@record
class ReferenceContext:
    """Directory, keys and environment that references refer to."""

    directory: Path
    keyring: Keyring
    environment: Mapping[str, str]


def resolve_secrets(desired: Desired, context: ReferenceContext) -> ResolvedDesired:
    """Resolve every reference; report each failure with its position."""
    resolving = _ReferenceResolver(context)
    resolved = replace_secrets(desired, resolving.secret)
    return ResolvedDesired(desired=resolved, problems=resolving.problems)


def resolve_section(section: T, context: ReferenceContext) -> tuple[T, Problems]:
    """Return one section with resolved secrets, and problems."""
    resolving = _ReferenceResolver(context)
    return replace_secrets(section, resolving.secret), resolving.problems


class _UnresolvedReference(Exception):
    """A reference cannot be resolved; carries the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__("a secret cannot be resolved")
        self.reason = reason


def _read_regular_file(path: Path) -> bytes:
    """Return the beginning of a file; a pipe or a device, which could block, is an `OSError`."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        return file.read(_LONGEST + 1)


class _ReferenceResolver:
    def __init__(self, context: ReferenceContext) -> None:
        self._context = context
        self._opened: dict[str, DecryptedFile | Reason] = {}
        self.problems = Problems()

    def secret(self, secret: Secret, origin: Origin | None) -> Secret:
        if secret.form is SecretForm.LITERAL:
            return secret
        try:
            return Secret(self._text(secret, origin), resolved=True)
        except _UnresolvedReference as error:
            self.problems.add(_problem(secret, origin, error.reason))
            return secret

    def _text(self, secret: Secret, origin: Origin | None) -> str:
        match secret.form:
            case SecretForm.ENVIRONMENT:
                return self._variable(secret.reference[2:-1])
            case SecretForm.FILE:
                return self._file(secret.reference.removeprefix("file:"))
            case SecretForm.SOPS:
                file, _, path = secret.reference.removeprefix("sops:").partition("#")
                return self._value_in(file, path)
            case _:
                return self._read_encrypted(secret, origin)

    def _variable(self, name: str) -> str:
        text = self._context.environment.get(name, "")
        if not text:
            raise _UnresolvedReference(
                variable_missing(name, is_set=name in self._context.environment)
            )
        return text

    def _file(self, name: str) -> str:
        if ".." in Path(name).parts:
            raise _UnresolvedReference(file_unreadable(name, "`..` is not allowed"))
        try:
            content = _read_regular_file(self._context.directory / name)
        except OSError as error:
            raise _UnresolvedReference(
                file_unreadable(name, error.strerror or type(error).__name__)
            ) from None
        if len(content) > _LONGEST:
            raise _UnresolvedReference(file_unreadable(name, "it is larger than 1 MiB"))
        try:
            text = content.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise _UnresolvedReference(file_unreadable(name, "it is not UTF-8 text")) from None
        if not text:
            raise _UnresolvedReference(file_unreadable(name, "it is empty"))
        return text

    def _value_in(self, file: str, path: str) -> str:
        from stockman.crypto.sops.paths import parse_path
        from stockman.crypto.sops.scalars import is_text
        from stockman.crypto.sops.update import format_value, value_at

        opened = self._open(file)
        try:
            value = value_at(opened, parse_path(path))
        except ValueError as error:
            raise _UnresolvedReference(path_missing(path, str(error))) from None
        except StockmanError as error:
            raise _UnresolvedReference(from_problem(error.problem)) from None
        text = "" if value is None else format_value(value)
        if not text or not is_text(text):
            raise _UnresolvedReference(path_missing(path, "there is no text in it"))
        return text

    def _read_encrypted(self, secret: Secret, origin: Origin | None) -> str:
        from stockman.crypto.sops.tree import SopsScalar
        from stockman.crypto.sops.update import format_value

        if origin is None or origin.is_derived:
            raise _UnresolvedReference(no_location())
        for slot in self._open(origin.at.file).slots:
            if isinstance(slot.node, SopsScalar) and slot.node.value == secret.reveal():
                return self._follow(Secret(format_value(slot.value)))
        raise _UnresolvedReference(stray_reference(origin.at.file))

    def _follow(self, secret: Secret) -> str:
        """Resolve an encrypted text: SOPS also encrypts references in secret keys."""
        if secret.form in (SecretForm.LITERAL, SecretForm.ENCRYPTED):
            return secret.reveal()
        return self._text(secret, None)

    def _open(self, name: str) -> DecryptedFile:
        known = self._opened.get(name)
        if known is None:
            known = self._opened[name] = self._open_document(name)
        if isinstance(known, Reason):
            raise _UnresolvedReference(known)
        return known

    def _open_document(self, name: str) -> DecryptedFile | Reason:
        try:
            content = read_secret_file(self._context.directory, name)
            if content is None:
                return file_unreadable(name, "there is no such file")
            return open_for_reading(content, name, self._context.keyring)
        except StockmanError as error:
            return from_problem(error.problem)


def _problem(secret: Secret, origin: Origin | None, reason: Reason) -> Problem:
    where: Position | str = origin.at if origin is not None else ""
    name = origin.name if origin is not None else "a secret"
    return Problem(
        code="secret.unresolvable",
        what=f"{name} cannot be taken from {secret.reference}",
        where=where,
        why=reason.why,
        fix=reason.fix,
    )
