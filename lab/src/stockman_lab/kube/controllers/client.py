"""How controllers write: by requests to the API server, in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.objects import Object, metadata_of
from stockman_lab.kube.schema.resource import Resource


def read_time(text: object) -> float:
    """Seconds since 1970; 0 where there is no moment."""
    if not isinstance(text, str) or not text:
        return 0.0
    return datetime.fromisoformat(text).timestamp()


AGENT = "kube-controller-manager/v1.36.3"
_USER = User("system:kube-controller-manager", ("system:masters", "system:authenticated"))
_PLAIN = "application/json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"


class Refused(Exception):
    """The API server did not do it."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message

    @property
    def is_absent(self) -> bool:
        return self.code == 404

    @property
    def is_taken(self) -> bool:
        return self.reason == "AlreadyExists"


class Client:
    """Requests of the controller manager."""

    def __init__(self, api: Api, agent: str = AGENT, user: User = _USER) -> None:
        self._api = api
        self._agent = agent
        self._user = user
        self._resources: dict[tuple[str, str], Resource] = {}

    @property
    def api(self) -> Api:
        """The server."""
        return self._api

    def create(self, api_version: str, kind: str, content: Object) -> Object:
        """Create an object; raises `Refused`."""
        resource = self._resource(api_version, kind)
        namespace = str(metadata_of(content).get("namespace", ""))
        body = {"apiVersion": api_version, "kind": kind, **content}
        return self._give("POST", _path(resource, namespace), body)

    def update(self, content: Object, subresource: str = "") -> Object:
        """Put an object in place of what it was; raises `Refused`."""
        return self._give("PUT", self._place(content, subresource), content)

    def update_status(self, content: Object, status: Object) -> Object:
        """Give an object another status; raises `Refused`."""
        return self.update({**content, "status": status}, "status")

    def patch(self, content: Object, change: Object, subresource: str = "") -> Object:
        """Change an object by a merge patch; raises `Refused`."""
        return self._ask("PATCH", self._place(content, subresource), change, _MERGE)

    def patch_by_keys(self, content: Object, change: Object, subresource: str = "") -> Object:
        """Change an object by a strategic merge patch; raises `Refused`."""
        return self._ask("PATCH", self._place(content, subresource), change, _STRATEGIC)

    def delete(self, content: Object, propagation: str = "", *, grace: int | None = None) -> None:
        """Delete an object if it is still the same; raises `Refused` unless it is gone already."""
        options: Object = {"preconditions": {"uid": metadata_of(content).get("uid")}}
        if propagation:
            options["propagationPolicy"] = propagation
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            self._ask("DELETE", self._place(content), options)
        except Refused as why:
            if not why.is_absent and why.reason != "Conflict":
                raise

    def apply(self, content: Object, manager: str, *, dry_run: bool = False) -> Object:
        """Apply an object for a manager of fields, against all others; raises `Refused`."""
        query = {"fieldManager": [manager], "force": ["true"]}
        if dry_run:
            query["dryRun"] = ["All"]
        return self._ask("PATCH", self._place(content), content, _APPLY, query)

    def live(self, content: Object) -> Object | None:
        """What an object is now; None: there is none, or no such kind; raises `Refused`."""
        try:
            return self._ask("GET", self._place(content), {})
        except Refused as why:
            if why.is_absent:
                return None
            raise

    def acting(self, agent: str, user: User) -> Client:
        """The same server, asked by another program."""
        return Client(self._api, agent, user)

    def post(self, content: Object, subresource: str, body: Object) -> Object:
        """Create a subresource of an object; raises `Refused`."""
        return self._ask("POST", self._place(content, subresource), body)

    def resource_of(self, content: Object) -> Resource:
        """The resource of an object; raises `Refused`."""
        return self._resource(str(content.get("apiVersion")), str(content.get("kind")))

    def _place(self, content: Object, subresource: str = "") -> str:
        metadata = metadata_of(content)
        path = _path(self.resource_of(content), str(metadata.get("namespace", "")))
        below = f"/{subresource}" if subresource else ""
        return f"{path}/{metadata['name']}{below}"

    def _resource(self, api_version: str, kind: str) -> Resource:
        known = self._resources.get((api_version, kind))
        if known is not None:
            return known
        group, _, version = api_version.rpartition("/")
        resource = self._api.types.resource_of_kind(group, version, kind)
        if resource is None:
            raise Refused(404, "NotFound", f"no matches for kind {kind!r}")
        if not resource.is_custom:
            self._resources[api_version, kind] = resource
        return resource

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object],
        kind: str = _PLAIN,
        query: dict[str, list[str]] | None = None,
    ) -> Object:
        headers = {"user-agent": self._agent, "content-type": kind, "accept": _PLAIN}
        sent = json.dumps(body).encode()
        return self._read_answer(Request(method, path, query or {}, headers, sent, self._user))

    def _give(self, method: str, path: str, content: Object) -> Object:
        """Ask with an object that nobody has to write and read first."""
        headers = {"user-agent": self._agent, "content-type": _PLAIN, "accept": _PLAIN}
        return self._read_answer(Request(method, path, {}, headers, b"", self._user, content))

    def _read_answer(self, request: Request) -> Object:
        answer = self._api.handle(request)
        if answer.content is not None:
            return answer.content
        try:
            result = json.loads(answer.body)
        except ValueError:
            result = {}
        if answer.status >= 300:
            reason, text = str(result.get("reason", "")), str(result.get("message", ""))
            raise Refused(answer.status, reason, text)
        return result if isinstance(result, dict) else {}


def _path(resource: Resource, namespace: str) -> str:
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else "/api/v1"
    key = f"/namespaces/{namespace}" if resource.namespaced else ""
    return f"{base}{key}/{resource.plural}"
