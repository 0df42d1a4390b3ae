"""Create the secrets bundle: new, or imported from a running cluster."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from stockman.app.secrets import problems as trouble
from stockman.app.secrets.bundle import bundle_path, check_bundle, other_bundle
from stockman.app.secrets.reading import decrypt_file, is_encrypted
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.secret_names import dialect_of
from stockman.config.language import Configuration
from stockman.config.resolve import talos_version
from stockman.config.source.tree import Unreadable
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.ports.system import Clock, Entropy
from stockman.talos.documents import V1ALPHA1, parse_documents
from stockman.talos.secrets.bundle import SecretsBundle, bundle_text, new_bundle
from stockman.talos.secrets.bundle_reader import import_bundle as imported_bundle

BundleMaker = Callable[[Version, datetime, Callable[[int], bytes]], SecretsBundle]

_BUNDLE_KEYS = ("certs", "trustdinfo")
_LONGEST = 4 << 20


def contract_of(estate: Configuration) -> Version:
    """Return the Talos contract of the cluster's files, or the newest one."""
    return Version(*(estate.talos.contract or talos_version(estate)).line)


@record
class BundleCreation:
    """System resources needed to create a bundle."""

    clock: Clock
    entropy: Entropy
    make_bundle: BundleMaker = new_bundle


def create_bundle(store: SecretStore, making: BundleCreation, *, source: Path | None = None) -> str:
    """Create the missing bundle; return its name. An existing one is never changed."""
    dialect = dialect_of(store.directory)
    name = bundle_path(dialect)
    if store.exists(name):
        raise trouble.file_exists(name)
    elsewhere = other_bundle(store.directory, dialect)
    if elsewhere is not None:
        raise trouble.bundle_elsewhere(elsewhere, name)
    store.recipe(name)
    if source is not None:
        bundle = import_bundle(source, store)
    else:
        contract = contract_of(load_directory(store.directory).configuration)
        now, random_bytes = making.clock.now(), making.entropy.random_bytes
        bundle = making.make_bundle(contract, now, random_bytes)
    store.create(name, bundle_text(bundle).reveal().encode())
    return name


def import_bundle(source: Path, store: SecretStore) -> SecretsBundle:
    """Return the bundle in a controller's machine configuration, or in another bundle file."""
    name = str(source)
    try:
        with source.open("rb") as file:
            content = file.read(_LONGEST)
    except OSError as error:
        raise trouble.unreadable_file(name, error.strerror or type(error).__name__) from None
    if _is_yaml_with_keys(content, name):
        content = decrypt_file(content, name, store.keyring)
    text = content.decode("utf-8", "replace")
    try:
        sheets = parse_documents(name, text)
    except Unreadable as error:
        raise Refused(error.problem) from None
    first = sheets.get(V1ALPHA1, [None])[0]
    if first is not None and any(key in first.entries for key in _BUNDLE_KEYS):
        return check_bundle(name, content)
    problems = Problems()
    bundle = imported_bundle(name, Secret(text), problems)
    for problem in problems.errors:
        raise Refused(problem)
    if bundle is None:
        raise ValueError("no bundle, and no reason")
    return bundle


def _is_yaml_with_keys(content: bytes, name: str) -> bool:
    """Whether a file is encrypted; errors of SOPS are left to the reader of the bundle."""
    if b"sops:" not in content:
        return False
    try:
        return is_encrypted(content, f"{name}.yaml")
    except StockmanError:
        return True
