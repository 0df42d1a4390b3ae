"""Secrets that the configuration names, made the secrets themselves.

References stay references in everything that is shown; what comes out of here goes into machines
and rendered files only, and prints as `***`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app import unresolved as trouble
from stockman.app.keyring import Keyring
from stockman.app.secret_reading import read_secret_file, unlocked_to_read
from stockman.app.unresolved import Reason
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.model.secrets_within import with_secrets

if TYPE_CHECKING:
    from stockman.crypto.sops.opening import Opened

T = TypeVar("T")
_LONGEST = 1 << 20


@record
class Resolved:
    """What should be, with every secret at hand; or why some are not."""

    desired: Desired
    """With errors: the secrets that could not be resolved are still references."""
    problems: Problems


@record
class Surroundings:
    """Where references lead: the directory, the keys and the environment."""

    directory: Path
    keyring: Keyring
    environment: Mapping[str, str]


def resolve_secrets(desired: Desired, around: Surroundings) -> Resolved:
    """Follow every reference; all that fail are reported, each where it is written."""
    resolving = _Resolving(around)
    found = with_secrets(desired, resolving.secret)
    return Resolved(desired=found, problems=resolving.problems)


def resolved_part(part: T, around: Surroundings) -> tuple[T, Problems]:
    """One part of a configuration with its secrets at hand, and why some are not."""
    resolving = _Resolving(around)
    return with_secrets(part, resolving.secret), resolving.problems


def resolved_desired(around: Surroundings) -> Resolved:
    """What the files of a directory ask for, with every secret at hand."""
    from stockman.app.show import desired

    return resolve_secrets(desired(around.directory), around)


class _Unresolved(Exception):
    """A reference leads nowhere; it says why and what would help."""

    def __init__(self, reason: Reason) -> None:
        super().__init__("a secret cannot be resolved")
        self.reason = reason


class _Resolving:
    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._opened: dict[str, Opened | Reason] = {}
        self.problems = Problems()

    def secret(self, secret: Secret, origin: Origin | None) -> Secret:
        if secret.form is SecretForm.LITERAL:
            return secret
        try:
            return Secret(self._text(secret, origin), resolved=True)
        except _Unresolved as error:
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
                return self._encrypted(secret, origin)

    def _variable(self, name: str) -> str:
        text = self._around.environment.get(name, "")
        if not text:
            raise _Unresolved(trouble.variable(name, is_set=name in self._around.environment))
        return text

    def _file(self, name: str) -> str:
        try:
            with (self._around.directory / name).open("rb") as file:
                content = file.read(_LONGEST + 1)
        except OSError as error:
            raise _Unresolved(trouble.file(name, error.strerror or type(error).__name__)) from None
        if len(content) > _LONGEST:
            raise _Unresolved(trouble.file(name, "it is larger than 1 MiB"))
        try:
            text = content.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise _Unresolved(trouble.file(name, "it is not UTF-8 text")) from None
        if not text:
            raise _Unresolved(trouble.file(name, "it is empty"))
        return text

    def _value_in(self, file: str, path: str) -> str:
        from stockman.crypto.sops.contents import value_text
        from stockman.crypto.sops.lookup import value_at
        from stockman.crypto.sops.paths import parse_path
        from stockman.crypto.sops.scalars import is_text

        opened = self._open(file)
        try:
            value = value_at(opened, parse_path(path))
        except ValueError as error:
            raise _Unresolved(trouble.path(path, str(error))) from None
        except StockmanError as error:
            raise _Unresolved(trouble.because(error.problem)) from None
        text = "" if value is None else value_text(value)
        if not text or not is_text(text):
            raise _Unresolved(trouble.path(path, "there is no text in it"))
        return text

    def _encrypted(self, secret: Secret, origin: Origin | None) -> str:
        from stockman.crypto.sops.contents import value_text
        from stockman.crypto.sops.tree import Leaf

        if origin is None or origin.is_derived:
            raise _Unresolved(trouble.nowhere())
        for slot in self._open(origin.at.file).slots:
            if isinstance(slot.node, Leaf) and slot.node.value == secret.reveal():
                return self._followed(Secret(value_text(slot.value)))
        raise _Unresolved(trouble.stray(origin.at.file))

    def _followed(self, secret: Secret) -> str:
        """What an encrypted text means: SOPS encrypts references at keys of secrets too."""
        if secret.form in (SecretForm.LITERAL, SecretForm.ENCRYPTED):
            return secret.reveal()
        return self._text(secret, None)

    def _open(self, name: str) -> Opened:
        known = self._opened.get(name)
        if known is None:
            known = self._opened[name] = self._freshly_opened(name)
        if isinstance(known, Reason):
            raise _Unresolved(known)
        return known

    def _freshly_opened(self, name: str) -> Opened | Reason:
        try:
            content = read_secret_file(self._around.directory, name)
            if content is None:
                return trouble.file(name, "there is no such file")
            return unlocked_to_read(content, name, self._around.keyring)
        except StockmanError as error:
            return trouble.because(error.problem)


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
