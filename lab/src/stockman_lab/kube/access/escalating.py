"""Nobody gives away rights that they do not have."""

from __future__ import annotations

import json
from dataclasses import replace

from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.authenticating import MASTERS
from stockman_lab.kube.access.authorizing import Authorization
from stockman_lab.kube.access.rules import Rule, read_rules, uncovered
from stockman_lab.kube.api.messages import Request
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.failures import Named, forbidden, not_found
from stockman_lab.kube.objects import Object, metadata_of, part_of

GROUP = "rbac.authorization.k8s.io"
_ROLES = frozenset({"roles", "clusterroles"})
_BINDINGS = frozenset({"rolebindings", "clusterrolebindings"})
_WRITES = frozenset({"create", "update", "patch"})
_LARGEST_SUCCESS = 299


def check_escalation(api: Api, judge: Authorization, request: Request, asked: Attributes) -> None:
    """Refuse a role or a binding that would give more than whoever writes it has; `Failure`."""
    if asked.group != GROUP or asked.verb not in _WRITES or asked.subresource:
        return
    if asked.resource not in _ROLES | _BINDINGS or MASTERS in asked.user.groups:
        return
    made = _tried(api, request)
    if made is None:
        return
    name = str(metadata_of(made).get("name", ""))
    if asked.resource in _ROLES:
        if _may(judge, replace(asked, name=name), "escalate", asked.resource):
            return
        rules = read_rules(made)
    else:
        bound = _bound(judge, asked, made, name)
        if bound is None:
            return
        rules = bound
    missing = uncovered(judge.rules(asked.user, asked.namespace), rules)
    if missing:
        raise forbidden(Named(asked.resource, GROUP), name, _text(asked, missing))


def _tried(api: Api, request: Request) -> Object | None:
    """What would come of a request; None: it is refused for another reason, or changes nothing."""
    query = {**request.query, "dryRun": ["All"]}
    headers = {**request.headers, "accept": "application/json", "accept-encoding": ""}
    response = api.handle(replace(request, query=query, headers=headers))
    if response.status > _LARGEST_SUCCESS:
        return None
    found: Object = json.loads(response.body)
    return found


def _may(judge: Authorization, asked: Attributes, verb: str, resource: str) -> bool:
    return judge.decide(replace(asked, verb=verb, resource=resource)).allowed


def _bound(
    judge: Authorization, asked: Attributes, made: Object, name: str
) -> tuple[Rule, ...] | None:
    reference = part_of(made, "roleRef")
    role = str(reference.get("name", ""))
    plural = "roles" if reference.get("kind") == "Role" else "clusterroles"
    if _may(judge, replace(asked, name=role), "bind", plural):
        return None
    rules = judge.roles.rules_of(reference, asked.namespace)
    if rules is None:
        raise not_found(Named(asked.resource, GROUP), role)
    return rules


def _text(asked: Attributes, missing: list[Rule]) -> str:
    user = asked.user
    groups = " ".join(f'"{group}"' for group in user.groups)
    head = f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions'
    return "\n".join([f"{head} not currently held:", *(one.shown for one in missing)])
