"""Tokens on request: the subresource `token` of service accounts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from stockman_lab.kube.access.roles import ACCOUNT
from stockman_lab.kube.access.tokens import CLUSTER, Tokens
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.failures import Cause, Named, conflict, invalid, not_found
from stockman_lab.kube.objects import Object, metadata_of, part_of, written_time
from stockman_lab.kube.schema.resource import Resource

_SHORTEST, _USUAL = 600, 3600
_RESOURCE = Resource(
    "authentication.k8s.io", "v1", "tokenrequests", "", "TokenRequest", True, ("create",)
)


def token_requests(tokens: Tokens) -> Callable[[Call], Response]:
    """What answers those who ask for a token."""
    return lambda call: _issue_token(call, tokens)


def _issue_token(call: Call, tokens: Tokens) -> Response:
    account = call.context.found("serviceaccounts", call.namespace, call.name)
    if account is None:
        raise not_found(call.named, call.name)
    of_tokens = dataclasses.replace(call, route=dataclasses.replace(call.route, resource=_RESOURCE))
    spec = part_of(read_object(of_tokens), "spec")
    seconds = int(spec.get("expirationSeconds") or _USUAL)
    if seconds < _SHORTEST:
        why = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        cause = Cause("FieldValueInvalid", why, "spec.expirationSeconds")
        raise invalid(Named("", "authentication.k8s.io", "TokenRequest"), "", [cause])
    audiences = list(spec.get("audiences") or tokens.audiences)
    now = int(call.context.now)
    claims = {
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": tokens.issuer,
        "jti": call.context.dice.uuid(),
        CLUSTER: {
            "namespace": call.namespace,
            **_bound(call, spec),
            "serviceaccount": _reference(account),
        },
        "nbf": now,
        "sub": f"{ACCOUNT}{call.namespace}:{call.name}",
    }
    content: Object = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "creationTimestamp": written_time(now),
        },
        "spec": {
            "audiences": audiences,
            "expirationSeconds": seconds,
            "boundObjectRef": spec.get("boundObjectRef"),
        },
        "status": {
            "token": tokens.key.signed(claims),
            "expirationTimestamp": written_time(now + seconds),
        },
    }
    return answered(content, 201)


def _bound(call: Call, spec: Object) -> Object:
    """The pod that a token is bound to, if any."""
    reference = part_of(spec, "boundObjectRef")
    if reference.get("kind") != "Pod":
        return {}
    name = str(reference.get("name", ""))
    pod = call.context.found("pods", call.namespace, name)
    if pod is None:
        raise not_found(Named("pods"), name)
    if reference.get("uid") not in (None, "", metadata_of(pod).get("uid")):
        raise conflict(Named("pods"), name, "the UID in the bound object reference does not match")
    return {"pod": _reference(pod)}


def _reference(content: Object) -> Object:
    return {"name": metadata_of(content)["name"], "uid": metadata_of(content).get("uid")}
