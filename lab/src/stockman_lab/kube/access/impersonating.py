"""Acting in the name of another user, as `kubectl --as` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from stockman_lab.kube.access.attributes import Attributes, forbidden
from stockman_lab.kube.access.roles import ACCOUNT, Authorization
from stockman_lab.kube.access.tokens import AUTHENTICATED, account_user
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.failures import bad_request


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
