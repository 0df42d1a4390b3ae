"""The secrets bundle: all secrets of a cluster, generated once.

The file has exactly the format of `talosctl gen secrets`; fields are named like its keys.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from stockman.crypto.pem import CertificateAndKey, encode_pem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.documents import encode_base64

if TYPE_CHECKING:
    from stockman.crypto.certificates import RandomBytes
    from stockman.crypto.private_keys import Algorithm

AUTHORITY_LIFETIME = timedelta(hours=87_600)
"""Lifetime of a cluster's authorities: ten years of 365 days."""

_RANDOM_BYTES = 32
_TOKEN_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_TOKEN_PARTS = (6, 16)
_UNBIASED_LIMIT = 252
"""Larger random bytes would make the first letters of the alphabet more likely."""
_STANDARD_ID = Version(1, 14)
"""The first contract whose cluster IDs use the standard base64 alphabet."""


@record
class DiscoveryIdentity:
    """Identity of the cluster at the discovery service."""

    id: str
    secret: Secret


@record
class KubernetesSecrets:
    """Secrets of Kubernetes. Exactly one of the two encryption secrets is set."""

    bootstraptoken: Secret
    secretboxencryptionsecret: Secret | None
    """None: an old cluster that encrypts etcd with AES-CBC."""
    aescbcencryptionsecret: Secret | None
    """None: etcd is encrypted with secretbox."""


@record
class TrustdSecrets:
    """Token with which a worker requests its certificate."""

    token: Secret


@record
class ClusterAuthorities:
    """The four authorities of a cluster, and the key that signs service account tokens."""

    etcd: CertificateAndKey
    k8s: CertificateAndKey
    k8saggregator: CertificateAndKey
    k8sserviceaccount: Secret
    """The private key as PEM text."""
    os: CertificateAndKey


@record
class SecretsBundle:
    """All secrets of a cluster."""

    cluster: DiscoveryIdentity
    secrets: KubernetesSecrets
    trustdinfo: TrustdSecrets
    certs: ClusterAuthorities


def new_bundle(contract: Version, now: datetime, random_bytes: RandomBytes) -> SecretsBundle:
    """Generate a bundle for a new cluster. Takes a second because of an RSA key."""
    from stockman.crypto.certificates import ValidityPeriod, create_authority
    from stockman.crypto.private_keys import Algorithm, generate_key, key_pem

    period = ValidityPeriod.backdated(now, AUTHORITY_LIFETIME)

    def authority(organization: str, algorithm: Algorithm) -> CertificateAndKey:
        return create_authority(organization, algorithm, period, random_bytes)

    return SecretsBundle(
        cluster=DiscoveryIdentity(
            id=new_cluster_id(contract, random_bytes),
            secret=_random_text(random_bytes),
        ),
        secrets=KubernetesSecrets(
            bootstraptoken=new_token(random_bytes),
            secretboxencryptionsecret=_random_text(random_bytes),
            aescbcencryptionsecret=None,
        ),
        trustdinfo=TrustdSecrets(token=new_token(random_bytes)),
        certs=ClusterAuthorities(
            etcd=authority("etcd", Algorithm.ECDSA),
            k8s=authority("kubernetes", Algorithm.ECDSA),
            k8saggregator=authority("", Algorithm.ECDSA),
            k8sserviceaccount=key_pem(generate_key(Algorithm.RSA)),
            os=authority("talos", Algorithm.ED25519),
        ),
    )


def bundle_text(bundle: SecretsBundle) -> Secret:
    """Return the text of a bundle, byte for byte as `talosctl gen secrets` writes it."""
    secrets = {"bootstraptoken": bundle.secrets.bootstraptoken.reveal()}
    for name in ("aescbcencryptionsecret", "secretboxencryptionsecret"):
        value: Secret | None = getattr(bundle.secrets, name)
        if value is not None:
            secrets[name] = value.reveal()
    certs = bundle.certs
    from stockman.talos.go_yaml import dump

    text = dump(
        {
            "cluster": {"id": bundle.cluster.id, "secret": bundle.cluster.secret.reveal()},
            "secrets": secrets,
            "trustdinfo": {"token": bundle.trustdinfo.token.reveal()},
            "certs": {
                "etcd": _encode_pair(certs.etcd),
                "k8s": _encode_pair(certs.k8s),
                "k8saggregator": _encode_pair(certs.k8saggregator),
                "k8sserviceaccount": {"key": encode_base64(certs.k8sserviceaccount.reveal())},
                "os": _encode_pair(certs.os),
            },
        }
    )
    return Secret(text)


def new_token(random_bytes: RandomBytes) -> Secret:
    """Return a random token of 6 and 16 letters and digits, all equally likely."""
    return Secret(".".join(_random_letters(length, random_bytes) for length in _TOKEN_PARTS))


def new_cluster_id(contract: Version, random_bytes: RandomBytes) -> str:
    """Return a random cluster ID in the base64 alphabet of the contract's Talos version.

    Every Talos version accepts both alphabets.
    """
    is_standard = contract.line >= _STANDARD_ID.line
    encode = base64.standard_b64encode if is_standard else base64.urlsafe_b64encode
    return encode(random_bytes(_RANDOM_BYTES)).decode("ascii")


def _random_letters(length: int, random_bytes: RandomBytes) -> str:
    letters = ""
    while len(letters) < length:
        candidates = random_bytes(length - len(letters))
        letters += "".join(
            _TOKEN_ALPHABET[number % len(_TOKEN_ALPHABET)]
            for number in candidates
            if number < _UNBIASED_LIMIT
        )
    return letters


def _random_text(random_bytes: RandomBytes) -> Secret:
    return Secret(base64.b64encode(random_bytes(_RANDOM_BYTES)).decode("ascii"))


def _encode_pair(pair: CertificateAndKey) -> dict[str, str]:
    return {"crt": encode_base64(pair.crt), "key": encode_base64(pair.key.reveal())}


_PLACEHOLDER_BYTES = b"\1" * _RANDOM_BYTES

_PLACEHOLDER_TOKEN = ".".join(("standi", "n" * 16))
"""Has the form of a token, but is not a secret."""


def placeholder_bundle() -> SecretsBundle:
    """Return a bundle for checks of patches: it has the form of a bundle, but no real keys."""
    pair = CertificateAndKey(
        crt=encode_pem("CERTIFICATE", _PLACEHOLDER_BYTES),
        key=Secret(encode_pem("ED25519 PRIVATE KEY", _PLACEHOLDER_BYTES)),
    )
    text = Secret(base64.b64encode(_PLACEHOLDER_BYTES).decode("ascii"))
    return SecretsBundle(
        cluster=DiscoveryIdentity(id=text.reveal(), secret=text),
        secrets=KubernetesSecrets(
            bootstraptoken=Secret(_PLACEHOLDER_TOKEN),
            secretboxencryptionsecret=text,
            aescbcencryptionsecret=None,
        ),
        trustdinfo=TrustdSecrets(token=Secret(_PLACEHOLDER_TOKEN)),
        certs=ClusterAuthorities(
            etcd=pair, k8s=pair, k8saggregator=pair, k8sserviceaccount=pair.key, os=pair
        ),
    )
