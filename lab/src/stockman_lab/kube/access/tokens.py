"""Tokens of service accounts: what they claim, and for how long that holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from stockman_lab.kube.access.account_keys import AccountKey, BadToken
from stockman_lab.kube.access.roles import ACCOUNT
from stockman_lab.kube.admission.draft import AdmissionContext
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.objects import Object, metadata_of, part_of

CLUSTER = "kubernetes.io"
AUTHENTICATED = "system:authenticated"
_EXTRA = "authentication.kubernetes.io"
_LEEWAY = 60.0
"""Seconds for which those that are being deleted still count, and clocks may differ."""


class Tokens:
    """Tells which user a token of one cluster stands for."""

    def __init__(
        self,
        key: AccountKey,
        issuer: str,
        context: AdmissionContext,
        audiences: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.issuer = issuer
        self.audiences = tuple(audiences) or (issuer,)
        self._context = context

    def user(self, token: str) -> User:
        """The service account of a token; raises `BadToken`."""
        claims = self.key.claims(token)
        audiences = claims.get("aud") or []
        is_ours = claims.get("iss") == self.issuer and set(audiences) & set(self.audiences)
        since, until = float(claims.get("nbf", 0)) - _LEEWAY, float(claims.get("exp", 0))
        if not is_ours or not since <= self._context.now <= until:
            raise BadToken(token)
        bound = part_of(claims, CLUSTER)
        namespace, account = str(bound.get("namespace", "")), part_of(bound, "serviceaccount")
        self._check_exists("serviceaccounts", namespace, account)
        user = account_user(namespace, str(account["name"]))
        extra = {}
        pod = part_of(bound, "pod")
        if pod:
            self._check_exists("pods", namespace, pod)
            extra[f"{_EXTRA}/pod-name"] = (str(pod.get("name")),)
        return replace(user, uid=str(account.get("uid", "")), extra=extra)

    def _check_exists(self, plural: str, namespace: str, reference: Object) -> None:
        """Refuse a token that is bound to something that is gone."""
        content = self._context.found(plural, namespace, str(reference.get("name", "")))
        if content is None or metadata_of(content).get("uid") != reference.get("uid"):
            raise BadToken(plural)
        gone = metadata_of(content).get("deletionTimestamp")
        if gone and datetime.fromisoformat(gone).timestamp() < self._context.now - _LEEWAY:
            raise BadToken(plural)


def account_user(namespace: str, name: str) -> User:
    """A service account as a user."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"{ACCOUNT}{namespace}:{name}", groups)
