"""Asking in the name of somebody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from stockman_lab.kube.access.attributes import Attributes, attributes_of, forbidden
from stockman_lab.kube.access.authenticating import ANONYMOUS
from stockman_lab.kube.access.authorizing import Authorization
from stockman_lab.kube.access.roles import ACCOUNT
from stockman_lab.kube.access.tokens import AUTHENTICATED, account_user
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.failures import Failure, bad_request

_USER, _UID = "impersonate-user", "impersonate-uid"
_GROUP, _EXTRA = "impersonate-group", "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"


def impersonated(request: Request, judge: Authorization, *, is_constrained: bool) -> User:
    """In whose name a request is made; raises `Failure`.

    Newer servers name what would have to be allowed for this one request (`is_constrained`).
    """
    headers = request.headers
    name = unquote(headers.get(_USER, ""))
    if not name:
        if any(header.startswith("impersonate-") and headers[header] for header in headers):
            raise _nobody(request, is_constrained=is_constrained)
        return request.user
    for wanted in _wanted(request, name):
        if not judge.decide(wanted).allowed:
            raise forbidden(_constrained(request, name) if is_constrained else wanted)
    return _user(request, name)


def _nobody(request: Request, *, is_constrained: bool) -> Failure:
    """Groups or the like are asked for, and nobody who has them."""
    if not is_constrained:
        text = "requested impersonation without impersonating a user"
        return Failure(500, "InternalError", f"Internal error occurred: {text}")
    groups, extra = _groups(request), _extra(request)
    uid = request.headers.get("impersonate-uid", "")
    shown = f'Name:"", UID:{_text(uid)}, Groups:{_texts(groups)}, Extra:{_map(extra)}'
    text = f"requested &user.DefaultInfo{{{shown}}} without impersonating a user name"
    return bad_request(text)


def _text(one: str) -> str:
    return json.dumps(one, ensure_ascii=False)


def _texts(several: tuple[str, ...]) -> str:
    told = ", ".join(map(_text, several))
    return f"[]string{{{told}}}" if several else "[]string(nil)"


def _map(extra: dict[str, tuple[str, ...]]) -> str:
    told = ", ".join(f"{_text(name)}:{_texts(extra[name])}" for name in sorted(extra))
    return f"map[string][]string{{{told}}}" if extra else "map[string][]string(nil)"


def _groups(request: Request) -> tuple[str, ...]:
    text = request.headers.get(_GROUP, "")
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _extra(request: Request) -> dict[str, tuple[str, ...]]:
    return {
        unquote(name.removeprefix(_EXTRA)): tuple(one.strip() for one in text.split(","))
        for name, text in request.headers.items()
        if name.startswith(_EXTRA)
    }


def _account(name: str) -> tuple[str, str] | None:
    space, sign, account = name.removeprefix(ACCOUNT).partition(":")
    return (space, account) if name.startswith(ACCOUNT) and sign else None


def _wanted(request: Request, name: str) -> Iterator[Attributes]:
    """What has to be allowed."""
    plain = Attributes(request.user, "impersonate", version="v1")
    account = _account(name)
    if account is not None:
        yield replace(plain, resource="serviceaccounts", namespace=account[0], name=account[1])
    else:
        yield replace(plain, resource="users", name=name)
    for group in _groups(request):
        yield replace(plain, resource="groups", name=group)
    of_users = replace(plain, group=_AUTHENTICATION)
    for key, values in _extra(request).items():
        for value in values:
            yield replace(of_users, resource="userextras", subresource=key, name=value)
    if request.headers.get(_UID):
        yield replace(of_users, resource="uids", name=request.headers[_UID])


def _constrained(request: Request, name: str) -> Attributes:
    attributes = attributes_of(request)
    mode = "user-info" if _account(name) is None else "serviceaccount"
    return replace(attributes, verb=f"impersonate-on:{mode}:{attributes.verb}")


def _user(request: Request, name: str) -> User:
    groups, account = _groups(request), _account(name)
    if account is not None and not groups:
        groups = account_user(*account).groups
    if name == ANONYMOUS.name:
        groups = groups or ANONYMOUS.groups
    elif AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return User(name, groups, request.headers.get(_UID, ""), _extra(request))
