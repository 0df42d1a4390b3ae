"""Endpoints of the Talos API: addresses, client certificate and timeout."""

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
    """Addresses of a cluster, tried in turn until a connection succeeds."""

    hosts: tuple[str, ...]
    """As in a talosconfig: `host`, `host:port`. Empty: only machines in maintenance are used."""
    identity: ClientIdentity | None = None
    """The client certificate. None: only machines in maintenance are used."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Replacement addresses, `host:port` to `host:port`; read for every connection."""
    connect_seconds: float = 5.0

    @classmethod
    def of(cls, context: TalosContext, connect: Mapping[str, str] | None = None) -> TalosEndpoints:
        """Return the endpoints of a talosconfig; raises `Refused` without a client certificate."""
        replacements = {} if connect is None else connect
        return cls(
            hosts=context.endpoints, identity=ClientIdentity.of(context), connect=replacements
        )

    def server(self, text: str) -> ServerAddress:
        """Return addresses to connect to, with expected certificate names; raises `Refused`."""
        host, port = _parse_address(text)
        replacement = self.connect.get(format_address(host, port))
        if replacement is None:
            return ServerAddress(host=host, port=port, name=host)
        other_host, other_port = _parse_address(replacement)
        return ServerAddress(host=other_host, port=other_port, name=host)


def format_address(host: str, port: int) -> str:
    """Format an address for messages and for the map of replacements."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse_address(text: str) -> tuple[str, int]:
    bracketed = f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
    try:
        parts = urlsplit(bracketed if "://" in bracketed else f"//{bracketed}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused(errors.invalid_address_problem("", "it is not a valid URL")) from None
    if parts.scheme not in ("", "https"):
        raise Refused(
            errors.invalid_address_problem(
                host or "", f"the scheme {parts.scheme} is not supported"
            )
        )
    if not host or parts.username is not None or parts.path.strip("/") or parts.query:
        raise Refused(errors.invalid_address_problem(host or "", "it must have the form host:port"))
    return host, port or (443 if parts.scheme else PORT)
