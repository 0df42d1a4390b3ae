"""The parts of a secrets bundle as they were found, and the bundle that they make.

A part that is missing is named, never invented: one made anew would not fit a running cluster.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from stockman.config.source.tree import Scalar
from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.crypto.certificates import belongs, facts
from stockman.crypto.pem import NotPem
from stockman.crypto.private_keys import read_key
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.secret import Secret, is_encrypted
from stockman.talos.bundle import (
    Authorities,
    ClusterIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdInfo,
)

AUTHORITIES = ("etcd", "k8s", "k8saggregator", "os")
NEEDED = (
    "cluster.id",
    "cluster.secret",
    "secrets.bootstraptoken",
    "trustdinfo.token",
    *(f"certs.{name}.{half}" for name in AUTHORITIES for half in ("crt", "key")),
    "certs.k8sserviceaccount.key",
)
ENCRYPTION = ("secrets.secretboxencryptionsecret", "secrets.aescbcencryptionsecret")
"""Exactly one of these two has to be given."""

_TOKEN = re.compile(r"[0-9a-z]{6}\.[0-9a-z]{16}")
_REDACTED = "******"
"""What Talos shows instead of a secret."""


class Part(NamedTuple):
    """One value that was found, and where."""

    text: str
    at: Position


class Parts:
    """What was found of a bundle so far."""

    def __init__(self, source: str, problems: Problems) -> None:
        self._source = source
        """What it is read from, as a problem names it."""
        self._problems = problems
        self._found: dict[str, Part] = {}
        self._failed = False
        self._withheld: set[str] = set()

    def put(self, name: str, scalar: Scalar | None, *, in_base64: bool = False) -> None:
        """Keep the value of a part; None: it was not found."""
        if scalar is None:
            return
        if is_encrypted(scalar.text) or scalar.text == _REDACTED:
            self._withhold(name, scalar)
            return
        text = scalar.text
        if in_base64:
            decoded = _from_base64(text)
            if decoded is None:
                self._unreadable(name, "it is not base64 of a text", scalar.at)
                return
            text = decoded
        self._found[name] = Part(text, scalar.at)

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
                secretboxencryptionsecret=self._optional(ENCRYPTION[0]),
                aescbcencryptionsecret=self._optional(ENCRYPTION[1]),
            ),
            trustdinfo=TrustdInfo(token=self._secret("trustdinfo.token")),
            certs=Authorities(
                etcd=self._pair("etcd"),
                k8s=self._pair("k8s"),
                k8saggregator=self._pair("k8saggregator"),
                k8sserviceaccount=self._secret("certs.k8sserviceaccount.key"),
                os=self._pair("os"),
            ),
        )

    def _check_presence(self, missing_at: Position) -> None:
        present = self._found.keys() | self._withheld
        for name in NEEDED:
            if name not in present:
                self._missing(name, missing_at)
        given = [name for name in ENCRYPTION if name in present]
        if not given:
            self._missing(" or ".join(ENCRYPTION), missing_at)
        elif len(given) == len(ENCRYPTION):
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

    def _is_authority(self, name: str, crt: Part) -> bool:
        try:
            is_authority = facts(crt.text).is_authority
        except NotPem as error:
            self._unreadable(f"certs.{name}.crt", str(error), crt.at)
            return False
        if not is_authority:
            self._unreadable(f"certs.{name}.crt", "it may not sign other certificates", crt.at)
        return is_authority

    def _check_key(self, name: str, crt: Part, key: Part) -> None:
        try:
            if belongs(crt.text, Secret(key.text)):
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

    def _withhold(self, name: str, scalar: Scalar) -> None:
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


def _from_base64(text: str) -> str | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
