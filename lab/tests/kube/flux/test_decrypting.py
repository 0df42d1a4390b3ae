"""Secrets of a repository are opened with the keys of the cluster."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stockman_lab.core.dice import Dice

from lab.tests.kube.flux.playing import APPS, SYSTEM, Fluxed, condition, fluxed
from stockman.crypto.age.identities import age_key_pair
from stockman.crypto.sops.files import EncryptionInputs, encrypt
from stockman.crypto.sops.selectors import EncryptionSettings, Selector

_DECRYPTION = {"provider": "sops", "secretRef": {"name": "sops-age"}}
_SECRET = b"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  word: wool\n"
_KEY = age_key_pair(b"k" * 32)
_PLACE = "/api/v1/namespaces/default/secrets/s"


def sealed(plain: bytes, name: str) -> str:
    recipe = EncryptionSettings(
        recipients=(_KEY.recipient,),
        selector=Selector(name="encrypted_regex", pattern="^(data|stringData)$")
        if name.endswith(".yaml")
        else Selector(),
    )
    fresh = EncryptionInputs(
        random_bytes=Dice(5).random_bytes, now=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return encrypt(plain, name, recipe, fresh).decode()


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    result = fluxed(tmp_path)
    result.commit({"s.yaml": sealed(_SECRET, "s.yaml")})
    result.source()
    return result


def give_keys(cluster: Fluxed, key: str) -> None:
    body = {"metadata": {"name": "sops-age"}, "stringData": {"age.agekey": key, "notes": "no"}}
    cluster.ask("POST", f"/api/v1/namespaces/{SYSTEM}/secrets", body)


def word(cluster: Fluxed, name: str = "word") -> str:
    return base64.b64decode(cluster.get(_PLACE)["data"][name]).decode()


def test_a_secret_is_opened_though_kustomize_changed_it(cluster: Fluxed) -> None:
    give_keys(cluster, _KEY.identity.reveal())
    app = cluster.app(targetNamespace="default", decryption=_DECRYPTION)
    assert condition(app)[0] == "True", condition(app)
    assert word(cluster) == "wool"
    assert "sops" not in cluster.get(_PLACE)


def test_another_key_does_not_open_it(cluster: Fluxed) -> None:
    give_keys(cluster, age_key_pair(b"x" * 32).identity.reveal())
    app = cluster.app(targetNamespace="default", decryption=_DECRYPTION)
    assert condition(app)[1] == "BuildFailed"
    assert condition(app)[2].startswith(
        "failed to decrypt and format 'default/s' Secret data: cannot get sops data key"
    )


def test_a_key_that_is_none_is_told(cluster: Fluxed) -> None:
    give_keys(cluster, "no key")
    app = cluster.app(targetNamespace="default", decryption=_DECRYPTION)
    assert condition(app)[2].startswith(
        f"failed to import 'age.agekey' data from sops decryption Secret '{SYSTEM}/sops-age'"
    )


def test_a_secret_that_nobody_opens_is_not_applied(cluster: Fluxed) -> None:
    app = cluster.app(targetNamespace="default")
    assert condition(app)[1] == "ReconciliationFailed"
    assert condition(app)[2] == (
        "Secret/default/s is SOPS encrypted, configuring decryption is required for this secret to"
        " be reconciled"
    )


def test_a_key_for_all_opens_what_names_no_secret(tmp_path: Path) -> None:
    cluster = fluxed(tmp_path, pods=False)
    cluster.run_pod("source-controller")
    cluster.run_pod("kustomize-controller", "--sops-age-secret=sops-age")
    cluster.run()
    cluster.commit({"s.yaml": sealed(_SECRET, "s.yaml")})
    cluster.source()
    waiting = cluster.app(targetNamespace="default", decryption={"provider": "sops"})
    assert condition(waiting)[2] == 'secrets "sops-age" not found'
    give_keys(cluster, _KEY.identity.reveal())
    cluster.request(f"{APPS}/app", "again")
    assert word(cluster) == "wool"
