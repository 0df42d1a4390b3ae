"""Store of the secret files of a workspace: opened in memory, written encrypted, sealed.

Plaintext never touches the disk. Files are replaced atomically, then the lock file; after an
interruption, the next write of the same content updates it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING

from stockman.adapters.files import create_file, replace_file
from stockman.app.secrets import problems as trouble
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.lock import LOCK, SecretLock, read_lock
from stockman.app.secrets.reading import (
    decrypt_file,
    is_encrypted,
    open_secret_file,
    read_secret_file,
    resolve_path,
)
from stockman.app.workspace.secret_names import SOPS_CONFIG, secret_names
from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.seal import (
    Seal,
    create_seal,
    create_seal_without_identity,
    matches_file,
    matches_plaintext,
    matches_text,
)
from stockman.crypto.sops.files import (
    DecryptedFile,
    EncryptionInputs,
    decrypt,
    encrypt,
    file_metadata,
    rekey,
    rotate,
)
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.selectors import (
    CreationRule,
    EncryptionSettings,
    SopsConfig,
    read_sops_config,
)
from stockman.crypto.sops.values import canonical_bytes
from stockman.model.record import record

if TYPE_CHECKING:
    from stockman.crypto.sops.update import NewValue
    from stockman.ports.system import Clock, Entropy


VARIABLE = "SOPS_CONFIG"
_MOST_PARENTS = 100


@record
class Rules:
    """A `.sops.yaml` and its location; its expressions match paths relative to it."""

    config: SopsConfig
    home: Path
    directory: Path

    def rule_for(self, name: str) -> CreationRule:
        """Return the first rule for a file, named relative to the workspace."""
        path = self.directory / name
        inside = path.is_relative_to(self.home)
        return self.config.rule_for(str(path.relative_to(self.home) if inside else path))


def find_rules(directory: Path, environment: Mapping[str, str]) -> Rules:
    """Return the rules in `SOPS_CONFIG`, or the nearest in the directory or above it."""
    root = directory.resolve()
    named = environment.get(VARIABLE, "")
    path = (root / named) if named else _nearest(root)
    if path is None:
        raise trouble.no_rules(str(directory))
    shown = named or (
        SOPS_CONFIG if path.parent == root else str(Path(*[".."] * _above(root, path), path.name))
    )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise trouble.unreadable_file(shown, error.strerror or type(error).__name__) from None
    return Rules(
        config=read_sops_config(content, shown), home=path.resolve().parent, directory=root
    )


def _nearest(root: Path) -> Path | None:
    for folder in (root, *root.parents)[:_MOST_PARENTS]:
        if (folder / SOPS_CONFIG).exists():
            return folder / SOPS_CONFIG
    return None


def _above(root: Path, folder: Path) -> int:
    return len(root.relative_to(folder.parent).parts)


_TAG_BYTES = 4


class SecretStore:
    """Reads and writes the secret files of a directory."""

    def __init__(
        self,
        directory: Path,
        keyring: Keyring,
        environment: Mapping[str, str],
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self.directory = directory
        self.keyring = keyring
        self._environment = environment
        self._clock = clock
        self._entropy = entropy
        self._rules: Rules | None = None

    @property
    def rules(self) -> Rules:
        """Return the rules of `.sops.yaml`; refuse missing or invalid ones."""
        if self._rules is None:
            self._rules = find_rules(self.directory, self._environment)
        return self._rules

    def names(self) -> tuple[str, ...]:
        """Return the names of all secret files, sorted."""
        return secret_names(self.directory)

    def exists(self, name: str) -> bool:
        return read_secret_file(self.directory, name) is not None

    def content(self, name: str) -> bytes:
        """Return the bytes of a file on disk."""
        content = read_secret_file(self.directory, name)
        if content is None:
            raise trouble.missing_file(name)
        return content

    def metadata(self, name: str) -> Metadata:
        """Return recipients and time of encryption; needs no identity."""
        return file_metadata(self.content(name), name)

    def open(self, name: str) -> DecryptedFile:
        """Decrypt and verify a file."""
        return open_secret_file(self.content(name), name, self.keyring)

    def plaintext(self, name: str) -> bytes:
        """Return the plaintext of a file."""
        return decrypt_file(self.content(name), name, self.keyring)

    def encrypt(self, name: str, plain: bytes, old: bytes | None) -> bytes:
        """Return the encrypted bytes for a content without writing them.

        Existing bytes are kept if the lock file says that they hold this content.
        """
        if old is None or not is_encrypted(old, name):
            return encrypt(plain, name, self.recipe(name), self._fresh())
        seal = self.lock.seals.get(name)
        if seal is not None and matches_file(seal, old) and self._says(seal, name, plain):
            return old
        return self._reencrypt(old, plain, name)

    def record(self, contents: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Seal files written by other code: bytes and plaintext by name."""
        lock = after = read_lock(self.directory)
        for name, (content, plain) in contents.items():
            seal = lock.seals.get(name)
            if seal is None or not seal.text or not matches_file(seal, content):
                after = after.with_seal(name, self.seal(name, content, plain))
        self._write_lock(lock, after)

    @property
    def lock(self) -> SecretLock:
        """Return the lock file on disk."""
        return read_lock(self.directory)

    def create(self, name: str, plain: bytes) -> None:
        """Create a file by its rule; refuse if it exists."""
        lock = read_lock(self.directory)
        encrypted = encrypt(plain, name, self.recipe(name), self._fresh())
        if not self._create(name, encrypted):
            raise trouble.file_exists(name)
        self._write_lock(lock, lock.with_seal(name, self.seal(name, encrypted, plain)))

    def write(
        self, name: str, plain: bytes, *, expected: bytes | EllipsisType | None = ...
    ) -> bool:
        """Write the content of a file; return whether it changed.

        The same content changes nothing, except that an unencrypted file is encrypted. `expected`
        is the content on disk at the start, None if missing; refuse if it has changed.
        """
        lock = read_lock(self.directory)
        old = read_secret_file(self.directory, name)
        if expected is not ... and old != expected:
            raise trouble.edit_conflict(name)
        if old is None:
            self.create(name, plain)
            return True
        if is_encrypted(old, name):
            encrypted = self._reencrypt(old, plain, name)
        else:
            encrypted = encrypt(plain, name, self.recipe(name), self._fresh())
        return self._replace(lock, name, old, encrypted, plain)

    def set_value(self, name: str, new: NewValue) -> bool:
        """Set a value at a path of a file; return whether it changed."""
        from stockman.crypto.sops.update import set_plaintext_value, set_value

        old = read_secret_file(self.directory, name)
        if old is None or not is_encrypted(old, name):
            return self.write(name, set_plaintext_value(old or b"", name, new))
        lock = read_lock(self.directory)
        identities = self._identities(old, name)
        encrypted = set_value(old, name, new, identities, self._fresh())
        return self._replace(lock, name, old, encrypted, decrypt(encrypted, name, identities))

    def rotate(self, name: str) -> None:
        """Re-encrypt a file with a new data key for the same recipients."""
        lock = read_lock(self.directory)
        old = self.content(name)
        identities = self._identities(old, name)
        encrypted = rotate(old, name, identities, self._fresh())
        self._replace(lock, name, old, encrypted, decrypt(encrypted, name, identities))

    def rekey(self, name: str) -> bool:
        """Apply the recipients of the file's rule; return whether they differed."""
        recipients = self.recipe(name).recipients
        lock = read_lock(self.directory)
        old = self.content(name)
        if set(recipients) == set(file_metadata(old, name).recipients):
            return False
        identities = self._identities(old, name)
        plain = decrypt(old, name, identities)
        encrypted = rekey(old, name, identities, recipients, self._fresh())
        return self._replace(lock, name, old, encrypted, plain)

    def recipe(self, name: str) -> EncryptionSettings:
        """Return how the rules encrypt a file."""
        resolve_path(self.directory, name)
        rule = self.rules.rule_for(name)
        if not rule.recipe.recipients:
            raise trouble.no_recipient(name, str(rule.at))
        return rule.recipe

    def seal(self, name: str, content: bytes, plain: bytes) -> Seal:
        """Return the seal of a file; only of its bytes if no identity is available."""
        mine = self.keyring.owner(file_metadata(content, name).recipients)
        identity = mine or next(iter(self.keyring.identities), None)
        if identity is None:
            return create_seal_without_identity(content)
        return create_seal(name, content, canonical_bytes(plain, name), identity, plain)

    def accept(self, name: str) -> bool:
        """Seal a file in its current state; return whether the lock file changed."""
        lock = read_lock(self.directory)
        content = self.content(name)
        plain = decrypt_file(content, name, self.keyring)
        return self._write_lock(lock, lock.with_seal(name, self.seal(name, content, plain)))

    def forget(self, name: str) -> bool:
        """Remove the seal of a missing file; return whether the lock file changed."""
        lock = read_lock(self.directory)
        return self._write_lock(lock, lock.without(name))

    def tag(self) -> str:
        """Return a unique tag for names of temporary files."""
        return self._entropy.random_bytes(_TAG_BYTES).hex()

    def _says(self, seal: Seal, name: str, plain: bytes) -> bool:
        identities = self.keyring.identities
        if matches_text(seal, name, plain, identities):
            return True
        return matches_plaintext(seal, name, canonical_bytes(plain, name), identities) or False

    def _reencrypt(self, old: bytes, plain: bytes, name: str) -> bytes:
        from stockman.crypto.sops.update import reencrypt

        return reencrypt(old, plain, name, self._identities(old, name), self._fresh())

    def _identities(self, content: bytes, name: str) -> tuple[AgeIdentity, ...]:
        return self.keyring.identities_for(file_metadata(content, name).recipients, name)

    def _fresh(self) -> EncryptionInputs:
        return EncryptionInputs(now=self._clock.now(), random_bytes=self._entropy.random_bytes)

    def _create(self, name: str, content: bytes) -> bool:
        path = resolve_path(self.directory, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return create_file(path, content, private=False, tag=self.tag())
        except OSError as error:
            raise trouble.unwritable_file(name, error.strerror or type(error).__name__) from None

    def _replace(
        self, lock: SecretLock, name: str, old: bytes, encrypted: bytes, plain: bytes
    ) -> bool:
        if encrypted != old:
            if read_secret_file(self.directory, name) != old:
                raise trouble.edit_conflict(name)
            self._write_file(name, resolve_path(self.directory, name), encrypted)
        seal, known = self.seal(name, encrypted, plain), lock.seals.get(name)
        if known is None or replace(known, text=seal.text) != seal:
            self._write_lock(lock, lock.with_seal(name, seal))
        return encrypted != old

    def _write_file(self, name: str, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content, tag=self.tag())
        except OSError as error:
            raise trouble.unwritable_file(name, error.strerror or type(error).__name__) from None

    def _write_lock(self, old: SecretLock, new: SecretLock) -> bool:
        if new == old:
            return False
        self._write_file(LOCK, self.directory / LOCK, new.text().encode())
        return True
