"""Reviews: asking the server who somebody is, and what they may."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.roles import Authorization
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.messages import Response, User
from stockman_lab.kube.failures import bad_request
from stockman_lab.kube.objects import Object, part_of, written_time

AUTHORIZATION = "authorization.k8s.io"
AUTHENTICATION = "authentication.k8s.io"
Handler = Callable[[Call], Response]


def handlers(judge: Authorization) -> dict[tuple[str, str], Handler]:
    """What answers those who create reviews, by group and plural."""
    return {
        (AUTHORIZATION, "selfsubjectaccessreviews"): lambda call: _access(call, judge),
        (AUTHORIZATION, "selfsubjectrulesreviews"): lambda call: _rules(call, judge),
        (AUTHENTICATION, "selfsubjectreviews"): _myself,
    }


def _access(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    spec = part_of(content, "spec")
    decision = judge.decide(_attributes(spec, call.request.user))
    status: Object = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    return _review_response(call, content, {"spec": spec, "status": status})


def _attributes(spec: Object, user: User) -> Attributes:
    plain = part_of(spec, "nonResourceAttributes")
    if plain:
        return Attributes(user, str(plain.get("verb", "")), path=str(plain.get("path") or "/"))
    resource = part_of(spec, "resourceAttributes")
    if not resource:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise bad_request(why)
    words = ("verb", "group", "resource", "subresource", "namespace", "name")
    return Attributes(user, *(str(resource.get(word) or "") for word in words))


def _rules(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    namespace = part_of(content, "spec").get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    rules = judge.rules(call.request.user, str(namespace))
    status = {
        "resourceRules": [rule.content for rule in rules if rule.resources],
        "nonResourceRules": [rule.content for rule in rules if rule.paths],
        "incomplete": False,
    }
    return _review_response(call, content, {"spec": {}, "status": status})


def _myself(call: Call) -> Response:
    user = call.request.user
    about = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {name: list(texts) for name, texts in user.extra.items()},
    }
    supplied = {name: value for name, value in about.items() if value}
    return _review_response(call, read_object(call), {"status": {"userInfo": supplied}})


def _review_response(call: Call, content: Object, more: Object) -> Response:
    head = {"kind": content["kind"], "apiVersion": content["apiVersion"]}
    metadata = {"creationTimestamp": written_time(call.context.now)}
    return answered({**head, "metadata": metadata, **more}, 201)
