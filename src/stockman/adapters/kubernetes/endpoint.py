"""The endpoint of a Kubernetes API: context, trust and timeouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import urlsplit

from stockman.kubernetes import problems
from stockman.kubernetes.kubeconfig import KubeconfigContext
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.environment import ServerAddress

_PORT = 443


@record
class KubernetesTimeouts:
    """Timeouts in seconds."""

    connect: float = 5.0
    longest: float = math.inf
    """Upper limit of the timeout of all requests."""
    keep_alive: float = 30.0
    """How long an idle connection is reused."""


@record
class KubernetesEndpoint:
    """A cluster in a kubeconfig."""

    context: KubeconfigContext
    directory: Path = Path()
    """The directory of relative paths in the kubeconfig: its own directory."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Replacement addresses for connections, `host:port` to `host:port`."""
    allows_plugins: bool = False
    """Whether credential plugins of the kubeconfig may be run."""
    timeouts: KubernetesTimeouts = KubernetesTimeouts()

    def server(self) -> ServerAddress:
        """Return addresses to connect to, with expected certificate names; raises `Refused`."""
        host, port, _ = self._address()
        name = self.context.server_name or host
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        replacement = self.connect.get(address)
        if replacement is None:
            return ServerAddress(host=host, port=port, name=name)
        other_host, _, other_port = replacement.rpartition(":")
        if not other_host or not other_port.isdecimal():
            raise Refused(
                problems.kubeconfig_failure(
                    host, f"the replacement {replacement!r} is not host:port"
                )
            )
        return ServerAddress(host=other_host.strip("[]"), port=int(other_port), name=name)

    @property
    def authority(self) -> str:
        """Host and port in the Host header."""
        host, port, _ = self._address()
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def base(self) -> str:
        """Prefix of all paths, for example behind a proxy."""
        return self._address()[2]

    def _address(self) -> tuple[str, int, str]:
        where = f"context {self.context.name}"
        try:
            parts = urlsplit(self.context.server)
            host, port = parts.hostname, parts.port or _PORT
        except ValueError:
            raise Refused(
                problems.kubeconfig_failure(where, "its server is not a valid URL")
            ) from None
        if parts.scheme != "https":
            why = "its server is not https, so others could read the credentials"
            raise Refused(problems.kubeconfig_failure(where, why))
        if not host or parts.username is not None or parts.query:
            raise Refused(
                problems.kubeconfig_failure(
                    where, "its server must have the form https://host:port"
                )
            )
        return host, port, parts.path.rstrip("/")


def format_address(server: ServerAddress) -> str:
    """Format a server address for messages."""
    suffix = f" (as {server.name})" if server.name != server.host else ""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"https://{host}:{server.port}{suffix}"
