"""Certificate signing requests: who may have which, approved and signed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from stockman.crypto.pem import CertificateAndKey
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time

if TYPE_CHECKING:
    from cryptography import x509

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
_YEAR = 365 * 24 * 3600
_SHORTEST = 600
_BACK = timedelta(minutes=5)
_NODES, _PREFIX = "system:nodes", "system:node:"
_CLIENT_USAGES = frozenset({"key encipherment", "digital signature", "client auth"})
_SERVING_USAGES = frozenset({"key encipherment", "digital signature", "server auth"})
RandomBytes = Callable[[int], bytes]


def is_approved(request: Object) -> bool:
    """Whether somebody approved a request, and nobody denied it."""
    types = {entry.get("type") for entry in entries_of(request, "status", "conditions")}
    return "Approved" in types and not types & {"Denied", "Failed"}


def approved(request: Object, now: float, reason: str, message: str) -> Object:
    """The request with the condition of who approved it."""
    return _with_condition(request, now, "Approved", reason, message)


def refused(request: Object, now: float, why: str) -> Object:
    """The request with the condition that its signer does not sign it."""
    return _with_condition(request, now, "Failed", "SignerValidationFailure", why)


def _with_condition(request: Object, now: float, kind: str, reason: str, message: str) -> Object:
    moment = written_time(now)
    condition = {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastUpdateTime": moment,
        "lastTransitionTime": moment,
    }
    status = part_of(request, "status")
    entries = [entry for entry in entries_of(status, "conditions") if entry.get("type") != kind]
    return {**request, "status": {**status, "conditions": [*entries, condition]}}


def flaw(request: Object) -> str:
    """Why a request is none that its signer signs. Empty: it is one."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    spec = part_of(request, "spec")
    try:
        pem_x509_csr = x509.load_pem_x509_csr(base64.b64decode(str(spec.get("request", ""))))
    except ValueError:
        return "the request cannot be read"
    if not pem_x509_csr.is_signature_valid:
        return "the request is not signed by its own key"
    names = [
        str(attribute.value)
        for attribute in pem_x509_csr.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    ]
    groups = [
        str(attribute.value)
        for attribute in pem_x509_csr.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    ]
    usages = frozenset(spec.get("usages") or ())
    alternatives = _alternatives(pem_x509_csr)
    signer = spec.get("signerName")
    if signer == CLIENT:
        return "" if "system:masters" not in groups else "system:masters is not signed"
    if groups != [_NODES]:
        return "subject organization is not system:nodes"
    if not names or not names[0].startswith(_PREFIX):
        return "subject common name does not begin with system:node:"
    if signer == KUBELET_CLIENT:
        if alternatives:
            return "DNS and IP subjectAltNames are not allowed"
        return _usages(usages, _CLIENT_USAGES, "client auth")
    if signer == KUBELET_SERVING:
        if not alternatives:
            return "DNS or IP subjectAltName is required"
        if spec.get("username") != names[0]:
            return "requested by somebody else than the node"
        return _usages(usages, _SERVING_USAGES, "server auth")
    return f"the signer {signer} is somebody else"


def _usages(found: frozenset[str], known: frozenset[str], needed: str) -> str:
    return "" if needed in found and found <= known else "usages did not match"


def _alternatives(found: x509.CertificateSigningRequest) -> bool:
    from cryptography import x509

    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    return len(list(names)) > 0


def approves_itself(request: Object) -> str:
    """The message with which the controller manager approves a request. Empty: it does not.

    That is so for client certificates of kubelets: the first one, and the next ones.
    """
    spec = part_of(request, "spec")
    if spec.get("signerName") != KUBELET_CLIENT or flaw(request):
        return ""
    if str(spec.get("username", "")).startswith(_PREFIX):
        return "Auto approving self kubelet client certificate after SubjectAccessReview."
    return "Auto approving kubelet client certificate after SubjectAccessReview."


def signed(request: Object, authority: CertificateAndKey, now: float, dice: RandomBytes) -> Object:
    """The request with its certificate, as the controller manager signs what is approved."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding

    from stockman.crypto.certificates import read_certificate
    from stockman.crypto.private_keys import read_key

    spec = part_of(request, "spec")
    pem_x509_csr = x509.load_pem_x509_csr(base64.b64decode(str(spec.get("request", ""))))
    parent, key = read_certificate(authority.crt), read_key(authority.key)
    seconds = max(int(spec.get("expirationSeconds") or _YEAR), _SHORTEST)
    moment = datetime.fromtimestamp(int(now), UTC)
    end = min(moment + timedelta(seconds=seconds), parent.not_valid_after_utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(pem_x509_csr.subject)
        .issuer_name(parent.subject)
        .public_key(pem_x509_csr.public_key())
        .serial_number(int.from_bytes(dice(16), "big") >> 1 | 1)
        .not_valid_before(moment - _BACK)
        .not_valid_after(end)
    )
    usages = set(spec.get("usages") or ())
    builder = builder.add_extension(_key_usage(usages), critical=True)
    extended = [oid for name, oid in _extended().items() if name in usages]
    if extended:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    plain = x509.BasicConstraints(ca=False, path_length=None)
    builder = builder.add_extension(plain, critical=True)
    if _alternatives(pem_x509_csr):
        names = pem_x509_csr.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        builder = builder.add_extension(names.value, critical=names.critical)
    hashed = isinstance(key, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey))
    made = builder.sign(key, hashes.SHA256() if hashed else None)
    text = base64.b64encode(made.public_bytes(Encoding.PEM)).decode()
    return {**request, "status": {**part_of(request, "status"), "certificate": text}}


def _key_usage(usages: set[str]) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature="digital signature" in usages,
        key_encipherment="key encipherment" in usages,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _extended() -> dict[str, x509.ObjectIdentifier]:
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return {
        "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
        "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    }


def node_of(request: Object) -> str:
    """The node for which a kubelet asks. Empty: it is none."""
    name = str(metadata_of(request) and part_of(request, "spec").get("username", ""))
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""
