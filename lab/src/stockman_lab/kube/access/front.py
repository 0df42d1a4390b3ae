"""An API server that asks everybody who they are, and lets them do what they may."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stockman_lab.kube.access.account_keys import account_key
from stockman_lab.kube.access.attributes import Attributes, attributes_of, forbidden
from stockman_lab.kube.access.authenticating import Authentication
from stockman_lab.kube.access.authorizing import Authorization
from stockman_lab.kube.access.escalating import check_escalation
from stockman_lab.kube.access.impersonating import impersonated
from stockman_lab.kube.access.reviews import handlers
from stockman_lab.kube.access.token_requests import token_requests
from stockman_lab.kube.access.tokens import Tokens
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.api.negotiating import Wanted
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.failures import Failure

_CONSTRAINED_FROM = 36
"""The minor from which on impersonation is allowed for single kinds of requests."""


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
        around = api.around
        tokens = None
        if trusted.service_account_key:
            key = account_key(trusted.service_account_key)
            tokens = Tokens(key, trusted.issuer, around, trusted.audiences)
            api.subresources["serviceaccounts", "token"] = token_requests(tokens)
        self.tokens = tokens
        self.authentication = Authentication(tokens, around)
        self.authorization = Authorization(api.store, around)
        api.creations |= handlers(self.authentication, self.authorization)
        minor = api.settings.version.split(".")[1]
        self._is_constrained = int(minor) >= _CONSTRAINED_FROM

    def handle(self, request: Request, certificate: bytes | None = None) -> Response:
        """The answer to a request, whose credentials are in its headers or in a certificate."""
        try:
            request, asked = self.admitted(request, certificate)
        except Failure as failure:
            return refusal(request, failure)
        return self.answer(request, asked)

    def admitted(
        self, request: Request, certificate: bytes | None = None
    ) -> tuple[Request, Attributes]:
        """A request with who makes it, and what it wants; raises `Failure`."""
        user = self.authentication.user(request.headers, certificate)
        request = replace(request, user=user)
        user = impersonated(request, self.authorization, is_constrained=self._is_constrained)
        request = replace(request, user=user)
        attributes = attributes_of(request)
        decided = self.authorization.decide(attributes)
        if not decided.allowed:
            raise forbidden(attributes, decided.reason)
        return request, attributes

    def answer(self, request: Request, asked: Attributes) -> Response:
        """The answer to a request that was let in."""
        try:
            check_escalation(self.api, self.authorization, request, asked)
        except Failure as failure:
            return refusal(request, failure)
        return self.api.handle(request)


def refusal(request: Request, failure: Failure) -> Response:
    """A refusal, as those who ask can read it."""
    agent = request.headers.get("user-agent", "")
    is_pretty = request.is_asked("pretty") or agent.startswith(("curl", "Wget", "Mozilla/5.0"))
    return answers.refused(failure, Wanted(pretty=is_pretty))
