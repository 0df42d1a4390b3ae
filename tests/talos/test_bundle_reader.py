"""Secrets bundles: what is missing, broken or withheld is named, and never invented."""

import base64
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.writers.yaml_writer import render_yaml_document
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import encode_pem, first_block
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CLIENT_LIFETIME
from stockman.talos.secrets.bundle import SecretsBundle, bundle_text
from stockman.talos.secrets.bundle_reader import REQUIRED_VALUES, import_bundle, read_bundle
from tests.talos.made import NOW, bundle, dice


def read(text: str) -> tuple[SecretsBundle | None, list[Problem]]:
    problems = Problems()
    return read_bundle("secrets.yaml", Secret(text), problems), list(problems)


def text_without(name: str) -> str:
    """The text of the bundle without one line, found by its path."""
    path: list[str] = []
    kept = []
    for line in bundle_text(bundle()).reveal().splitlines(keepends=True):
        key = line.strip().partition(":")[0]
        path = [*path[: (len(line) - len(line.lstrip())) // 4], key]
        if ".".join(path) != name:
            kept.append(line)
    return "".join(kept)


@pytest.mark.parametrize("name", REQUIRED_VALUES)
def test_a_missing_part_is_named_and_not_invented(name: str) -> None:
    secrets, problems = read(text_without(name))

    assert secrets is None
    assert [(problem.code, problem.what) for problem in problems] == [
        ("bundle.missing", f"the secrets bundle has no {name}")
    ]


def test_a_missing_encryption_secret_is_named_by_both_its_names() -> None:
    secrets, problems = read(text_without("secrets.secretboxencryptionsecret"))

    assert secrets is None
    assert "secretboxencryptionsecret or secrets.aescbc" in problems[0].what


def test_an_empty_file_lacks_everything_at_once() -> None:
    secrets, problems = read("")

    assert secrets is None
    assert len(problems) == len(REQUIRED_VALUES) + 1
    assert problems[0].where == Position("secrets.yaml", 1, 1)


def test_two_encryption_secrets_are_one_too_many() -> None:
    text = bundle_text(bundle()).reveal()

    secrets, problems = read(
        text.replace("trustdinfo", "    aescbcencryptionsecret: x\ntrustdinfo")
    )

    assert secrets is None
    assert [problem.code for problem in problems] == ["bundle.two-encryption-secrets"]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("certs.os.crt", "x", "not base64"),
        ("certs.os.crt", "eA==", "no `-----BEGIN"),
        ("certs.etcd.key", "eA==", "no `-----BEGIN"),
        ("certs.k8sserviceaccount.key", "eA==", "no `-----BEGIN"),
        ("secrets.bootstraptoken", "short", "not six letters"),
    ],
)
def test_a_broken_part_is_named_with_its_line(name: str, value: str, why: str) -> None:
    before, after = _around(name)

    secrets, problems = read(f"{before}{value}{after}")

    assert secrets is None
    (only,) = problems
    assert (only.code, only.what) == (
        "bundle.unreadable",
        f"{name} of the secrets bundle is invalid",
    )
    assert why in only.why
    assert isinstance(only.where, Position)
    assert only.where.line == before.count("\n") + 1


def test_a_key_of_another_certificate_is_told_apart() -> None:
    secrets_bundle = bundle()
    mixed = replace(secrets_bundle.certs.etcd, key=secrets_bundle.certs.k8s.key)
    text = bundle_text(
        replace(secrets_bundle, certs=replace(secrets_bundle.certs, etcd=mixed))
    ).reveal()

    _, (only,) = read(text)

    assert only.why == "it is not the key of certs.etcd.crt"


def test_a_certificate_that_cannot_sign_is_no_authority() -> None:
    secrets_bundle = bundle()
    period = ValidityPeriod.lasting(NOW, CLIENT_LIFETIME)
    leaf = issue_certificate(
        secrets_bundle.certs.os,
        CertificateRequest(period=period, purposes=(Purpose.CLIENT,)),
        dice(),
    )
    text = bundle_text(
        replace(secrets_bundle, certs=replace(secrets_bundle.certs, os=leaf))
    ).reveal()

    _, (only,) = read(text)

    assert only.why == "it may not sign other certificates"


@given(
    st.sampled_from([name for name in REQUIRED_VALUES if name.startswith("certs.")]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 255),
)
def test_a_changed_byte_ends_in_a_problem_or_in_a_bundle(
    name: str, position: float, byte: int
) -> None:
    before, after = _around(name)
    value = _text()[len(before) : -len(after)]
    block = first_block(base64.b64decode(value).decode())
    der = bytearray(block.der)
    der[int(position * len(der))] = byte

    secrets, problems = read(f"{before}{_base64(encode_pem(block.label, bytes(der)))}{after}")

    assert (secrets is None) == bool(problems)


def test_an_encrypted_file_is_called_so() -> None:
    text = re.sub(r"(?m)^( +\w+: ).+$", r"\1ENC[AES256_GCM,data:eA==,type:str]", _text())

    secrets, problems = read(text)

    assert secrets is None
    assert {problem.code for problem in problems} == {"bundle.withheld"}
    assert problems[0].fix == "decrypt it first"


def test_no_problem_shows_a_value() -> None:
    _, problems = read(_text().replace("crt: ", "crt: x").replace("token: ", "token: x"))

    shown = "\n".join(map(str, problems))
    assert len(problems) == 5
    assert bundle().secrets.bootstraptoken.reveal() not in shown
    assert "LS0t" not in shown


def test_what_is_no_yaml_is_refused_with_its_place() -> None:
    secrets, problems = read("cluster:\n  id: a\n  id: b\n")

    assert secrets is None
    assert [(problem.code, str(problem.where)) for problem in problems] == [
        ("yaml.duplicate-key", "secrets.yaml:3:3")
    ]


def v1alpha1(made: SecretsBundle) -> dict[str, object]:
    certs = made.certs
    return {
        "version": "v1alpha1",
        "machine": {
            "type": "controlplane",
            "token": made.trustdinfo.token.reveal(),
            "ca": _pair(certs.os.crt, certs.os.key),
        },
        "cluster": {
            "id": made.cluster.id,
            "secret": made.cluster.secret.reveal(),
            "token": made.secrets.bootstraptoken.reveal(),
            "secretboxEncryptionSecret": "an encryption secret",
            "ca": _pair(certs.k8s.crt, certs.k8s.key),
            "aggregatorCA": _pair(certs.k8saggregator.crt, certs.k8saggregator.key),
            "serviceAccount": {"key": _base64(certs.k8sserviceaccount.reveal())},
            "etcd": {"ca": _pair(certs.etcd.crt, certs.etcd.key)},
        },
    }


def documents_of_1_14(made: SecretsBundle, *, first_provider: str = "secretbox") -> str:
    certs = made.certs
    providers = [_secretbox("an encryption secret"), {"identity": {}}]
    if first_provider == "identity":
        providers.reverse()
    old = v1alpha1(made)
    old["cluster"] = {
        "token": made.secrets.bootstraptoken.reveal(),
        "etcd": {"ca": _pair(certs.etcd.crt, certs.etcd.key)},
    }
    others: list[dict[str, object]] = [
        {
            "kind": "DiscoveryIdentityConfig",
            "clusterID": made.cluster.id,
            "clusterSecret": made.cluster.secret.reveal(),
        },
        {
            "kind": "KubeAPIServerCAConfig",
            "issuingCA": {"cert": certs.k8s.crt, "key": certs.k8s.key.reveal()},
        },
        {
            "kind": "KubeAggregatorCAConfig",
            "issuingCA": {"cert": certs.k8saggregator.crt, "key": certs.k8saggregator.key.reveal()},
        },
        {
            "kind": "KubeServiceAccountConfig",
            "issuer": {"privateKey": certs.k8sserviceaccount.reveal()},
        },
        {
            "kind": "KubeEtcdEncryptionConfig",
            "config": {
                "resources": [
                    {"resources": ["configmaps"], "providers": [_secretbox("another")]},
                    {"resources": ["pods", "secrets"], "providers": providers},
                ]
            },
        },
    ]
    return "".join(render_yaml_document(document) for document in [old, *others])


def imported(text: str) -> tuple[SecretsBundle | None, list[Problem]]:
    problems = Problems()
    return import_bundle("controlplane.yaml", Secret(text), problems), list(problems)


def test_a_bundle_comes_back_from_a_machine_configuration() -> None:
    assert imported(render_yaml_document(v1alpha1(bundle()))) == (bundle(), [])


def test_a_bundle_comes_back_from_a_configuration_of_many_documents() -> None:
    assert imported(documents_of_1_14(bundle())) == (bundle(), [])


def test_only_the_first_provider_of_the_rule_for_secrets_counts() -> None:
    secrets, problems = imported(documents_of_1_14(bundle(), first_provider="identity"))

    assert secrets is None
    assert [problem.code for problem in problems] == ["bundle.missing"]


def test_the_configuration_of_a_worker_is_called_so() -> None:
    secrets, problems = imported(
        render_yaml_document(v1alpha1(bundle())).replace("controlplane", "worker")
    )

    assert secrets is None
    assert [(problem.code, str(problem.where)) for problem in problems] == [
        ("bundle.worker", "controlplane.yaml:4:9")
    ]


def test_masked_secrets_are_called_so() -> None:
    text = re.sub(r"(?m)^( +key: ).+$", r"\1'******'", render_yaml_document(v1alpha1(bundle())))

    secrets, problems = imported(text)

    assert secrets is None
    assert {problem.why for problem in problems} == {"Talos masked it"}
    assert len(problems) == 5


def test_a_place_in_a_later_document_keeps_its_line() -> None:
    text = documents_of_1_14(bundle())
    line = text[: text.index("privateKey")].count("\n") + 1

    _, (only,) = imported(re.sub(r"privateKey: \|\n(    .*\n)+", "privateKey: x\n", text))

    assert isinstance(only.where, Position)
    assert (only.code, only.where.line) == ("bundle.unreadable", line)


def _text() -> str:
    return bundle_text(bundle()).reveal()


def _around(name: str) -> tuple[str, str]:
    """The text before and after the value of one part."""
    parent, _, key = name.rpartition(".")
    section = _text().index(f"{parent.rpartition('.')[2]}:\n")
    start = _text().index(f" {key}: ", section) + len(f" {key}: ")
    return _text()[:start], _text()[_text().index("\n", start) :]


def _pair(crt: str, key: Secret) -> dict[str, object]:
    return {"crt": _base64(crt), "key": _base64(key.reveal())}


def _secretbox(secret: str) -> dict[str, object]:
    return {"secretbox": {"keys": [{"name": "key2", "secret": secret}]}}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
