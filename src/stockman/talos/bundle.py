"""The secrets bundle: everything confidential that a cluster is made of, made once.

The file has exactly the form of `talosctl gen secrets`; fields are named as its keys.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version

if TYPE_CHECKING:
    from stockman.crypto.certificates import RandomBytes

AUTHORITY_LIFETIME = timedelta(hours=87_600)
"""How long the authorities of a cluster hold: ten years of 365 days."""

_RANDOM_BYTES = 32
_TOKEN_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_TOKEN_PARTS = (6, 16)
_FAIR = 252
"""Random bytes from here on would favour the first letters of the alphabet."""
_STANDARD_ID = Version(1, 14)
"""The contract from which on the id of a cluster is written in the standard alphabet."""


@record
class ClusterIdentity:
    """Who the cluster is to the discovery service."""

    id: str
    secret: Secret


@record
class KubernetesSecrets:
    """What Kubernetes keeps to itself. Exactly one of the two encryption secrets is given."""

    bootstraptoken: Secret
    secretboxencryptionsecret: Secret | None
    """None: an old cluster that encrypts etcd with AES-CBC."""
    aescbcencryptionsecret: Secret | None
    """None: etcd is encrypted with secretbox."""


@record
class TrustdInfo:
    """What a worker shows to a controller to get its certificate."""

    token: Secret


@record
class Authorities:
    """The four authorities of a cluster and the key that signs service account tokens."""

    etcd: CertificateAndKey
    k8s: CertificateAndKey
    k8saggregator: CertificateAndKey
    k8sserviceaccount: Secret
    """The private key as PEM text."""
    os: CertificateAndKey


@record
class SecretsBundle:
    """Everything confidential that a cluster is made of."""

    cluster: ClusterIdentity
    secrets: KubernetesSecrets
    trustdinfo: TrustdInfo
    certs: Authorities


def new_bundle(contract: Version, now: datetime, random_bytes: RandomBytes) -> SecretsBundle:
    """A bundle for a cluster that does not exist yet. Takes a second: it makes an RSA key."""
    from stockman.crypto.certificates import Period, new_authority
    from stockman.crypto.private_keys import Algorithm, key_pem, new_key

    period = Period.lasting(now, AUTHORITY_LIFETIME)

    def authority(organization: str, algorithm: Algorithm) -> CertificateAndKey:
        return new_authority(organization, algorithm, period, random_bytes)

    return SecretsBundle(
        cluster=ClusterIdentity(
            id=new_cluster_id(contract, random_bytes),
            secret=_random_text(random_bytes),
        ),
        secrets=KubernetesSecrets(
            bootstraptoken=new_token(random_bytes),
            secretboxencryptionsecret=_random_text(random_bytes),
            aescbcencryptionsecret=None,
        ),
        trustdinfo=TrustdInfo(token=new_token(random_bytes)),
        certs=Authorities(
            etcd=authority("etcd", Algorithm.ECDSA),
            k8s=authority("kubernetes", Algorithm.ECDSA),
            k8saggregator=authority("", Algorithm.ECDSA),
            k8sserviceaccount=key_pem(new_key(Algorithm.RSA)),
            os=authority("talos", Algorithm.ED25519),
        ),
    )


def bundle_text(bundle: SecretsBundle) -> Secret:
    """The text of the bundle's file, byte for byte as `talosctl gen secrets` writes it."""
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
                "etcd": _encoded(certs.etcd),
                "k8s": _encoded(certs.k8s),
                "k8saggregator": _encoded(certs.k8saggregator),
                "k8sserviceaccount": {"key": _base64(certs.k8sserviceaccount.reveal())},
                "os": _encoded(certs.os),
            },
        }
    )
    return Secret(text)


def new_token(random_bytes: RandomBytes) -> Secret:
    """A token of six and of sixteen letters and digits, all of them equally likely."""
    return Secret(".".join(_letters(length, random_bytes) for length in _TOKEN_PARTS))


def new_cluster_id(contract: Version, random_bytes: RandomBytes) -> str:
    """The id of a new cluster; its alphabet is that of the Talos version that the contract names.

    Every Talos takes either.
    """
    is_standard = contract.line >= _STANDARD_ID.line
    encode = base64.standard_b64encode if is_standard else base64.urlsafe_b64encode
    return encode(random_bytes(_RANDOM_BYTES)).decode("ascii")


def _letters(length: int, random_bytes: RandomBytes) -> str:
    found = ""
    while len(found) < length:
        thrown = random_bytes(length - len(found))
        found += "".join(
            _TOKEN_ALPHABET[one % len(_TOKEN_ALPHABET)] for one in thrown if one < _FAIR
        )
    return found


def _random_text(random_bytes: RandomBytes) -> Secret:
    return Secret(base64.b64encode(random_bytes(_RANDOM_BYTES)).decode("ascii"))


def _encoded(pair: CertificateAndKey) -> dict[str, str]:
    return {"crt": _base64(pair.crt), "key": _base64(pair.key.reveal())}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
