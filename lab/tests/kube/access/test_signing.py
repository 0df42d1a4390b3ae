"""Certificate signing requests of kubelets."""

from __future__ import annotations

import base64

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from stockman_lab.core.dice import Dice
from stockman_lab.doors.kube_certificates import authority_of
from stockman_lab.kube.access.authenticating import certificate_user
from stockman_lab.kube.access.signing import (
    KUBELET_CLIENT,
    KUBELET_SERVING,
    approved,
    approves_itself,
    flaw,
    is_approved,
    signed,
)
from stockman_lab.kube.objects import Object

from lab.tests.talos.staged import machine, staged

CLIENT = ["digital signature", "client auth"]
SERVING = ["digital signature", "server auth"]
NODE = "system:node:first"


def request(
    signer: str, usages: list[str], *dns: str, group: str = "system:nodes", user: str = NODE
) -> Object:
    key = ec.generate_private_key(ec.SECP256R1())
    names = [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, group),
        x509.NameAttribute(NameOID.COMMON_NAME, NODE),
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names))
    if dns:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(one) for one in dns])
        builder = builder.add_extension(alternatives, critical=False)
    text = builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    spec = {
        "request": base64.b64encode(text).decode(),
        "signerName": signer,
        "usages": usages,
        "username": user,
    }
    return {"metadata": {"name": "one"}, "spec": spec}


@pytest.mark.parametrize(
    ("asked", "is_good"),
    [
        (request(KUBELET_CLIENT, CLIENT), True),
        (request(KUBELET_CLIENT, CLIENT, "first"), False),
        (request(KUBELET_CLIENT, SERVING), False),
        (request(KUBELET_CLIENT, CLIENT, group="system:masters"), False),
        (request(KUBELET_SERVING, SERVING, "first"), True),
        (request(KUBELET_SERVING, SERVING), False),
        (request(KUBELET_SERVING, SERVING, "first", user="system:node:second"), False),
        (request("example.com/other", CLIENT), False),
        ({"spec": {"request": "wool", "signerName": KUBELET_CLIENT}}, False),
    ],
)
def test_only_what_belongs_to_kubelets_is_signed(asked: Object, is_good: bool) -> None:
    assert (flaw(asked) == "") is is_good


def test_the_first_certificate_of_a_kubelet_is_approved_by_itself() -> None:
    first = request(KUBELET_CLIENT, CLIENT, user="system:bootstrap:abcdef")
    serving = request(KUBELET_SERVING, SERVING, "first")

    assert approves_itself(first).startswith("Auto approving kubelet client")
    assert approves_itself(request(KUBELET_CLIENT, CLIENT)).startswith("Auto approving self")
    assert not approves_itself(serving)


def test_what_is_approved_becomes_a_certificate() -> None:
    found = machine(staged())
    assert found.config is not None
    asked = approved(request(KUBELET_CLIENT, CLIENT), found.now, "AutoApproved", "well")
    assert is_approved(asked)

    done = signed(asked, authority_of(found.config), found.now, Dice(1).random_bytes)

    text = base64.b64decode(done["status"]["certificate"])
    pem_x509_certificate = x509.load_pem_x509_certificate(text)
    user = certificate_user(pem_x509_certificate.public_bytes(Encoding.DER))
    assert user is not None
    assert (user.name, user.groups) == (NODE, ("system:nodes", "system:authenticated"))
    pem_x509_certificate.verify_directly_issued_by(
        x509.load_pem_x509_certificate(found.config.k8s_ca.crt.encode())
    )
