"""Where the API answers, who we are to it, and how long one waits."""

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
    """Seconds."""

    connect: float = 5.0
    longest: float = math.inf
    """At most so long, whatever a call allows itself."""
    keep_alive: float = 30.0
    """How long an idle connection is used again."""


@record
class KubernetesEndpoint:
    """One cluster as a kubeconfig names it."""

    context: KubeconfigContext
    directory: Path = Path()
    """Where files are that the kubeconfig names: its own directory."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Where to dial instead, `host:port` to `host:port`."""
    allows_plugins: bool = False
    """Whether programs may be run that the kubeconfig names."""
    timeouts: KubernetesTimeouts = KubernetesTimeouts()

    def door(self) -> ServerAddress:
        """What is dialled, and whose certificate is expected. `Refused` for other addresses."""
        host, port, _ = self._address()
        name = self.context.server_name or host
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        instead = self.connect.get(shown)
        if instead is None:
            return ServerAddress(host=host, port=port, name=name)
        dialled, _, dialled_port = instead.rpartition(":")
        if not dialled or not dialled_port.isdecimal():
            raise Refused(
                problems.kubeconfig_failure(host, f"{instead!r} is nowhere to dial instead")
            )
        return ServerAddress(host=dialled.strip("[]"), port=int(dialled_port), name=name)

    @property
    def authority(self) -> str:
        """The server as requests name it."""
        host, port, _ = self._address()
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def base(self) -> str:
        """What stands before all paths, as behind some proxies."""
        return self._address()[2]

    def _address(self) -> tuple[str, int, str]:
        where = f"context {self.context.name}"
        try:
            parts = urlsplit(self.context.server)
            host, port = parts.hostname, parts.port or _PORT
        except ValueError:
            raise Refused(problems.kubeconfig_failure(where, "its server cannot be read")) from None
        if parts.scheme != "https":
            why = "its server is not https, so credentials could be read on their way"
            raise Refused(problems.kubeconfig_failure(where, why))
        if not host or parts.username is not None or parts.query:
            raise Refused(
                problems.kubeconfig_failure(where, "its server has to be https://host:port")
            )
        return host, port, parts.path.rstrip("/")


def format_address(door: ServerAddress) -> str:
    """A door for people."""
    through = f" (as {door.name})" if door.name != door.host else ""
    host = f"[{door.host}]" if ":" in door.host else door.host
    return f"https://{host}:{door.port}{through}"
