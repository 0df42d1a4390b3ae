"""Where the API answers, who we are to it, and how long one waits for a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from stockman.adapters.talos.tls import ClientIdentity
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.environment import ServerAddress
from stockman.talos.api import errors
from stockman.talos.credentials.talosconfig import TalosContext

PORT = 50000


@record
class TalosEndpoints:
    """Addresses of one cluster, tried in turn until one takes the connection."""

    hosts: tuple[str, ...]
    """As a talosconfig has them: `host`, `host:port`. Empty: only strangers are asked."""
    identity: ClientIdentity | None = None
    """Who we are. None: nobody, only strangers are asked."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Where to dial instead, `host:port` to `host:port`; looked at for every connection."""
    connect_seconds: float = 5.0

    @classmethod
    def of(cls, context: TalosContext, connect: Mapping[str, str] | None = None) -> TalosEndpoints:
        """Those of a talosconfig; `Refused` where it has no client certificate."""
        known = {} if connect is None else connect
        return cls(hosts=context.endpoints, identity=ClientIdentity.of(context), connect=known)

    def door(self, text: str) -> ServerAddress:
        """What is dialled, and whose certificate is expected. `Refused` for other addresses."""
        host, port = _parse_address(text)
        instead = self.connect.get(format_address(host, port))
        if instead is None:
            return ServerAddress(host=host, port=port, name=host)
        dialled, dialled_port = _parse_address(instead)
        return ServerAddress(host=dialled, port=dialled_port, name=host)


def format_address(host: str, port: int) -> str:
    """A place for people, and for the map of connections."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse_address(text: str) -> tuple[str, int]:
    bare = f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
    try:
        parts = urlsplit(bare if "://" in bare else f"//{bare}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused(errors.invalid_address_problem("", "it cannot be read")) from None
    if parts.scheme not in ("", "https"):
        raise Refused(
            errors.invalid_address_problem(host or "", f"{parts.scheme} is not what Talos speaks")
        )
    if not host or parts.username is not None or parts.path.strip("/") or parts.query:
        raise Refused(
            errors.invalid_address_problem(host or "", "it has to be host:port and no more")
        )
    return host, port or (443 if parts.scheme else PORT)
