"""Requests of a program that is no controller of Kubernetes itself, and may not do everything."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stockman_lab.kube.access.attributes import attributes_of, forbidden
from stockman_lab.kube.access.roles import Authorization
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.objects import Object, metadata_of


class Writer(Client):
    """Reads and writes in the name of somebody, who is asked whether they may."""

    def __init__(self, api: Api, agent: str, user: User) -> None:
        super().__init__(api, agent, user)
        self._authorization = Authorization(api.store)

    def listed(self, version: str, kind: str, namespace: str, labels: str = "") -> list[Object]:
        """Objects of a kind in a namespace."""
        about = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace}}
        path = self._place({**about, "metadata": {"namespace": namespace, "name": ""}})
        query = {"labelSelector": [labels]} if labels else {}
        result = self._ask("GET", path.rstrip("/"), {}, "application/json", query)
        items = result.get("items") or []
        return [{"apiVersion": version, "kind": kind, **item} for item in items]

    def made(self, content: Object) -> Object:
        """Create an object; raises `Refused`."""
        return self.create(str(content["apiVersion"]), str(content["kind"]), content)

    def is_builtin(self, content: Object) -> bool:
        """Whether a kind is one of Kubernetes itself, which strategic patches are for."""
        return not self.resource_of(content).is_custom

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object],
        kind: str = "application/json",
        query: dict[str, list[str]] | None = None,
    ) -> Object:
        headers = {"user-agent": self._agent, "content-type": kind, "accept": "application/json"}
        sent = b"" if method == "GET" else json.dumps(body).encode()
        request = Request(method, path, query or {}, headers, sent, self._user)
        self._check(request)
        answer = self._api.handle(request)
        try:
            content = json.loads(answer.body)
        except ValueError:
            content = {}
        if answer.status >= 300:
            reason, text = str(content.get("reason", "")), str(content.get("message", ""))
            raise Refused(answer.status, reason, text)
        return content if isinstance(content, dict) else {}

    def _check(self, request: Request) -> None:
        attributes = attributes_of(request)
        decided = self._authorization.decide(attributes)
        if not decided.allowed:
            raise Refused(403, "Forbidden", forbidden(attributes, decided.reason).message)


def account(namespace: str, name: str) -> User:
    """A service account as the server knows it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", (*groups, "system:authenticated"))


def is_same_place(left: Object, right: Object) -> bool:
    """Whether two objects are meant to be one."""
    return _place_of(left) == _place_of(right)


def _place_of(content: Object) -> tuple[str, str, str, str]:
    about = metadata_of(content)
    group = str(content["apiVersion"]).rpartition("/")[0]
    return group, str(content["kind"]), str(about.get("namespace", "")), str(about["name"])
