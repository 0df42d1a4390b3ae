"""An API server that asks everybody who they are, and lets them do what they may."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote

from stockman_lab.kube.access.account_keys import BadToken, account_key
from stockman_lab.kube.access.attributes import Attributes, attributes_of, forbidden
from stockman_lab.kube.access.reviews import handlers
from stockman_lab.kube.access.roles import ACCOUNT, Authorization
from stockman_lab.kube.access.token_requests import token_requests
from stockman_lab.kube.access.tokens import AUTHENTICATED, Tokens, account_user
from stockman_lab.kube.admission.draft import AdmissionContext
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.messages import Request, Response, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.failures import Failure, bad_request

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


def impersonated(request: Request, judge: Authorization) -> User:
    """In whose name a request is made; raises `Failure`."""
    name = unquote(request.headers.get("impersonate-user", ""))
    groups = tuple(filter(None, request.headers.get("impersonate-group", "").split(",")))
    if not name and groups:
        raise bad_request("requested impersonation without impersonating a user name")
    if not name:
        return request.user
    for needed in _rights(request.user, name, groups):
        if not judge.decide(needed).allowed:
            raise forbidden(needed)
    if name.startswith(ACCOUNT) and not groups:
        return account_user(*name.removeprefix(ACCOUNT).split(":", 1))
    return User(name, (*groups, AUTHENTICATED))


def _rights(user: User, name: str, groups: tuple[str, ...]) -> Iterator[Attributes]:
    """What the user has to be allowed to do."""
    plain = Attributes(user, "impersonate", version="v1")
    if name.startswith(ACCOUNT):
        namespace, _, account = name.removeprefix(ACCOUNT).partition(":")
        yield replace(plain, resource="serviceaccounts", namespace=namespace, name=account)
    else:
        yield replace(plain, resource="users", name=name)
    for group in groups:
        yield replace(plain, resource="groups", name=group)


@dataclass(frozen=True, slots=True)
class Trusted:
    """Whom a server believes."""

    service_account_key: str = ""
    """In PEM. Empty: there are no tokens."""
    issuer: str = ""
    audiences: tuple[str, ...] = ()


class Front:
    """Stands before an `Api`; certificates that it is shown were verified already."""

    def __init__(self, api: Api, trusted: Trusted) -> None:
        self.api = api
        context = api.context
        tokens = None
        if trusted.service_account_key:
            key = account_key(trusted.service_account_key)
            tokens = Tokens(key, trusted.issuer, context, trusted.audiences)
            api.subresources["serviceaccounts", "token"] = token_requests(tokens)

        self.authentication = Authentication(tokens, context)
        self.authorization = Authorization(api.store)
        api.creations |= handlers(self.authorization)

    def handle(self, request: Request, certificate: bytes | None = None) -> Response:
        """The answer to a request, whose credentials are in its headers or in a certificate."""
        try:
            request, _ = self.admitted(request, certificate)
        except Failure as failure:
            return answers.refused(failure)
        return self.api.handle(request)

    def admitted(
        self, request: Request, certificate: bytes | None = None
    ) -> tuple[Request, Attributes]:
        """A request with who makes it, and what it wants; raises `Failure`."""
        user = self.authentication.user(request.headers, certificate)
        request = replace(request, user=user)
        request = replace(request, user=impersonated(request, self.authorization))
        attributes = attributes_of(request)
        decided = self.authorization.decide(attributes)
        if not decided.allowed:
            raise forbidden(attributes, decided.reason)
        return request, attributes
