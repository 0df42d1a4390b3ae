"""The API server: one request in, one answer out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.core.dice import Dice
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.index import family
from stockman_lab.etcd.keyspace import Keyspace
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.admission_context import Settings, StoredContext
from stockman_lab.kube.api.binding import bind
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import create
from stockman_lab.kube.api.definitions import establish, finish, is_definition
from stockman_lab.kube.api.deleting import delete, delete_many
from stockman_lab.kube.api.listing import Page, get, list_objects
from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.api.metrics import GROUP as METRICS_GROUP
from stockman_lab.kube.api.metrics import node_metrics, served_kinds
from stockman_lab.kube.api.negotiating import negotiated
from stockman_lab.kube.api.patches import patch
from stockman_lab.kube.api.routes import NotAnObject, Route, not_allowed, read_route
from stockman_lab.kube.api.subresources import Handler, answer_subresource
from stockman_lab.kube.api.updating import update
from stockman_lab.kube.api.watching import table_of, watched
from stockman_lab.kube.discovery.discovery import Discovery
from stockman_lab.kube.failures import Failure
from stockman_lab.kube.schema.crd import Crd, read_crd
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.store.entries import Entry, Unreadable
from stockman_lab.kube.store.store import Store

_MOST_DEFINITIONS = 1024
"""How many are remembered, of all servers of the process."""
_DEFINITIONS = ObjectKey("customresourcedefinitions", "").key + b"/"
_API_SERVICES = ObjectKey("apiservices", "").key + b"/"

_ONLY_READ = frozenset({"version", "api", "apis", "openapi/v2", "openapi/v3"})


@lru_cache(maxsize=_MOST_DEFINITIONS)
def _read_definition(entry: Entry) -> Crd:
    """Only those that changed are read again."""
    return read_crd(entry.content)


class Api:
    """An API server on the etcd of its cluster."""

    def __init__(
        self,
        connect: Callable[[], EtcdClient],
        dice: Dice,
        settings: Settings | None = None,
        store: Store | None = None,
    ) -> None:
        self.store = store or Store(connect)
        self.settings = settings or Settings()
        self.context = StoredContext(self.store, dice, self.settings)
        self.subresources: dict[tuple[str, str], Handler] = {}
        """By plural and name: those that others serve."""
        self.creations: dict[tuple[str, str], Handler] = {("", "bindings"): bind}
        """By group and plural: what answers those who create objects that are not stored."""
        self._types = Types.of_server()
        self._definitions_of: Keyspace | None = None
        self._definitions_at = (0, 0)
        self._discovery: Discovery | None = None
        self._discovered: Types | None = None

    @property
    def types(self) -> Types:
        """All kinds, with those of the definitions that are there now."""
        keyspace = self.store.keyspace
        last_change = keyspace.index.touched.get
        touched = (
            last_change(family(_DEFINITIONS), 0),
            last_change(family(_API_SERVICES), 0),
        )
        if self._definitions_of is not keyspace or self._definitions_at != touched:
            self._definitions_of, self._definitions_at = keyspace, touched
            self._types = Types.of_server()
            read = [*self._crds(), *served_kinds(self.store)]
            if read:
                self._types = Types(read)
        return self._types

    def _crds(self) -> list[Crd]:
        """The definitions that are there now."""
        return [
            _read_definition(entry)
            for entry in self.store.list(_DEFINITIONS, cached=True).entries
            if entry.content.get("spec", {}).get("versions")
        ]

    def handle(self, request: Request) -> Response:
        """The answer to a request."""
        self.store.hold()
        try:
            return self._respond_or_refuse(request)
        finally:
            self.store.let_go()

    def _respond_or_refuse(self, request: Request) -> Response:
        try:
            response = self._answer(request)
        except Failure as failure:
            response = answers.refused(failure)
        except Unreadable as key:
            text = f"unable to decode the object under {key}"
            response = answers.refused(Failure(500, "InternalError", text))
        except EtcdError as why:
            if why.reason is Reason.DEADLINE:
                return answers.timed_out()
            response = answers.refused(_from_etcd(why))
        return answers.compressed(response, request.headers.get("accept-encoding", ""))

    def _answer(self, request: Request) -> Response:
        types = self.types
        try:
            route = read_route(request.method, request.path, types)
        except NotAnObject:
            return self._told(request, types)
        desired = negotiated(request.headers.get("accept", ""))
        call = Call(request, route, desired, types, self.store, self.context)
        try:
            response = self._serve(call, route)
        except Failure as failure:
            response = answers.refused(failure)
        response.warnings += [_warning(fromkey) for fromkey in dict.fromkeys(call.warnings)]
        return response

    def _told(self, request: Request, types: Types) -> Response:
        """What the server says of itself."""
        if request.method != "GET" and request.path.strip("/") in _ONLY_READ:
            raise not_allowed()
        if self._discovery is None or self._discovered is not types:
            self._discovered = types
            self._discovery = Discovery(types, self.settings.version, self.settings.address)
        failing = () if self._has_quorum() else ("etcd",)
        accept = request.headers.get("accept", "")
        reply = self._discovery.reply(request.path, request.query, accept, failing)
        if reply is None or "//" in request.path:
            return answers.plain("404 page not found\n", 404)
        headers = {"Content-Type": reply.content_type, **reply.headers}
        return Response(reply.status, headers, reply.body)

    def _has_quorum(self) -> bool:
        try:
            self.store.revision()
        except EtcdError:
            return False
        return True

    def _serve(self, call: Call, route: Route) -> Response:
        if route.subresource:
            return answer_subresource(call, self.subresources)
        if route.verb == "create":
            special = self.creations.get((route.resource.group, route.resource.plural))
            if special is not None:
                return special(call)
            if route.resource.verbs == ("create",):
                text = f"the lab does not answer {route.resource.qualified}"
                raise Failure(501, "NotImplemented", text)
        watches = route.verb == "watch" or call.request.is_asked("watch")
        if route.resource.group == METRICS_GROUP and not watches:
            entries = node_metrics(call)
            return _object(call, entries[0]) if route.name else _list(call, Page(entries, {}))
        match route.verb:
            case "list" | "watch" if watches:
                return watched(call)
            case "get":
                return _object(call, get(call))
            case "list":
                return _list(call, list_objects(call))
            case "create":
                result = establish(call, create(call))
                return _object(call, result, 201)
            case "update" | "patch":
                result, is_new = (update(call), False) if route.verb == "update" else patch(call)
                result = establish(call, result)
                finish(call)
                return _object(call, result, 201 if is_new else 200)
            case "delete":
                entry, is_gone = delete(call)
                finish(call)
                if is_definition(call) and not call.is_dry:
                    return _object(call, entry)
                if is_gone:
                    return answers.answered(answers.done(call.resource, entry))
                return _object(call, entry)
        return _list(call, delete_many(call))


def _warning(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'


def _object(call: Call, entry: Entry, status: int = 200) -> Response:
    desired = call.wanted
    if desired.is_table:
        metadata = {"resourceVersion": str(entry.revision)}
        return answers.answered(table_of(call, [entry], metadata), status)
    if desired.is_metadata:
        content = answers.metadata_only(entry.content, desired.version)
        return answers.answered(content, status)
    return answers.of_entry(entry, status)


def _list(call: Call, page: Page) -> Response:
    desired = call.wanted
    if desired.is_table:
        return answers.answered(table_of(call, page.entries, page.metadata))
    if desired.is_metadata:
        items = [answers.metadata_only(entry.content, desired.version) for entry in page.entries]
        content = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": f"meta.k8s.io/{desired.version}",
            "metadata": page.metadata,
            "items": items,
        }
        return answers.answered(content)
    items_encoded = (entry.item for entry in page.entries)
    return answers.raw(answers.encoded_list(call.resource, page.metadata, items_encoded))


def _from_etcd(why: EtcdError) -> Failure:
    """What the server makes of an error of etcd."""
    if why.reason is Reason.COMPACTED:
        return Failure(410, "Expired", "The resourceVersion for the provided list is too old.")
    return Failure(500, "", str(why))
