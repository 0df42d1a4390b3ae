"""Where the API answers, who we are to it, and how long one waits for a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from stockman.adapters.grpc_talos.identity import Identity
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.probe import Door
from stockman.talos.api import problems
from stockman.talos.talosconfig import Context

PORT = 50000


@record
class Endpoints:
    """Addresses of one cluster, tried in turn until one takes the connection."""

    hosts: tuple[str, ...]
    """As a talosconfig has them: `host`, `host:port`. Empty: only strangers are asked."""
    identity: Identity | None = None
    """Who we are. None: nobody, only strangers are asked."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Where to dial instead, `host:port` to `host:port`; looked at for every connection."""
    connect_seconds: float = 5.0

    @classmethod
    def of(cls, context: Context, connect: Mapping[str, str] | None = None) -> Endpoints:
        """Those of a talosconfig; `Refused` where it has no client certificate."""
        known = {} if connect is None else connect
        return cls(hosts=context.endpoints, identity=Identity.of(context), connect=known)

    def door(self, text: str) -> Door:
        """What is dialled, and whose certificate is expected. `Refused` for other addresses."""
        host, port = _place(text)
        instead = self.connect.get(shown(host, port))
        if instead is None:
            return Door(host=host, port=port, name=host)
        dialled, dialled_port = _place(instead)
        return Door(host=dialled, port=dialled_port, name=host)


def shown(host: str, port: int) -> str:
    """A place for people, and for the map of connections."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _place(text: str) -> tuple[str, int]:
    bare = f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
    try:
        parts = urlsplit(bare if "://" in bare else f"//{bare}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused(problems.no_address("", "it cannot be read")) from None
    if parts.scheme not in ("", "https"):
        raise Refused(problems.no_address(host or "", f"{parts.scheme} is not what Talos speaks"))
    if not host or parts.username is not None or parts.path.strip("/") or parts.query:
        raise Refused(problems.no_address(host or "", "it has to be host:port and no more"))
    return host, port or (443 if parts.scheme else PORT)
