"""A bundle for tests that need one: whole, but without an RSA key, which takes a second."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import count

from stockman.crypto.certificates import RandomBytes, ValidityPeriod, create_authority
from stockman.crypto.pem import CertificateAndKey
from stockman.crypto.private_keys import Algorithm, generate_key, key_pem
from stockman.model.secret import Secret
from stockman.talos.secrets.bundle import (
    AUTHORITY_LIFETIME,
    ClusterAuthorities,
    DiscoveryIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdSecrets,
    new_token,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def dice() -> RandomBytes:
    """Bytes that look random and are the same each time."""
    throws = count()

    def random_bytes(length: int) -> bytes:
        drawn = b"".join(sha256(b"%d" % next(throws)).digest() for _ in range(length // 32 + 1))
        return drawn[:length]

    return random_bytes


@cache
def bundle() -> SecretsBundle:
    random_bytes = dice()
    period = ValidityPeriod.lasting(NOW, AUTHORITY_LIFETIME)

    def authority(name: str, algorithm: Algorithm = Algorithm.ECDSA) -> CertificateAndKey:
        return create_authority(name, algorithm, period, random_bytes)

    return SecretsBundle(
        cluster=DiscoveryIdentity(id="an id", secret=Secret("a secret")),
        secrets=KubernetesSecrets(
            bootstraptoken=new_token(random_bytes),
            secretboxencryptionsecret=Secret("an encryption secret"),
            aescbcencryptionsecret=None,
        ),
        trustdinfo=TrustdSecrets(token=Secret("a token")),
        certs=ClusterAuthorities(
            etcd=authority("etcd"),
            k8s=authority("kubernetes"),
            k8saggregator=authority(""),
            k8sserviceaccount=key_pem(generate_key(Algorithm.ECDSA)),
            os=authority("talos", Algorithm.ED25519),
        ),
    )
