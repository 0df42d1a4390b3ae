"""The same requests to a real API server and to the one of the lab."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlencode

from stockman_lab.core.dice import Dice
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.messages import Request, Response, User, read_query
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.api.surroundings import Settings

AGENT = "shepherd/1.0"
JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
NETWORK = "10.43.0.0/16"


@dataclass(frozen=True)
class Step:
    """One request."""

    method: str
    path: str
    body: Any = None
    """Bytes and texts are sent as they are, anything else as JSON."""
    kind: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def sent(self) -> bytes:
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Told:
    """What a server answered."""

    status: int
    content: Any
    warnings: tuple[str, ...] = ()


class RealApi:
    """A real server on loopback."""

    def __init__(self, port: int, token: str) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._line = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
        self._token = token
        self._port = port

    @contextmanager
    def watch(self, step: Step) -> Iterator[Iterator[bytes]]:
        """The lines of a stream, over a connection of its own."""
        real_api = RealApi(self._port, self._token)
        real_api._send(step)
        answer = real_api._line.getresponse()
        try:
            yield iter(answer.readline, b"")
        finally:
            answer.close()
            real_api.close()

    def close(self) -> None:
        self._line.close()

    def ask(self, step: Step) -> Told:
        self._send(step)
        answer = self._line.getresponse()
        body = answer.read()
        warnings = answer.headers.get_all("Warning") or []
        return Told(answer.status, read(body), tuple(warnings))

    def bytes_of(self, step: Step) -> bytes:
        """The body of an answer as it came."""
        self._send(step)
        return self._line.getresponse().read()

    def _send(self, step: Step) -> None:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "User-Agent": AGENT,
            "Accept": JSON,
            "Content-Type": step.kind,
            **step.headers,
        }
        self._line.request(step.method, step.path, body=step.sent or None, headers=headers)


class LabApi:
    """The server of the lab."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def ask(self, step: Step) -> Told:
        answer = self.respond(step)
        return Told(answer.status, read(answer.body), tuple(answer.warnings))

    def respond(self, step: Step) -> Response:
        path, _, query = step.path.partition("?")
        headers = {"user-agent": AGENT, "accept": JSON, "content-type": step.kind}
        headers |= {name.lower(): header for name, header in step.headers.items()}
        request = Request(
            step.method,
            unquote(path),
            read_query(query),
            headers,
            step.sent,
            User("admin", ("system:masters",), "admin"),
        )
        return self.api.handle(request)


def lab_api(now: float = 1_790_000_000.0) -> LabApi:
    """A server of the lab with nothing but the namespaces that every cluster has."""
    member = EtcdMember("one", ["http://127.0.0.1:2380"], started=True, has_data=True)
    cluster = EtcdCluster("1", members={"1": member})
    settings = Settings(service_network=NETWORK)
    made = LabApi(Api(lambda: EtcdClient(cluster, ["1"], now), Dice(7), settings))
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        made.ask(Step("POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
    return made


def read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")


_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_ADDRESS = re.compile(r"10\.43\.\d+\.\d+")
_VOLUME = re.compile(r"kube-api-access-\w{5}")
_GENERATED = re.compile(r"\b(made-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_VERSION = re.compile(r'(resourceVersion\\*": ?\\*")\d+')


def plain(value: Any) -> Any:
    """An answer without what is different each time."""
    if isinstance(value, dict):
        plains = {plain_text(name): plain(one) for name, one in value.items()}
        if "resourceVersion" in plains:
            plains["resourceVersion"] = "VERSION"
        if "continue" in plains:
            plains["continue"] = "TOKEN"
        if isinstance(plains.get("managedFields"), list):
            plains["managedFields"].sort(key=_manager)
        if any(cause.get("reason") == "FieldManagerConflict" for cause in _causes(plains)):
            plains["causes"].sort(key=lambda one: (one["message"], one["field"]))
        if "nodePort" in plains:
            plains["nodePort"] = "PORT"
        return plains
    if isinstance(value, list):
        return [plain(one) for one in value]
    return plain_text(value) if isinstance(value, str) else value


def _causes(made: dict[str, Any]) -> list[Any]:
    causes = made.get("causes")
    return causes if isinstance(causes, list) else []


def _manager(entry: Any) -> tuple[str, ...]:
    names = ("operation", "manager", "apiVersion", "subresource")
    return tuple(str(entry.get(name, "")) for name in names)


def plain_text(text: str) -> str:
    for pattern, word in (
        (_UID, "UID"),
        (_TIME, "TIME"),
        (_ADDRESS, "ADDRESS"),
        (_VOLUME, "kube-api-access-X"),
        (_GENERATED, r"\1X"),
        (_VERSION, r"\1VERSION"),
        (re.compile(r"current: \d+"), "current: VERSION"),
        (re.compile(r"((previously negative\)|bound claims)\n)@@.*", re.DOTALL), r"\1"),
        (re.compile(r"in record \(\d+\)"), "in record (VERSION)"),
    ):
        text = pattern.sub(word, text)
    return text


def differences(real: Any, lab: Any, path: str = "") -> list[str]:
    """In what two answers differ."""
    if isinstance(real, dict) and isinstance(lab, dict):
        found = []
        for name in {**real, **lab}:
            inner = f"{path}.{name}"
            if name not in lab:
                found.append(f"{inner}: only real: {json.dumps(real[name])[:600]}")
            elif name not in real:
                found.append(f"{inner}: only lab: {json.dumps(lab[name])[:600]}")
            else:
                found += differences(real[name], lab[name], inner)
        if not found and path.endswith((".metadata", "")) and list(real) != list(lab):
            found.append(f"{path}: order {list(real)} / {list(lab)}")
        return found
    if isinstance(real, list) and isinstance(lab, list) and len(real) == len(lab):
        pairs = zip(real, lab, strict=True)
        return [
            difference
            for place, pair in enumerate(pairs)
            for difference in differences(*pair, f"{path}[{place}]")
        ]
    if real == lab and isinstance(real, bool) == isinstance(lab, bool):
        return []
    return [f"{path}: real {json.dumps(real)[:1500]} / lab {json.dumps(lab)[:1500]}"]


def compare(step: Step, real: RealApi, lab: LabApi) -> list[str]:
    """How the answers to one request differ."""
    one, other = real.ask(step), lab.ask(step)
    found = differences(plain(one.content), plain(other.content))
    if one.status != other.status:
        found.insert(0, f"status: real {one.status} / lab {other.status}")
    if one.warnings != other.warnings:
        found.append(f"warnings: real {one.warnings} / lab {other.warnings}")
    return found


def asked(path: str, **query: str) -> str:
    """A path with its query."""
    return f"{path}?{urlencode(query)}"
