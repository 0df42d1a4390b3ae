"""The parts of a secrets bundle as they were found, and the bundle that they make.

A part that is missing is named, never invented: one made anew would not fit a running cluster.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.certificates import key_matches_certificate, read_certificate_facts
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.crypto.private_keys import read_key
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.secret import Secret, is_encrypted
from stockman.talos.documents import V1ALPHA1, node_at, parse_documents, text_at
from stockman.talos.secrets.bundle import (
    ClusterAuthorities,
    ClusterIdentity,
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
"""Exactly one of these two has to be given."""

_TOKEN = re.compile(r"[0-9a-z]{6}\.[0-9a-z]{16}")
_REDACTED = "******"
"""What Talos shows instead of a secret."""


class BundleValue(NamedTuple):
    """One value that was found, and where."""

    text: str
    at: Position


class BundleValues:
    """What was found of a bundle so far."""

    def __init__(self, source: str, problems: Problems) -> None:
        self._source = source
        """What it is read from, as a problem names it."""
        self._problems = problems
        self._found: dict[str, BundleValue] = {}
        self._failed = False
        self._withheld: set[str] = set()

    def put(self, name: str, scalar: ScalarNode | None, *, in_base64: bool = False) -> None:
        """Keep the value of a part; None: it was not found."""
        if scalar is None:
            return
        if is_encrypted(scalar.text) or scalar.text == _REDACTED:
            self._withhold(name, scalar)
            return
        text = scalar.text
        if in_base64:
            decoded = _decode_base64(text)
            if decoded is None:
                self._unreadable(name, "it is not base64 of a text", scalar.at)
                return
            text = decoded
        self._found[name] = BundleValue(text, scalar.at)

    def bundle(self, missing_at: Position) -> SecretsBundle | None:
        """The bundle that the parts make. None: the problems say why."""
        self._check_presence(missing_at)
        self._check_forms()
        if self._failed:
            return None
        return SecretsBundle(
            cluster=ClusterIdentity(
                id=self._found["cluster.id"].text, secret=self._secret("cluster.secret")
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
        present = self._found.keys() | self._withheld
        for name in REQUIRED_VALUES:
            if name not in present:
                self._missing(name, missing_at)
        given = [name for name in ENCRYPTION_SECRETS if name in present]
        if not given:
            self._missing(" or ".join(ENCRYPTION_SECRETS), missing_at)
        elif len(given) == len(ENCRYPTION_SECRETS):
            self._failed = True
            self._problems.error(
                "bundle.two-encryption-secrets",
                f"{self._source} has two encryption secrets",
                why=f"etcd is encrypted with one of {' and '.join(given)}, not with both",
                fix="keep the one that the running cluster uses",
                at=self._place(given[-1], missing_at),
            )

    def _check_forms(self) -> None:
        token = self._found.get("secrets.bootstraptoken")
        if token is not None and _TOKEN.fullmatch(token.text) is None:
            why = "it is not six letters or digits, a dot, and sixteen more"
            self._unreadable("secrets.bootstraptoken", why, token.at)
        for name in AUTHORITIES:
            crt = self._found.get(f"certs.{name}.crt")
            key = self._found.get(f"certs.{name}.key")
            if crt is not None and self._is_authority(name, crt) and key is not None:
                self._check_key(name, crt, key)
        account = self._found.get("certs.k8sserviceaccount.key")
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
            crt=self._found[f"certs.{name}.crt"].text, key=self._secret(f"certs.{name}.key")
        )

    def _secret(self, name: str) -> Secret:
        return Secret(self._found[name].text)

    def _optional(self, name: str) -> Secret | None:
        return self._secret(name) if name in self._found else None

    def _place(self, name: str, otherwise: Position) -> Position:
        part = self._found.get(name)
        return otherwise if part is None else part.at

    def _missing(self, name: str, at: Position) -> None:
        self._failed = True
        self._problems.error(
            "bundle.missing",
            f"{self._source} has no {name}",
            why="a new one would not fit the machines and data that were made with the old one",
            fix="restore it from version control or a backup; a cluster that runs has all parts "
            "in the machine configuration of a controller",
            at=at,
        )

    def _unreadable(self, name: str, why: str, at: Position) -> None:
        self._failed = True
        self._withheld.add(name)
        self._problems.error(
            "bundle.unreadable",
            f"{name} of {self._source} cannot be used",
            why=why,
            fix="restore it from version control or a backup",
            at=at,
        )

    def _withhold(self, name: str, scalar: ScalarNode) -> None:
        self._failed = True
        self._withheld.add(name)
        encrypted = is_encrypted(scalar.text)
        self._problems.error(
            "bundle.withheld",
            f"{name} of {self._source} is not given in the clear",
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
    """The bundle of a decrypted file. None: the problems say why."""
    try:
        tree = read_yaml(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    return parse_bundle(tree, problems)


def parse_bundle(tree: MappingNode, problems: Problems) -> SecretsBundle | None:
    """The bundle that a tree holds. None: the problems say why."""
    parts = BundleValues("the secrets bundle", problems)
    for name in (*REQUIRED_VALUES, *ENCRYPTION_SECRETS):
        parts.put(name, text_at(tree, name), in_base64=name.startswith("certs."))
    return parts.bundle(tree.at)


def import_bundle(file: str, text: Secret, problems: Problems) -> SecretsBundle | None:
    """The bundle that a running cluster was made with, out of a controller's configuration.

    None: the problems say why.
    """
    try:
        found = parse_documents(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    old = found.get(V1ALPHA1, [None])[0]
    machine_type = text_at(old, "machine.type")
    if machine_type is not None and machine_type.text == _WORKER:
        problems.error(
            "bundle.worker",
            f"{file} is the configuration of a worker",
            why="workers hold no private keys of the authorities",
            fix="take the machine configuration of a controller",
            at=machine_type.at,
        )
        return None
    parts = BundleValues("the machine configuration", problems)
    for name, path in _V1ALPHA1_PATHS.items():
        parts.put(name, text_at(old, path), in_base64=name.startswith("certs."))
    for name, (kind, path) in _DOCUMENT_PATHS.items():
        parts.put(name, text_at(found.get(kind, [None])[0], path))
    parts.put(_SECRETBOX, _secretbox_secret(found.get(_ENCRYPTION_DOCUMENT, [None])[0]))
    return parts.bundle(Position(file, 1, 1) if old is None else old.at)


def _secretbox_secret(document: MappingNode | None) -> ScalarNode | None:
    """The key that secrets are encrypted with: the first provider of the first rule for them."""
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
    found = node_at(node, path) if isinstance(node, MappingNode) else None
    return found.items if isinstance(found, SequenceNode) else []
