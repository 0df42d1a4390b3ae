"""Status of every secret file: recipients, age and changes."""

from __future__ import annotations

from typing import Literal

from stockman.app.secrets.lock import EMPTY, SecretLock, read_lock
from stockman.app.secrets.reading import decrypt_file, is_encrypted, read_secret_file
from stockman.app.secrets.store import SecretStore
from stockman.crypto.seal import Seal, matches_file, matches_plaintext
from stockman.crypto.sops.files import file_metadata
from stockman.crypto.sops.values import canonical_bytes
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems
from stockman.model.record import record

SealState = Literal["unchanged", "changed", "unknown", "clear", "missing", "damaged"]
"""`unknown`: not in the lock file. `clear`: not encrypted."""

ComparedBy = Literal["bytes", "values", ""]


@record
class SecretFile:
    """One secret file."""

    name: str
    state: SealState
    compared: ComparedBy = ""
    """What the state is based on. Empty: nothing could be compared."""
    recipients: tuple[str, ...] = ()
    modified: str = ""
    """When it was encrypted, as recorded in it. Empty: not recorded."""
    opens_here: bool = False
    """Whether an available identity is one of its recipients."""
    matches_rules: bool | None = None
    """Whether its recipients match the rules. None: no rule applies."""


@record
class SecretsStatus:
    """All secret files and their problems."""

    files: tuple[SecretFile, ...]
    has_identity: bool
    problems: Problems

    @property
    def only_bytes(self) -> tuple[str, ...]:
        """Files that differ from the lock file, compared only by bytes."""
        return tuple(
            file.name for file in self.files if file.state == "changed" and file.compared == "bytes"
        )


def read_status(store: SecretStore) -> SecretsStatus:
    """Read the status of every secret file; open only those that differ from the lock file."""
    problems = Problems()
    try:
        lock = read_lock(store.directory)
    except StockmanError as error:
        problems.add(error.problem)
        lock = EMPTY
    names = sorted({*store.names(), *lock.seals})
    looking = _StatusReader(store, lock, problems)
    files = tuple(looking.read(name) for name in names)
    problems.extend(store.keyring.problems)
    return SecretsStatus(
        files=files, has_identity=bool(store.keyring.identities), problems=problems
    )


def accept_all(store: SecretStore) -> int:
    """Seal every secret file in its current state; return the number of changed entries.

    Entries of missing files are removed; a file that cannot be opened stops everything.
    """
    names = store.names()
    lock = read_lock(store.directory)
    changed = sum(store.accept(name) for name in names)
    return changed + sum(store.forget(name) for name in lock.seals if name not in names)


class _StatusReader:
    def __init__(self, store: SecretStore, lock: SecretLock, problems: Problems) -> None:
        self._store = store
        self._lock = lock
        self._problems = problems

    def read(self, name: str) -> SecretFile:
        try:
            return self._read(name)
        except StockmanError as error:
            self._problems.add(error.problem)
            return SecretFile(name=name, state="damaged")

    def _read(self, name: str) -> SecretFile:
        content = read_secret_file(self._store.directory, name)
        if content is None:
            return SecretFile(name=name, state="missing")
        if not is_encrypted(content, name):
            self._problems.add(_is_plaintext(name))
            return SecretFile(name=name, state="clear")
        metadata = file_metadata(content, name)
        state, compared = self._compare(name, content, self._lock.seals.get(name))
        return SecretFile(
            name=name,
            state=state,
            compared=compared,
            recipients=metadata.recipients,
            modified=metadata.lastmodified,
            opens_here=self._store.keyring.owner(metadata.recipients) is not None,
            matches_rules=self._matches_rules(name, metadata.recipients),
        )

    def _compare(
        self, name: str, content: bytes, seal: Seal | None
    ) -> tuple[SealState, ComparedBy]:
        if seal is None:
            return "unknown", ""
        if matches_file(seal, content):
            return "unchanged", "bytes"
        recipients = file_metadata(content, name).recipients
        if self._store.keyring.owner(recipients) is None:
            return "changed", "bytes"
        plain = decrypt_file(content, name, self._store.keyring)
        same = matches_plaintext(
            seal, name, canonical_bytes(plain, name), self._store.keyring.identities
        )
        if same is None:
            return "changed", "bytes"
        return ("unchanged" if same else "changed"), "values"

    def _matches_rules(self, name: str, recipients: tuple[str, ...]) -> bool | None:
        try:
            return set(self._store.recipe(name).recipients) == set(recipients)
        except StockmanError:
            return None


def _is_plaintext(name: str) -> Problem:
    return Problem(
        code="secret.clear",
        what=f"{name} is not encrypted",
        where=name,
        why="its name says that it holds secrets, and whoever reads the file reads them",
        fix=f"encrypt it with `stockman secrets edit {name}`; if it was ever committed, replace"
        " the secrets too",
    )
