"""Secrets bundles: how they are made and written."""

import base64
import re
from collections import Counter
from dataclasses import replace

import pytest

from stockman.crypto.certificates import key_matches_certificate, read_certificate_facts
from stockman.crypto.private_keys import Algorithm, algorithm_of, read_key
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.secrets.bundle import (
    SecretsBundle,
    bundle_text,
    new_bundle,
    new_cluster_id,
    new_token,
)
from stockman.talos.secrets.bundle_reader import AUTHORITIES, read_bundle
from tests.talos.made import NOW, bundle, dice

KEYS = """\
cluster:
    id:
    secret:
secrets:
    bootstraptoken:
    secretboxencryptionsecret:
trustdinfo:
    token:
certs:
    etcd:
        crt:
        key:
    k8s:
        crt:
        key:
    k8saggregator:
        crt:
        key:
    k8sserviceaccount:
        key:
    os:
        crt:
        key:
"""


@pytest.fixture(scope="module")
def new() -> SecretsBundle:
    return new_bundle(Version(1, 14), NOW, dice())


def test_a_new_bundle_is_whole_and_read_again(new: SecretsBundle) -> None:
    problems = Problems()

    assert read_bundle("secrets.yaml", bundle_text(new), problems) == new
    assert list(problems) == []


def test_authorities_are_those_of_talos(new: SecretsBundle) -> None:
    named = {
        name: read_certificate_facts(getattr(new.certs, name).crt).organizations
        for name in AUTHORITIES
    }
    kinds = {
        name: algorithm_of(read_key(getattr(new.certs, name).key)).value for name in AUTHORITIES
    }

    ecdsa = "ECDSA P-256"
    assert named == {
        "etcd": ("etcd",),
        "k8s": ("kubernetes",),
        "k8saggregator": (),
        "os": ("talos",),
    }
    assert kinds == {"etcd": ecdsa, "k8s": ecdsa, "k8saggregator": ecdsa, "os": "Ed25519"}
    for name in AUTHORITIES:
        pair = getattr(new.certs, name)
        assert key_matches_certificate(pair.crt, pair.key)
        assert (read_certificate_facts(pair.crt).period.end - NOW).days == 3650


def test_service_accounts_are_signed_with_a_large_rsa_key(new: SecretsBundle) -> None:
    key = read_key(new.certs.k8sserviceaccount)

    assert algorithm_of(key) is Algorithm.RSA
    assert key.public_key().key_size == 4096  # type: ignore[union-attr]  # RSA as said above


def test_random_values_have_the_size_that_talos_wants(new: SecretsBundle) -> None:
    assert new.secrets.secretboxencryptionsecret is not None
    for text in (new.cluster.secret, new.secrets.secretboxencryptionsecret):
        assert len(base64.b64decode(text.reveal(), validate=True)) == 32
    assert new.cluster.secret != new.secrets.secretboxencryptionsecret
    assert new.trustdinfo.token != new.secrets.bootstraptoken


@pytest.mark.parametrize(("contract", "alphabet"), [("1.13", "-_"), ("1.14", "+/")])
def test_the_contract_decides_the_alphabet_of_the_cluster_id(contract: str, alphabet: str) -> None:
    cluster_id = new_cluster_id(
        Version.parse(contract), lambda count: bytes([0xFB, 0xFF] * (count // 2))
    )

    assert len(cluster_id) == 44
    assert set(cluster_id) & set("+/-_") == set(alphabet)


def test_tokens_favour_no_letter() -> None:
    random_bytes = dice()
    tokens = [new_token(random_bytes).reveal() for _ in range(1_000)]

    assert all(re.fullmatch(r"[0-9a-z]{6}\.[0-9a-z]{16}", token) for token in tokens)
    seen = Counter("".join(tokens).replace(".", ""))
    assert len(seen) == 36
    assert max(seen.values()) < 1.3 * min(seen.values())


def test_the_text_has_the_keys_of_talosctl_in_its_order() -> None:
    text = bundle_text(bundle()).reveal()

    assert re.sub(r"(?m)^( *\w+:).*$", r"\1", text) == KEYS


def test_an_old_cluster_keeps_its_other_encryption_secret() -> None:
    new = bundle()
    secrets = replace(
        new.secrets, secretboxencryptionsecret=None, aescbcencryptionsecret=Secret("old")
    )
    old = replace(new, secrets=secrets)

    text = bundle_text(old)

    assert "    aescbcencryptionsecret: old\n" in text.reveal()
    assert "secretbox" not in text.reveal()
    assert read_bundle("secrets.yaml", text, Problems()) == old


def test_nothing_confidential_is_printed() -> None:
    shown = repr(bundle()) + str(bundle_text(bundle()))

    assert "PRIVATE" not in shown
    assert "encryption secret" not in shown
