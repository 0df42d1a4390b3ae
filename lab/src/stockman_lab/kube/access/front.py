"""An API server that asks everybody who they are, and lets them do what they may."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stockman_lab.kube.access.account_keys import account_key
from stockman_lab.kube.access.attributes import Attributes, attributes_of, forbidden
from stockman_lab.kube.access.authenticating import Authentication
from stockman_lab.kube.access.impersonating import impersonated
from stockman_lab.kube.access.reviews import handlers
from stockman_lab.kube.access.roles import Authorization
from stockman_lab.kube.access.token_requests import token_requests
from stockman_lab.kube.access.tokens import Tokens
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.failures import Failure


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
