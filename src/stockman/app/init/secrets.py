"""Create the first encrypted files of a directory: SOPS rules and the secrets bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from stockman.adapters import files
from stockman.adapters.files import read_key_file
from stockman.app.init import problems as trouble
from stockman.app.secrets.bundle import bundle_path, other_bundle
from stockman.app.secrets.bundle_creation import BundleCreation, contract_of
from stockman.app.secrets.keyring import AGE_KEY, Keyring, KeySource
from stockman.app.secrets.lock import LOCK, read_lock
from stockman.app.secrets.problems import bundle_elsewhere
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.secret_names import SOPS_CONFIG
from stockman.config.language import Configuration, Dialect
from stockman.config.load import load
from stockman.crypto.age.identities import AgeIdentity, parse_identities
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.rendering.sops_rules import sops_config_text
from stockman.talos.secrets.bundle import bundle_text

SecretFileState = Literal["written", "kept", "refused"]
SecretFileResult = tuple[str, SecretFileState]
"""A file and what happened to it."""

ENCRYPTED_DIRECTORIES = ("talos", ".stockman")
"""Directories of the encrypted files."""

_TAG_BYTES = 4


class FirstSecrets:
    """Creates missing files; nothing existing is changed and nothing is written unencrypted."""

    def __init__(
        self, directory: Path, dialect: Dialect, making: BundleCreation, problems: Problems
    ) -> None:
        self._directory = directory
        self._dialect = dialect
        self._making = making
        self._problems = problems

    def plan(self, texts: dict[str, str]) -> Iterator[SecretFileResult]:
        """Return what would happen to each file."""
        for name in self._names(texts):
            yield name, "kept" if self._exists(name) else "written"

    def files(self, texts: dict[str, str]) -> Iterator[SecretFileResult]:
        """Yield each file as it is created; without a usable identity, none is."""
        names = self._names(texts)
        identity = self._identity()
        if identity is None:
            for name in names:
                yield name, "kept" if self._exists(name) else "refused"
            return
        yield SOPS_CONFIG, self._rules(identity)
        for name in names[1:-1]:
            before = self._lock_bytes()
            yield name, self._bundle(name, identity, texts)
            after = self._lock_bytes()
            yield LOCK, "refused" if after is None else "kept" if after == before else "written"

    def _names(self, texts: dict[str, str]) -> tuple[str, ...]:
        name = bundle_path(self._dialect)
        if self._exists(name) or self._estate(texts).nodes:
            return SOPS_CONFIG, name, LOCK
        return (SOPS_CONFIG,)

    def _exists(self, name: str) -> bool:
        return files.path_exists(self._directory / name)

    def _lock_bytes(self) -> bytes | None:
        path = self._directory / LOCK
        return path.read_bytes() if path.is_file() else None

    def _rules(self, identity: AgeIdentity) -> SecretFileState:
        if self._exists(SOPS_CONFIG):
            return "kept"
        path = self._directory / SOPS_CONFIG
        content = sops_config_text(self._dialect, identity.recipient).encode()
        tag = self._making.entropy.random_bytes(_TAG_BYTES).hex()
        created = files.create_file(path, content, private=False, tag=tag)
        return "written" if created else "kept"

    def _bundle(self, name: str, identity: AgeIdentity, texts: dict[str, str]) -> SecretFileState:
        clock, entropy = self._making.clock, self._making.entropy
        keyring = Keyring([KeySource(name=AGE_KEY, identities=(identity,))])
        store = SecretStore(self._directory, keyring, {}, clock, entropy)
        try:
            if self._exists(name):
                self._seal(store, name)
                return "kept"
            if identity.recipient not in store.recipe(name).recipients:
                self._problems.add(trouble.other_recipients(name))
                return "refused"
            elsewhere = other_bundle(self._directory, self._dialect)
            if elsewhere is not None:
                raise bundle_elsewhere(elsewhere, name)
            contract = contract_of(self._estate(texts))
            bundle = self._making.make_bundle(contract, clock.now(), entropy.random_bytes)
            store.create(name, bundle_text(bundle).reveal().encode())
        except StockmanError as error:
            self._problems.add(trouble.no_bundle(name, error.problem))
            return "kept" if self._exists(name) else "refused"
        return "written"

    def _seal(self, store: SecretStore, name: str) -> None:
        """Complete an interrupted run: add the bundle to the lock file."""
        if name not in read_lock(self._directory).seals:
            store.accept(name)

    def _identity(self) -> AgeIdentity | None:
        """Return the first identity of age.key. None: there is none, and a problem says so."""
        try:
            text = read_key_file(self._directory / AGE_KEY).text
            return parse_identities(text.reveal(), AGE_KEY)[0]
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except StockmanError as error:
            reason = f"{error.problem.where}: {error.problem.why}"
        self._problems.add(trouble.no_identity(AGE_KEY, reason))
        return None

    def _estate(self, texts: dict[str, str]) -> Configuration:
        """Return the configuration of the existing or planned files."""
        contents = {name: text.encode() for name, text in texts.items()}
        for name in texts:
            if (self._directory / name).is_file():
                contents[name] = (self._directory / name).read_bytes()
        return load(contents).configuration
