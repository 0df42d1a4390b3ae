"""Collect the known secrets of a workspace with their names."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from stockman.app.secrets.bundle import bundle_path, open_bundle
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.reading import open_secret_file, read_secret_file
from stockman.app.secrets_check.report import NotScanned
from stockman.app.secrets_check.scanner import KnownSecret
from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.secret_names import dialect_of, secret_names
from stockman.config.source.tree import SequenceNode, Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Problems
from stockman.model.secret import Secret, SecretForm, find_secrets
from stockman.talos.credentials.talosconfig import read_talosconfig
from stockman.talos.documents import node_at, text_at
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import AUTHORITIES

KEY_FILES = ("github-deploy.key", "deploy.key")
TOKEN_FILES = ("github-push-token.txt", "flux-webhook-token.txt", "cloudflare-tunnel.json")
TALOSCONFIGS = ("talosconfig", "talos/talosconfig", "talos/clusterconfig/talosconfig")
KUBECONFIG = "kubeconfig"
_LARGEST = 1 << 20
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identifier next to a secret, such as the public tunnel ID, which is not secret."""


class KnownSecrets:
    """Collects secrets, and files that could not be opened."""

    def __init__(self, directory: Path, keyring: Keyring, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._keyring = keyring
        self._environment = environment
        self.secrets: list[KnownSecret] = []
        self.unopened: list[NotScanned] = []
        self._opened_files: set[str] = set()

    def collect(self) -> None:
        for source in self._keyring.sources:
            for identity in source.identities:
                self._add(f"the age identity of {source.name}", identity.text)
        bundle = bundle_path(dialect_of(self._directory))
        self._opened_files.add(bundle)
        self._try(bundle, self._bundle)
        for name in secret_names(self._directory):
            if name != bundle:
                self._try(name, partial(self._file, name))
        self._configuration()
        self._key_files()

    def _add(self, name: str, value: Secret | None, *, guessed: bool = False) -> None:
        if value is not None and value.reveal().strip():
            self.secrets.append(KnownSecret(name=name, value=value, guessed=guessed))

    def _try(self, name: str, read: Callable[[], None]) -> None:
        try:
            read()
        except NotFound:
            return
        except StockmanError as error:
            why = f"it could not be opened: {error.problem.what}"
            self.unopened.append(NotScanned(subject=f"the values of {name}", why=why))

    def _bundle(self) -> None:
        bundle = open_bundle(self._directory, self._keyring)
        for name, value in bundle_secrets(bundle).items():
            self._add(f"{name} of the secrets bundle", value)

    def _file(self, name: str) -> None:
        self._opened_files.add(name)
        content = read_secret_file(self._directory, name)
        if content is None:
            return
        for slot in open_secret_file(content, name, self._keyring).slots:
            if slot.encrypted and isinstance(slot.value, str):
                path = slot.bound_path.strip(":").replace(":", ".") or "the content"
                for text in _values(slot.value):
                    self._add(f"{path} of {name}", Secret(text), guessed=True)

    def _configuration(self) -> None:
        try:
            estate = load_directory(self._directory).configuration
        except StockmanError:
            return
        for name, secret in find_secrets(estate):
            match secret.form:
                case SecretForm.LITERAL:
                    self._add(name, secret)
                case SecretForm.ENVIRONMENT:
                    variable = secret.reveal()[2:-1]
                    self._add(name, Secret(self._environment.get(variable, "")))
                case SecretForm.SOPS:
                    file = secret.reveal().removeprefix("sops:").partition("#")[0]
                    if file not in self._opened_files:
                        self._try(file, partial(self._file, file))
                case SecretForm.FILE:
                    self._add(name, self._text(secret.reveal().removeprefix("file:")))

    def _key_files(self) -> None:
        for name in KEY_FILES:
            self._add(name, self._text(name))
        for name in TOKEN_FILES:
            text = self._text(name)
            for value in _values(text.reveal().strip()) if text is not None else ():
                self._add(name, Secret(value), guessed=name.endswith(".json"))
        for name in TALOSCONFIGS:
            text = self._text(name)
            config = read_talosconfig(name, text, Problems()) if text is not None else None
            for context, entry in (config.contexts if config is not None else {}).items():
                self._add(f"the key of {context} in {name}", entry.key)
        text = self._text(KUBECONFIG)
        if text is not None:
            self._kubeconfig(text)

    def _kubeconfig(self, text: Secret) -> None:
        try:
            users = node_at(read_yaml(KUBECONFIG, text.reveal()), "users")
        except Unreadable:
            return
        for user in users.items if isinstance(users, SequenceNode) else []:
            name, token = text_at(user, "name"), text_at(user, "user.token")
            key = text_at(user, "user.client-key-data")
            whose = f"of {name.text if name is not None else 'a user'} in {KUBECONFIG}"
            if token is not None:
                self._add(f"the token {whose}", Secret(token.text))
            decoded = _from_base64(key.text) if key is not None else None
            if decoded is not None:
                self._add(f"the key {whose}", Secret(decoded))

    def _text(self, name: str) -> Secret | None:
        try:
            with (self._directory / name).open("rb") as file:
                return Secret(file.read(_LARGEST).decode("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            return None


def bundle_secrets(bundle: SecretsBundle) -> dict[str, Secret | None]:
    """Return all secrets of a bundle by their names in its file."""
    kubernetes = bundle.secrets
    keys = {f"certs.{name}.key": getattr(bundle.certs, name).key for name in AUTHORITIES}
    return {
        "cluster.secret": bundle.cluster.secret,
        "secrets.bootstraptoken": kubernetes.bootstraptoken,
        "secrets.secretboxencryptionsecret": kubernetes.secretboxencryptionsecret,
        "secrets.aescbcencryptionsecret": kubernetes.aescbcencryptionsecret,
        "trustdinfo.token": bundle.trustdinfo.token,
        **keys,
        "certs.k8sserviceaccount.key": bundle.certs.k8sserviceaccount,
    }


def _values(text: str) -> Iterator[str]:
    """Yield a value, its base64-decoded content, and the texts of a JSON document in it."""
    yield text
    decoded = _from_base64(text)
    if decoded is not None:
        text = decoded
        yield text
    if text.lstrip().startswith("{"):
        try:
            yield from _leaves(json.loads(text))
        except (ValueError, RecursionError):
            return


def _leaves(tree: object) -> Iterator[str]:
    if isinstance(tree, str) and _UUID.fullmatch(tree) is None:
        yield tree
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from _leaves(item)
    elif isinstance(tree, list):
        for item in tree:
            yield from _leaves(item)


def _from_base64(text: str) -> str | None:
    try:
        text_ = base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return text_ if text_.isprintable() or "\n" in text_ else None
