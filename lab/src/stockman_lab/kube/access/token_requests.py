"""Tokens on request: the subresource `token` of service accounts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from stockman_lab.kube.access.roles import ACCOUNT
from stockman_lab.kube.access.tokens import CLUSTER, Tokens
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import writing
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.failures import Cause, Named, bad_request, conflict, invalid, not_found
from stockman_lab.kube.objects import Object, metadata_of, part_of, written_time
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.schema.resource import Resource

_SHORTEST, _LONGEST, _USUAL = 600, 1 << 32, 3600
_PROJECTED = 3607
"""Seconds that the tokens in pods last by their specification; really it is a year."""
_YEAR = 365 * 24 * 3600
_RESOURCE = Resource(
    "authentication.k8s.io", "v1", "tokenrequests", "", "TokenRequest", True, ("create",)
)
_PLURALS = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


def token_requests(tokens: Tokens) -> Callable[[Call], Response]:
    """What answers those who ask for a token."""
    return lambda call: _requested(call, tokens)


def _requested(call: Call, tokens: Tokens) -> Response:
    account = call.around.found("serviceaccounts", call.namespace, call.name)
    if account is None:
        raise not_found(call.named, call.name)
    of_tokens = dataclasses.replace(call, route=dataclasses.replace(call.route, resource=_RESOURCE))
    found = read_object(of_tokens)
    spec = part_of(found, "spec")
    seconds = int(spec.get("expirationSeconds") or _USUAL)
    audiences = list(spec.get("audiences") or tokens.audiences)
    _check(found, seconds)
    found["spec"] = {**spec, "expirationSeconds": seconds}
    written = track_update(None, found, writing(of_tokens, found))
    now = int(call.around.now)
    bound = _bound(call, spec)
    lasting = seconds
    about: Object = {"namespace": call.namespace, **bound}
    about["serviceaccount"] = _named(account)
    if seconds == _PROJECTED and "pod" in bound and audiences == list(tokens.audiences):
        lasting = _YEAR
        about["warnafter"] = now + seconds
    claims = {
        "aud": audiences,
        "exp": now + lasting,
        "iat": now,
        "iss": tokens.issuer,
        "jti": call.around.dice.uuid(),
        CLUSTER: about,
        "nbf": now,
        "sub": f"{ACCOUNT}{call.namespace}:{call.name}",
    }
    made: Object = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "uid": metadata_of(account).get("uid"),
            "creationTimestamp": written_time(now),
            "managedFields": metadata_of(written).get("managedFields", []),
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
    return answered(made, call.wanted, 201)


def _check(found: Object, seconds: int) -> None:
    where = "spec.expirationSeconds"
    why = ""
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        cause = Cause("FieldValueInvalid", f"Invalid value: {seconds}: {why}", where)
        named = Named("", "authentication.k8s.io", "TokenRequest")
        raise invalid(named, str(metadata_of(found).get("name", "")), [cause])


def _bound(call: Call, spec: Object) -> Object:
    """What a token is bound to, in the order in which it tells it."""
    reference = part_of(spec, "boundObjectRef")
    if not reference:
        return {}
    kind = str(reference.get("kind"))
    if kind not in _PLURALS:
        gvk = f"{reference.get('apiVersion', '')}, Kind={kind}"
        raise bad_request(f"cannot bind token for serviceaccount to object {gvk}")
    plural, name = _PLURALS[kind], str(reference.get("name", ""))
    found = call.around.found(plural, "" if kind == "Node" else call.namespace, name)
    if found is None:
        raise not_found(Named(plural), name)
    uid = metadata_of(found).get("uid")
    if reference.get("uid") and reference["uid"] != uid:
        why = (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID"
            f" in record. The object might have been deleted and then recreated"
        )
        raise conflict(Named(plural), name, why)
    if kind != "Pod":
        return {kind.lower(): _named(found)}
    if part_of(found, "spec").get("serviceAccountName") != call.name:
        raise bad_request(
            f"cannot bind token for serviceaccount {call.name!r} to pod running with different"
            f" serviceaccount name.".replace("'", '"')
        )
    node = call.around.found("nodes", "", str(part_of(found, "spec").get("nodeName", "")))
    return ({} if node is None else {"node": _named(node)}) | {"pod": _named(found)}


def _named(found: Object) -> Object:
    return {"name": metadata_of(found)["name"], "uid": metadata_of(found).get("uid")}
