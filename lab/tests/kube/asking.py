"""An API server of the lab on an etcd with one member, and short ways to ask it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from stockman_lab.core.dice import Dice
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.admission_context import Settings
from stockman_lab.kube.api.messages import Request, Response, User
from stockman_lab.kube.api.server import Api

NOW = 1_790_000_000.0
MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass
class Served:
    """A server with its etcd and its clock."""

    cluster: EtcdCluster
    alive: list[str]
    now: float = NOW
    agent: str = "shepherd/1.0"
    last: Response = field(default_factory=Response)
    """What was answered last."""

    def __post_init__(self) -> None:
        self.api = Api(
            lambda: EtcdClient(self.cluster, self.alive, self.now),
            Dice(7),
            Settings(service_network="10.43.0.0/16"),
        )

    def respond(
        self,
        method: str,
        path: str,
        body: object = None,
        kind: str = "application/json",
        **more: str,
    ) -> Response:
        parts = urlsplit(path)
        sent = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        headers = {"user-agent": self.agent, "content-type": kind, **more}
        query = parse_qs(parts.query, keep_blank_values=True)
        user = User("admin", ("system:masters",))
        self.last = self.api.handle(Request(method, parts.path, query, headers, sent, user))
        return self.last

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        kind: str = "application/json",
        **more: str,
    ) -> Any:
        """The body of an answer."""
        return json.loads(self.respond(method, path, body, kind, **more).body)

    def made(self, name: str, **data: str) -> Any:
        """A new map of configuration."""
        return self.ask("POST", MAPS, {"metadata": {"name": name}, "data": data})


def served(members: int = 1) -> Served:
    """A server with the namespaces that every cluster has."""
    ids = [str(number) for number in range(1, members + 1)]
    cluster = EtcdCluster(
        "1",
        members={
            item: EtcdMember(item, [f"http://127.0.0.{item}:2380"], started=True, has_data=True)
            for item in ids
        },
    )
    result = Served(cluster, ids)
    for name in ("default", "kube-system"):
        result.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    result.ask("POST", accounts, {"metadata": {"name": "default"}})
    return result


def seen(answer: Response) -> list[Any]:
    """All events of a watch that are there without waiting."""
    return [json.loads(line) for line in asyncio.run(_lines(answer))]


async def _lines(answer: Response) -> list[bytes]:
    assert answer.stream is not None
    lines: list[bytes] = []
    following: asyncio.Future[bytes | None]
    while True:
        following = asyncio.ensure_future(anext(answer.stream, None))
        for _ in range(5):
            if not following.done():
                await asyncio.wait([following], timeout=0)
        if not following.done():
            following.cancel()
            return lines
        line = following.result()
        if line is None:
            return lines
        lines.append(line)
