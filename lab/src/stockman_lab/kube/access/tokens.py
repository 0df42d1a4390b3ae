"""Tokens of service accounts: what they claim, and for how long that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from stockman_lab.kube.access.account_keys import AccountKey, BadToken
from stockman_lab.kube.access.roles import ACCOUNT
from stockman_lab.kube.admission.draft import Surroundings
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.objects import Object, metadata_of, part_of

LEGACY_ISSUER = "kubernetes/serviceaccount"
CLUSTER = "kubernetes.io"
AUTHENTICATED = "system:authenticated"
_LEGACY = "kubernetes.io/serviceaccount"
_EXTRA = "authentication.kubernetes.io"
_LEEWAY = 60.0
"""Seconds for which those that are being deleted still count, and clocks may differ."""
_BOUND = {"pod": "pods", "secret": "secrets", "node": "nodes"}


class WrongAudience(Exception):
    """A token for somebody else."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A token that holds."""

    user: User
    audiences: tuple[str, ...]


class Tokens:
    """Says who is behind the tokens of one cluster."""

    def __init__(
        self,
        key: AccountKey,
        issuer: str,
        surroundings: Surroundings,
        audiences: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.issuer = issuer
        self.audiences = tuple(audiences) or (issuer,)
        self._around = surroundings

    def verified(self, token: str, audiences: Sequence[str] = ()) -> Verified:
        """Who shows a token; raises `BadToken` or `WrongAudience`."""
        claims = self.key.claims(token)
        if claims.get("iss") == LEGACY_ISSUER:
            return Verified(self._legacy(claims, token), self.audiences)
        if claims.get("iss") != self.issuer:
            raise BadToken(token)
        self._check_time(claims)
        aud = claims.get("aud") or []
        aud = [aud] if isinstance(aud, str) else [str(one) for one in aud]
        wanted = audiences or self.audiences
        common = tuple(one for one in wanted if one in aud)
        if not common:
            shown = [" ".join(f'"{one}"' for one in some) for some in (aud, wanted)]
            text = f"token audiences [{shown[0]}] is invalid for the target audiences [{shown[1]}]"
            raise WrongAudience(text)
        return Verified(self._bound(claims), common)

    def _check_time(self, claims: Object) -> None:
        now = self._around.now
        if not float(claims.get("nbf", 0)) - _LEEWAY <= now <= float(claims.get("exp", 0)):
            raise BadToken("time")

    def _bound(self, claims: Object) -> User:
        told = part_of(claims, CLUSTER)
        space = str(told.get("namespace", ""))
        account = part_of(told, "serviceaccount")
        self._there("serviceaccounts", space, account)
        extra = {f"{_EXTRA}/credential-id": (f"JTI={claims['jti']}",)} if "jti" in claims else {}
        for name, plural in _BOUND.items():
            found = part_of(told, name)
            if not found:
                continue
            if name != "node" or "pod" not in told:
                self._there(plural, "" if name == "node" else space, found)
            if name != "secret":
                extra[f"{_EXTRA}/{name}-name"] = (str(found.get("name")),)
                extra[f"{_EXTRA}/{name}-uid"] = (str(found.get("uid")),)
        return account_user(space, str(account["name"]), str(account.get("uid", "")), extra)

    def _legacy(self, claims: Object, token: str) -> User:
        import base64

        space = str(claims.get(f"{_LEGACY}/namespace", ""))
        secret = self._around.found("secrets", space, str(claims.get(f"{_LEGACY}/secret.name", "")))
        kept = "" if secret is None else str((secret.get("data") or {}).get("token", ""))
        if kept != base64.b64encode(token.encode()).decode():
            raise BadToken(token)
        account: Object = {
            "name": claims.get(f"{_LEGACY}/service-account.name"),
            "uid": claims.get(f"{_LEGACY}/service-account.uid"),
        }
        self._there("serviceaccounts", space, account)
        return account_user(space, str(account["name"]), str(account["uid"]), {})

    def _there(self, plural: str, namespace: str, told: Object) -> None:
        """Refuse what is bound to something that is gone."""
        found = self._around.found(plural, namespace, str(told.get("name", "")))
        if found is None or metadata_of(found).get("uid") != told.get("uid"):
            raise BadToken(plural)
        gone = metadata_of(found).get("deletionTimestamp")
        if gone and datetime.fromisoformat(gone).timestamp() < self._around.now - _LEEWAY:
            raise BadToken(plural)


def account_user(
    namespace: str, name: str, uid: str = "", extra: Mapping[str, tuple[str, ...]] | None = None
) -> User:
    """A service account as somebody who asks."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"{ACCOUNT}{namespace}:{name}", groups, uid, extra or {})


def legacy_claims(namespace: str, secret: str, account: Object) -> Object:
    """What a token says that is kept in a secret and never ends."""
    name, uid = metadata_of(account)["name"], metadata_of(account)["uid"]
    return {
        "iss": LEGACY_ISSUER,
        f"{_LEGACY}/namespace": namespace,
        f"{_LEGACY}/secret.name": secret,
        f"{_LEGACY}/service-account.name": name,
        f"{_LEGACY}/service-account.uid": uid,
        "sub": f"{ACCOUNT}{namespace}:{name}",
    }
