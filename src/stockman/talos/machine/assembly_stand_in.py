"""A bundle that belongs to no cluster, for trying what does not depend on secrets."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from stockman.crypto.certificates import Period, new_authority
from stockman.crypto.private_keys import Algorithm
from stockman.model.secret import Secret
from stockman.talos.bundle import (
    AUTHORITY_LIFETIME,
    Authorities,
    ClusterIdentity,
    KubernetesSecrets,
    SecretsBundle,
    TrustdInfo,
)

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

_TOKEN = ".".join(("standi", "n" * 16))
"""Has the form of a token, and opens nothing."""


def stand_in_bundle() -> SecretsBundle:
    """A bundle of the right form, made in a moment and good for no machine: one authority is all.

    Its texts are known, and it is made anew each time.
    """
    period = Period.lasting(_BEGIN, AUTHORITY_LIFETIME)
    pair = new_authority("stand-in", Algorithm.ED25519, period, _known)
    text = Secret(base64.b64encode(_known(32)).decode("ascii"))
    return SecretsBundle(
        cluster=ClusterIdentity(id=text.reveal(), secret=text),
        secrets=KubernetesSecrets(
            bootstraptoken=Secret(_TOKEN),
            secretboxencryptionsecret=text,
            aescbcencryptionsecret=None,
        ),
        trustdinfo=TrustdInfo(token=Secret(_TOKEN)),
        certs=Authorities(
            etcd=pair, k8s=pair, k8saggregator=pair, k8sserviceaccount=pair.key, os=pair
        ),
    )


def _known(count: int) -> bytes:
    return b"\1" * count
