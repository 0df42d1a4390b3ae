"""Reviews: asking the server who somebody is, and what they may."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.access.account_keys import BadToken
from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.authenticating import Authentication
from stockman_lab.kube.access.authorizing import Authorization
from stockman_lab.kube.access.nodes import NODES
from stockman_lab.kube.access.tokens import WrongAudience
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import set_namespace, writing
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.messages import Response, User
from stockman_lab.kube.failures import Cause, Named, bad_request, invalid
from stockman_lab.kube.objects import Object, in_order, part_of, written_time
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.schema.rewriting import rewritten

AUTHORIZATION = "authorization.k8s.io"
AUTHENTICATION = "authentication.k8s.io"
Handler = Callable[[Call], Response]


def handlers(who: Authentication, judge: Authorization) -> dict[tuple[str, str], Handler]:
    """What answers those who create reviews, by group and plural."""
    return {
        (AUTHORIZATION, "selfsubjectaccessreviews"): lambda call: _self(call, judge),
        (AUTHORIZATION, "subjectaccessreviews"): lambda call: _subject(call, judge),
        (AUTHORIZATION, "localsubjectaccessreviews"): lambda call: _local(call, judge),
        (AUTHORIZATION, "selfsubjectrulesreviews"): lambda call: _rules(call, judge),
        (AUTHENTICATION, "selfsubjectreviews"): _myself,
        (AUTHENTICATION, "tokenreviews"): lambda call: _token(call, who),
    }


def user_content(user: User) -> Object:
    """Somebody, as reviews tell it."""
    made: Object = {"username": user.name} if user.name else {}
    if user.uid:
        made["uid"] = user.uid
    if user.groups:
        made["groups"] = list(user.groups)
    if user.extra:
        made["extra"] = {name: list(texts) for name, texts in user.extra.items()}
    return made


def _self(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    _check(part_of(content, "spec"))
    return _decided(call, content, judge, call.request.user)


def _subject(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    _check(part_of(content, "spec"), has_user=True)
    return _decided(call, content, judge, _told_user(content))


def _local(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    set_namespace(call, content)
    spec = part_of(content, "spec")
    _check(spec, has_user=True)
    space = part_of(spec, "resourceAttributes").get("namespace", "")
    if space != call.namespace:
        why = f'Invalid value: "{space}": must match metadata.namespace'
        raise _invalid([Cause("FieldValueInvalid", why, "spec.resourceAttributes.namespace")])
    return _decided(call, content, judge, _told_user(content))


def _told_user(content: Object) -> User:
    spec = part_of(content, "spec")
    extra = {name: tuple(texts) for name, texts in (spec.get("extra") or {}).items()}
    groups = tuple(spec.get("groups") or ())
    return User(str(spec.get("user") or ""), groups, str(spec.get("uid") or ""), extra)


def _check(spec: Object, *, has_user: bool = False) -> None:
    causes = []
    given = [one for one in ("resourceAttributes", "nonResourceAttributes") if one in spec]
    if len(given) != 1:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        which = "resourceAttributes" if not given else "nonResourceAttributes"
        text = f"Invalid value: null: {why}"
        causes.append(Cause("FieldValueInvalid", text, f"spec.{which}"))
    if has_user and not spec.get("user") and not spec.get("groups"):
        text = 'Invalid value: "": at least one of user or group must be specified'
        causes.append(Cause("FieldValueInvalid", text, "spec.user"))
    if causes:
        raise _invalid(causes)


def _invalid(causes: list[Cause]) -> Exception:
    return invalid(Named("", AUTHORIZATION), "", causes)


def asked_in(spec: Object, user: User) -> Attributes:
    """What a review asks about."""
    plain = part_of(spec, "nonResourceAttributes")
    if plain:
        return Attributes(user, str(plain.get("verb", "")), path=str(plain.get("path") or "/"))
    about = part_of(spec, "resourceAttributes")
    words = ("verb", "group", "resource", "subresource", "namespace", "name")
    return Attributes(user, *(str(about.get(one) or "") for one in words))


def _decided(call: Call, content: Object, judge: Authorization, user: User) -> Response:
    decide = judge.decide(asked_in(part_of(content, "spec"), user))
    status: Object = {"allowed": decide.allowed}
    if decide.reason:
        status["reason"] = decide.reason
    return _written(call, _tracked(call, content), status)


def _tracked(call: Call, content: Object) -> Object:
    return track_update(None, content, writing(call, content))


def _written(call: Call, content: Object, status: Object) -> Response:
    shaped = rewritten(call.shape, {"spec": content.get("spec") or {}})
    spec = part_of(shaped if isinstance(shaped, dict) else {}, "spec")
    made = in_order({**content, "spec": spec, "status": status})
    return answered(made, call.wanted, 201)


def _rules(call: Call, judge: Authorization) -> Response:
    content = read_object(call)
    namespace = part_of(content, "spec").get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    rules = judge.rules(call.request.user, str(namespace))
    status: Object = {
        "resourceRules": [rule.content for rule in rules if rule.resources],
        "nonResourceRules": [rule.content for rule in rules if rule.paths],
        "incomplete": False,
    }
    if NODES in call.request.user.groups:
        why = "node authorizer does not support user rule resolution"
        status |= {"incomplete": True, "evaluationError": why}
    return _written(call, {**_head(content), "metadata": {}, "spec": {}}, status)


def _head(content: Object) -> Object:
    return {"kind": content["kind"], "apiVersion": content["apiVersion"]}


def _myself(call: Call) -> Response:
    content = _head(read_object(call))
    content["metadata"] = {"creationTimestamp": written_time(call.around.now)}
    content["status"] = {"userInfo": user_content(call.request.user)}
    return answered(content, call.wanted, 201)


def _token(call: Call, who: Authentication) -> Response:
    content = read_object(call)
    spec = part_of(content, "spec")
    token = str(spec.get("token") or "")
    if not token:
        raise bad_request("token is required for TokenReview in authentication")
    status: Object
    try:
        token_user = who.token_user(token, tuple(spec.get("audiences") or ()))
    except BadToken:
        status = {"user": {}, "error": "invalid bearer token"}
    except WrongAudience as why:
        status = {"user": {}, "error": f"[invalid bearer token, {why}]"}
    else:
        status = {"authenticated": True, "user": user_content(token_user.user)}
        status["audiences"] = list(token_user.audiences)
    return _written(call, _tracked(call, content), status)
