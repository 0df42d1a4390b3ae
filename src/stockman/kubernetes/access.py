"""Calls about rights and tokens."""

from __future__ import annotations

from stockman.kubernetes.calls import Calls, Change
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.rows import OddAnswer, Row, moment, part, text, text_or_none, yes
from stockman.model.secret import Secret
from stockman.ports.kubernetes.access import Token, TokenWish, Verdict
from stockman.ports.kubernetes.errors import Right
from stockman.ports.kubernetes.kinds import SERVICE_ACCOUNTS, Ref

_AUTHORIZATION = "authorization.k8s.io"


class AccessCalls(Calls):
    """`ports.kubernetes.access.Access` over a wire."""

    async def may(self, right: Right) -> Verdict:
        resource, _, subresource = right.resource.partition("/")
        wanted = {
            "verb": right.verb,
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": right.namespace,
            "name": right.name,
        }
        change = Change(
            method="POST",
            path=("apis", _AUTHORIZATION, "v1", "selfsubjectaccessreviews"),
            content={
                "apiVersion": f"{_AUTHORIZATION}/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {key: one for key, one in wanted.items() if one}},
            },
            manager="",
            is_read=True,
        )
        return await self._change(change, _verdict)

    async def token(self, wish: TokenWish) -> Token:
        ref = Ref(kind=SERVICE_ACCOUNTS, name=wish.account, namespace=wish.namespace)
        change = Change(
            method="POST",
            path=object_path(ref, "token"),
            content={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": [*wish.audiences], "expirationSeconds": wish.seconds},
            },
            manager="",
        )
        return await self._change(change, _token)


def _verdict(row: Row) -> Verdict:
    status = part(row, "status")
    if "allowed" not in status:
        raise OddAnswer("allowed is not told")
    return Verdict(allowed=yes(status, "allowed"), why=text_or_none(status, "reason"))


def _token(row: Row) -> Token:
    status = part(row, "status")
    expires = moment(status, "expirationTimestamp")
    if expires is None:
        raise OddAnswer("expirationTimestamp is not told")
    return Token(value=Secret(text(status, "token"), resolved=True), expires=expires)
