"""Who asks: by a certificate, by a token, or nobody in particular."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from stockman_lab.kube.access.account_keys import BadToken
from stockman_lab.kube.access.tokens import AUTHENTICATED, Tokens
from stockman_lab.kube.admission.draft import AdmissionContext
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.failures import Failure

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


def unauthorized() -> Failure:
    """The refusal of somebody whose credentials are worth nothing."""
    return Failure(401, "Unauthorized", "Unauthorized")


@lru_cache(maxsize=256)
def certificate_user(certificate: bytes) -> User | None:
    """Whom a certificate (in DER) is for; None: it tells no name."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    der_x509_certificate = x509.load_der_x509_certificate(certificate)
    names = der_x509_certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not names or not names[0].value:
        return None
    groups = tuple(
        str(attribute.value)
        for attribute in der_x509_certificate.subject.get_attributes_for_oid(
            NameOID.ORGANIZATION_NAME
        )
    )
    digest = hashlib.sha256(certificate).hexdigest()
    extra = {"authentication.kubernetes.io/credential-id": (f"X509SHA256={digest}",)}
    return User(str(names[0].value), (*groups, AUTHENTICATED), "", extra)


@lru_cache(maxsize=256)
def certificate_ends(certificate: bytes) -> float:
    """The moment at which a certificate (in DER) ends, in seconds since 1970."""
    from cryptography import x509

    return x509.load_der_x509_certificate(certificate).not_valid_after_utc.timestamp()


class Authentication:
    """Knows everybody who may speak to a cluster."""

    def __init__(self, tokens: Tokens | None, context: AdmissionContext) -> None:
        self._tokens = tokens
        self._context = context

    def user(self, headers: Mapping[str, str], certificate: bytes | None = None) -> User:
        """Who asks; raises `Failure` where credentials are given that are worth nothing."""
        if certificate is not None:
            user = certificate_user(certificate)
            if user is not None and certificate_ends(certificate) >= self._context.now:
                return user
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() == "bearer" and token:
            if self._tokens is None:
                raise unauthorized()
            try:
                return self._tokens.user(token)
            except BadToken:
                raise unauthorized() from None
        if certificate is not None:
            raise unauthorized()
        return ANONYMOUS
