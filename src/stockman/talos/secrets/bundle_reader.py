"""Read secrets bundles: from their own file, or from a controller's machine configuration.

A missing value is reported, never generated: a new one would not fit a running cluster.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.certificates import key_matches_certificate, read_certificate_facts
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.crypto.private_keys import read_key
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.secret import Secret, is_encrypted
from stockman.talos.documents import V1ALPHA1, node_at, parse_documents, text_at
from stockman.talos.secrets.bundle import (
    ClusterAuthorities,
    DiscoveryIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdSecrets,
)

AUTHORITIES = ("etcd", "k8s", "k8saggregator", "os")
REQUIRED_VALUES = (
    "cluster.id",
    "cluster.secret",
    "secrets.bootstraptoken",
    "trustdinfo.token",
    *(f"certs.{name}.{half}" for name in AUTHORITIES for half in ("crt", "key")),
    "certs.k8sserviceaccount.key",
)
ENCRYPTION_SECRETS = ("secrets.secretboxencryptionsecret", "secrets.aescbcencryptionsecret")
"""Exactly one of these two is required."""

_TOKEN = pattern(r"[0-9a-z]{6}\.[0-9a-z]{16}")
_REDACTED = "******"
"""Shown by Talos instead of a secret."""


class BundleValue(NamedTuple):
    """One value of a bundle, and its position."""

    text: str
    at: Position


class BundleValues:
    """Collects the values of a bundle and checks them."""

    def __init__(self, source: str, problems: Problems) -> None:
        self._source = source
        """Name of the source for problems."""
        self._problems = problems
        self._values: dict[str, BundleValue] = {}
        self._failed = False
        self._unusable: set[str] = set()

    def put(self, name: str, scalar: ScalarNode | None, *, in_base64: bool = False) -> None:
        """Add a value; None: it is missing."""
        if scalar is None:
            return
        if is_encrypted(scalar.text) or scalar.text == _REDACTED:
            self._report_hidden(name, scalar)
            return
        text = scalar.text
        if in_base64:
            decoded = _decode_base64(text)
            if decoded is None:
                self._unreadable(name, "it is not base64 of a text", scalar.at)
                return
            text = decoded
        self._values[name] = BundleValue(text, scalar.at)

    def bundle(self, missing_at: Position) -> SecretsBundle | None:
        """Return the bundle of these values. None: the problems say why."""
        self._check_presence(missing_at)
        self._check_forms()
        if self._failed:
            return None
        return SecretsBundle(
            cluster=DiscoveryIdentity(
                id=self._values["cluster.id"].text, secret=self._secret("cluster.secret")
            ),
            secrets=KubernetesSecrets(
                bootstraptoken=self._secret("secrets.bootstraptoken"),
                secretboxencryptionsecret=self._optional(ENCRYPTION_SECRETS[0]),
                aescbcencryptionsecret=self._optional(ENCRYPTION_SECRETS[1]),
            ),
            trustdinfo=TrustdSecrets(token=self._secret("trustdinfo.token")),
            certs=ClusterAuthorities(
                etcd=self._pair("etcd"),
                k8s=self._pair("k8s"),
                k8saggregator=self._pair("k8saggregator"),
                k8sserviceaccount=self._secret("certs.k8sserviceaccount.key"),
                os=self._pair("os"),
            ),
        )

    def _check_presence(self, missing_at: Position) -> None:
        present = self._values.keys() | self._unusable
        for name in REQUIRED_VALUES:
            if name not in present:
                self._missing(name, missing_at)
        present_secrets = [name for name in ENCRYPTION_SECRETS if name in present]
        if not present_secrets:
            self._missing(" or ".join(ENCRYPTION_SECRETS), missing_at)
        elif len(present_secrets) == len(ENCRYPTION_SECRETS):
            self._failed = True
            self._problems.error(
                "bundle.two-encryption-secrets",
                f"{self._source} has two encryption secrets",
                why=f"etcd is encrypted with one of {' and '.join(present_secrets)}, not with both",
                fix="keep the one that the running cluster uses",
                at=self._position(present_secrets[-1], missing_at),
            )

    def _check_forms(self) -> None:
        token = self._values.get("secrets.bootstraptoken")
        if token is not None and _TOKEN.fullmatch(token.text) is None:
            why = "it is not six letters or digits, a dot, and sixteen more"
            self._unreadable("secrets.bootstraptoken", why, token.at)
        for name in AUTHORITIES:
            crt = self._values.get(f"certs.{name}.crt")
            key = self._values.get(f"certs.{name}.key")
            if crt is not None and self._is_authority(name, crt) and key is not None:
                self._check_key(name, crt, key)
        account = self._values.get("certs.k8sserviceaccount.key")
        if account is not None:
            try:
                read_key(Secret(account.text))
            except NotPem as error:
                self._unreadable("certs.k8sserviceaccount.key", str(error), account.at)

    def _is_authority(self, name: str, crt: BundleValue) -> bool:
        try:
            is_authority = read_certificate_facts(crt.text).is_authority
        except NotPem as error:
            self._unreadable(f"certs.{name}.crt", str(error), crt.at)
            return False
        if not is_authority:
            self._unreadable(f"certs.{name}.crt", "it may not sign other certificates", crt.at)
        return is_authority

    def _check_key(self, name: str, crt: BundleValue, key: BundleValue) -> None:
        try:
            if key_matches_certificate(crt.text, Secret(key.text)):
                return
            why = f"it is not the key of certs.{name}.crt"
        except NotPem as error:
            why = str(error)
        self._unreadable(f"certs.{name}.key", why, key.at)

    def _pair(self, name: str) -> CertificateAndKey:
        return CertificateAndKey(
            crt=self._values[f"certs.{name}.crt"].text, key=self._secret(f"certs.{name}.key")
        )

    def _secret(self, name: str) -> Secret:
        return Secret(self._values[name].text)

    def _optional(self, name: str) -> Secret | None:
        return self._secret(name) if name in self._values else None

    def _position(self, name: str, default: Position) -> Position:
        value = self._values.get(name)
        return default if value is None else value.at

    def _missing(self, name: str, at: Position) -> None:
        self._failed = True
        self._problems.error(
            "bundle.missing",
            f"{self._source} has no {name}",
            why="a new one would not fit the existing machines and data",
            fix="restore it from version control or a backup; the machine configuration of a "
            "running controller contains all values",
            at=at,
        )

    def _unreadable(self, name: str, why: str, at: Position) -> None:
        self._failed = True
        self._unusable.add(name)
        self._problems.error(
            "bundle.unreadable",
            f"{name} of {self._source} is invalid",
            why=why,
            fix="restore it from version control or a backup",
            at=at,
        )

    def _report_hidden(self, name: str, scalar: ScalarNode) -> None:
        self._failed = True
        self._unusable.add(name)
        encrypted = is_encrypted(scalar.text)
        self._problems.error(
            "bundle.withheld",
            f"{name} of {self._source} is not available unencrypted",
            why="it is still encrypted" if encrypted else "Talos masked it",
            fix="decrypt it first" if encrypted else "read it with the role os:admin, unmasked",
            at=scalar.at,
        )


def _decode_base64(text: str) -> str | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


_SECRETBOX, _AESCBC = ENCRYPTION_SECRETS
_WORKER = "worker"

# Certificates and keys are base64 in the v1alpha1 document and plain in all others.
_V1ALPHA1_PATHS = {
    "cluster.id": "cluster.id",
    "cluster.secret": "cluster.secret",
    "secrets.bootstraptoken": "cluster.token",
    _SECRETBOX: "cluster.secretboxEncryptionSecret",
    _AESCBC: "cluster.aescbcEncryptionSecret",
    "trustdinfo.token": "machine.token",
    "certs.etcd.crt": "cluster.etcd.ca.crt",
    "certs.etcd.key": "cluster.etcd.ca.key",
    "certs.k8s.crt": "cluster.ca.crt",
    "certs.k8s.key": "cluster.ca.key",
    "certs.k8saggregator.crt": "cluster.aggregatorCA.crt",
    "certs.k8saggregator.key": "cluster.aggregatorCA.key",
    "certs.k8sserviceaccount.key": "cluster.serviceAccount.key",
    "certs.os.crt": "machine.ca.crt",
    "certs.os.key": "machine.ca.key",
}
_DOCUMENT_PATHS = {
    "cluster.id": ("DiscoveryIdentityConfig", "clusterID"),
    "cluster.secret": ("DiscoveryIdentityConfig", "clusterSecret"),
    "certs.k8s.crt": ("KubeAPIServerCAConfig", "issuingCA.cert"),
    "certs.k8s.key": ("KubeAPIServerCAConfig", "issuingCA.key"),
    "certs.k8saggregator.crt": ("KubeAggregatorCAConfig", "issuingCA.cert"),
    "certs.k8saggregator.key": ("KubeAggregatorCAConfig", "issuingCA.key"),
    "certs.k8sserviceaccount.key": ("KubeServiceAccountConfig", "issuer.privateKey"),
}
_ENCRYPTION_DOCUMENT = "KubeEtcdEncryptionConfig"


def read_bundle(file: str, text: Secret, problems: Problems) -> SecretsBundle | None:
    """Read the bundle of a decrypted file. None: the problems say why."""
    try:
        tree = read_yaml(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    return parse_bundle(tree, problems)


def parse_bundle(tree: MappingNode, problems: Problems) -> SecretsBundle | None:
    """Return the bundle of a tree. None: the problems say why."""
    values = BundleValues("the secrets bundle", problems)
    for name in (*REQUIRED_VALUES, *ENCRYPTION_SECRETS):
        values.put(name, text_at(tree, name), in_base64=name.startswith("certs."))
    return values.bundle(tree.at)


def import_bundle(file: str, text: Secret, problems: Problems) -> SecretsBundle | None:
    """Extract the bundle of a running cluster from a controller's configuration.

    None: the problems say why.
    """
    try:
        documents = parse_documents(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    old = documents.get(V1ALPHA1, [None])[0]
    machine_type = text_at(old, "machine.type")
    if machine_type is not None and machine_type.text == _WORKER:
        problems.error(
            "bundle.worker",
            f"{file} is the configuration of a worker",
            why="workers do not have the private keys of the authorities",
            fix="use the machine configuration of a controller",
            at=machine_type.at,
        )
        return None
    values = BundleValues("the machine configuration", problems)
    for name, path in _V1ALPHA1_PATHS.items():
        values.put(name, text_at(old, path), in_base64=name.startswith("certs."))
    for name, (kind, path) in _DOCUMENT_PATHS.items():
        values.put(name, text_at(documents.get(kind, [None])[0], path))
    values.put(_SECRETBOX, _secretbox_secret(documents.get(_ENCRYPTION_DOCUMENT, [None])[0]))
    return values.bundle(Position(file, 1, 1) if old is None else old.at)


def _secretbox_secret(document: MappingNode | None) -> ScalarNode | None:
    """Return the encryption key of secrets: the first provider of the first rule for them."""
    for resource in _items(document, "config.resources"):
        kinds = [
            item.text for item in _items(resource, "resources") if isinstance(item, ScalarNode)
        ]
        if "secrets" not in kinds:
            continue
        providers = _items(resource, "providers")
        keys = _items(providers[0], "secretbox.keys") if providers else []
        if keys:
            return text_at(keys[0], "secret")
    return None


def _items(node: object, path: str) -> list[ScalarNode | MappingNode | SequenceNode]:
    items = node_at(node, path) if isinstance(node, MappingNode) else None
    return items.items if isinstance(items, SequenceNode) else []
