"""The Kubernetes API of a kubeconfig: address, trust and credentials."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from stockman.kubernetes import problems
from stockman.kubernetes.kubeconfig import ExecPlugin, KubeconfigContext
from stockman.kubernetes.rows import UnexpectedAnswer, mapping, optional_text, timestamp
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import ServerAddress
from stockman.ports.system import Clock

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


@record
class IssuedCredential:
    """The credentials that a plugin printed."""

    token: Secret | None = None
    crt: str = ""
    """PEM. Empty: none."""
    key: Secret | None = None
    expires: datetime | None = None
    """None: they do not expire."""


def read_credential(output: bytes) -> IssuedCredential:
    """Parse the output of a plugin; raises `UnexpectedAnswer`."""
    try:
        parsed = json.loads(output)
    except (ValueError, RecursionError):
        raise UnexpectedAnswer("its output is not JSON") from None
    if not isinstance(parsed, Mapping) or parsed.get("kind") != "ExecCredential":
        raise UnexpectedAnswer("its output is not an ExecCredential")
    status = mapping(parsed, "status")
    token, key = optional_text(status, "token"), optional_text(status, "clientKeyData")
    crt = optional_text(status, "clientCertificateData")
    if not token and not (crt and key):
        raise UnexpectedAnswer("its output has neither a token nor a certificate")
    return IssuedCredential(
        token=Secret(token, resolved=True) if token else None,
        crt=crt,
        key=Secret(key, resolved=True) if key else None,
        expires=timestamp(status, "expirationTimestamp"),
    )


_SECONDS = 60.0


async def run_plugin(plugin: ExecPlugin, directory: Path, where: str) -> IssuedCredential:
    """Run a plugin and return its credentials; other output is not shown, it may be secret."""
    output = await _output(plugin, directory, where)
    try:
        return read_credential(output)
    except UnexpectedAnswer as error:
        why = str(error)
    raise Refused(problems.exec_plugin(where, f"the plugin {plugin.command!r} failed: {why}"))


async def _output(plugin: ExecPlugin, directory: Path, where: str) -> bytes:
    exec_info = {
        "apiVersion": plugin.api_version,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    variables = {"KUBERNETES_EXEC_INFO": json.dumps(exec_info), **plugin.variables}
    is_relative = "/" in plugin.command
    command = str(directory / plugin.command) if is_relative else plugin.command
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *plugin.arguments,
            env={**os.environ, **variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        raise Refused(
            problems.exec_plugin(where, f"cannot run the plugin {plugin.command!r}")
        ) from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        why = f"the plugin {plugin.command!r} did not finish within {_SECONDS:g} s"
        raise Refused(problems.exec_plugin(where, why)) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        why = f"the plugin {plugin.command!r} exited with status {process.returncode}"
        raise Refused(problems.exec_plugin(where, why))
    return output


@record
class TlsIdentity:
    """CA and client certificate of connections. PEM texts."""

    ca: str
    """Empty: the CAs of the system."""
    crt: str = ""
    """Empty: no client certificate."""
    key: Secret | None = None


class Credentials:
    """Provides the current credentials."""

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._credential: IssuedCredential | None = None
        self._turn = asyncio.Lock()
        self._used_tokens: set[str] = set()
        plugin = endpoint.context.plugin
        if plugin is not None and not endpoint.allows_plugins:
            why = f"the plugin {plugin.command!r} is not allowed"
            raise Refused(problems.exec_plugin(self._where, why))

    @property
    def _where(self) -> str:
        return f"context {self._endpoint.context.name}"

    async def identity(self) -> TlsIdentity:
        """Return CA and client certificate."""
        context = self._endpoint.context
        ca = context.ca or self._content(context.ca_file)
        credential = await self._current()
        if credential is not None and credential.crt:
            return TlsIdentity(ca=ca, crt=credential.crt, key=credential.key)
        crt = context.crt or self._content(context.crt_file)
        key_text = self._content(context.key_file)
        key = context.key or (Secret(key_text, resolved=True) if key_text else None)
        if bool(crt) != (key is not None):
            raise Refused(
                problems.kubeconfig_failure(
                    self._where, "its client certificate or its key is missing"
                )
            )
        return TlsIdentity(ca=ca, crt=crt, key=key)

    async def headers(self) -> dict[str, str]:
        """Return the authentication headers. Empty: the client certificate is used."""
        context = self._endpoint.context
        credential = await self._current()
        token = context.token.reveal() if context.token is not None else ""
        if context.token_file:
            token = self._content(context.token_file).strip() or token
        if credential is not None and credential.token is not None:
            token = credential.token.reveal()
        if not token:
            return {}
        if not token.isascii() or not token.isprintable():
            raise Refused(
                problems.kubeconfig_failure(self._where, "its token contains invalid characters")
            )
        self._used_tokens.add(token)
        return {"Authorization": f"Bearer {token}"}

    def secrets(self) -> tuple[str, ...]:
        """Return the secret texts to mask."""
        return tuple(self._used_tokens)

    async def _current(self) -> IssuedCredential | None:
        plugin = self._endpoint.context.plugin
        if plugin is None:
            return None
        async with self._turn:
            if self._credential is None or _has_expired(self._credential, self._clock.now()):
                self._credential = await run_plugin(plugin, self._endpoint.directory, self._where)
            return self._credential

    def _content(self, name: str) -> str:
        if not name:
            return ""
        path = self._endpoint.directory / Path(name)
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise Refused(problems.kubeconfig_failure(self._where, f"cannot read {name}")) from None


def _has_expired(credential: IssuedCredential, now: datetime) -> bool:
    return credential.expires is not None and now >= credential.expires
