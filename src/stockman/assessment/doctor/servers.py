"""Servers that the configuration names, and how each is reached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from stockman.config.language import Configuration
from stockman.model.origin import Traced
from stockman.model.policies import BackupTarget, Lock
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.ports.environment import Machine, Remote, ServerAddress

ServerKind = Literal["proxmox", "kubernetes", "factory", "git", "s3", "mirror", "identity", "host"]


@record
class Endpoint:
    """One server, its purpose, and where it is configured."""

    kind: ServerKind
    purpose: str
    """Proxmox endpoints of one region share a purpose, and one that answers is enough."""
    address: str
    """Its address without secrets."""
    server: ServerAddress
    written: str
    """Key and position, such as `proxmox_endpoint (cluster.yaml:3:13)`."""
    required: bool
    """Whether this machine connects to it; otherwise only the nodes do."""
    web: bool = False
    """Whether a web proxy may be used."""
    tls: bool = False
    """Whether its certificate is checked."""
    ca_file: str | None = None
    """None: the CAs of the system."""
    fingerprint: str | None = None
    """None: verified by CA."""
    further_fingerprints: tuple[str, ...] = ()
    """Fingerprints that are also accepted."""
    trust_keys: str = ""
    """Keys that configure how its certificate is verified. Empty: there are none."""


def origin_of_key(section: Traced, field: str, key: str) -> str:
    """Return a key and its position, or its name in the reference if it is not set."""
    origin = section.origins.get(field)
    return f"{key} (its default)" if origin is None else f"{origin.name} ({origin.at})"


_API_PORT = 6443
_WEB_PORTS = {"https": 443, "http": 80}


def servers(estate: Configuration, remotes: Iterable[Remote] = ()) -> tuple[Endpoint, ...]:
    """Return every server that is reached over TCP; the git remotes stand in for a missing URL."""
    return (
        *_proxmox(estate),
        *_kubernetes_api(estate),
        *_image_factory(estate),
        *_git(estate, remotes),
        *_buckets(estate),
        *_registry_mirrors(estate),
        *_identity_provider(estate),
        *_host_shells(estate),
    )


def time_servers(estate: Configuration) -> tuple[str, ...]:
    """Return the time servers of the nodes; empty without nodes."""
    return estate.network.ntp_servers if estate.nodes else ()


def name_servers(estate: Configuration) -> tuple[str, ...]:
    """Return the name servers of the nodes; empty without nodes."""
    return (
        tuple(str(dns_server) for dns_server in estate.network.dns_servers) if estate.nodes else ()
    )


def _proxmox(estate: Configuration) -> Iterator[Endpoint]:
    section = estate.proxmox
    if section is None:
        return
    clusters: tuple[ProxmoxCluster, ...] = section.clusters or (section,)
    for cluster in clusters:
        urls = [("endpoint", cluster.endpoint)] if cluster.endpoint else []
        urls += [(f"endpoints[{number}]", url) for number, url in enumerate(cluster.endpoints)]
        for field, url in urls:
            origin = origin_of_key(cluster, field, f"proxmox.{field}")
            for endpoint in _web(
                "proxmox", url, f"the Proxmox API, region {cluster.region}", origin
            ):
                judged = replace(
                    endpoint,
                    required=True,
                    ca_file=cluster.tls.ca_file,
                    fingerprint=cluster.tls.fingerprint,
                    further_fingerprints=cluster.tls.fingerprints,
                    trust_keys="`proxmox.tls.ca_file` or `proxmox.tls.fingerprint`",
                )
                yield _connect_address(judged, section.connect)


def _kubernetes_api(estate: Configuration) -> Iterator[Endpoint]:
    api = estate.kubernetes.api
    if api.addr is not None and estate.nodes:
        yield Endpoint(
            kind="kubernetes",
            purpose="the Kubernetes API",
            address=f"{api.addr}:{_API_PORT}",
            server=ServerAddress(host=str(api.addr), port=_API_PORT),
            written=origin_of_key(api, "addr", "kubernetes.api.addr"),
            required=False,
        )


def _image_factory(estate: Configuration) -> Iterator[Endpoint]:
    if estate.nodes:
        origin = origin_of_key(estate.talos, "factory_url", "talos.factory_url")
        for endpoint in _web("factory", estate.talos.factory_url, "the Image Factory", origin):
            yield replace(endpoint, required=True)


def _git(estate: Configuration, remotes: Iterable[Remote]) -> Iterator[Endpoint]:
    section = estate.repository
    urls: dict[str, str] = (
        {origin_of_key(section, "url", "repository.url"): section.url} if section.url else {}
    )
    for origin, url in (
        urls or {f"git remote {remote.name}": remote.url for remote in remotes}
    ).items():
        address = git_address(url)
        if address is not None:
            yield Endpoint(
                kind="git",
                purpose="the Git server",
                address=f"{address.host}:{address.port}",
                server=ServerAddress(host=address.host, port=address.port),
                written=origin,
                required=True,
                web=address.port in _WEB_PORTS.values(),
            )


def _buckets(estate: Configuration) -> Iterator[Endpoint]:
    for number, target in enumerate(estate.backup.targets):
        if target.bucket is not None:
            origin = origin_of_key(target, "endpoint", f"backup.targets[{number}].endpoint")
            for endpoint in _web("s3", _s3(target), f"backups, {target.name}", origin):
                yield replace(endpoint, required=True)
    if estate.lock.home != "local":
        origin = origin_of_key(estate.lock, "endpoint", "lock.endpoint")
        for endpoint in _web("s3", _s3(estate.lock), "the lock", origin):
            yield replace(endpoint, required=True)


def _registry_mirrors(estate: Configuration) -> Iterator[Endpoint]:
    for registry, mirror in estate.talos.registries.items():
        key = f"talos.registries.{registry}"
        for number, url in enumerate(mirror.endpoints):
            field = f"endpoints[{number}]"
            origin = origin_of_key(mirror, field, f"{key}.{field}")
            for endpoint in _web("mirror", url, f"the mirror of {registry}", origin):
                yield replace(endpoint, ca_file=mirror.ca_file, trust_keys=f"`{key}.ca_file`")


def _identity_provider(estate: Configuration) -> Iterator[Endpoint]:
    oidc = estate.kubernetes.oidc
    if oidc is not None:
        origin = origin_of_key(oidc, "issuer_url", "kubernetes.oidc.issuer_url")
        yield from _web("identity", oidc.issuer_url, "the identity provider", origin)


def _host_shells(estate: Configuration) -> Iterator[Endpoint]:
    for name, host in estate.hosts.items():
        if host.ssh is not None:
            server = ServerAddress(
                host=host.ssh.address or host.address or name, port=host.ssh.port
            )
            yield Endpoint(
                kind="host",
                purpose=f"the shell of host {name}",
                address=f"{server.host}:{server.port}",
                server=server,
                written=origin_of_key(host.ssh, "address", f"hosts.{name}.ssh"),
                required=False,
            )


def _web(kind: ServerKind, url: str, purpose: str, origin: str) -> Iterator[Endpoint]:
    """Yield the server of a URL; nothing for an invalid URL, which `validate` reports."""
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port or _WEB_PORTS[split.scheme]
    except (KeyError, ValueError):
        return
    if host:
        yield Endpoint(
            kind=kind,
            purpose=purpose,
            address=f"{split.scheme}://{host}:{port}",
            server=ServerAddress(host=host, port=port),
            written=origin,
            required=False,
            web=True,
            tls=split.scheme == "https",
        )


def _connect_address(endpoint: Endpoint, connect: Mapping[str, str]) -> Endpoint:
    server = endpoint.server
    instead = connect.get(f"{server.host}:{server.port}")
    if instead is None:
        return endpoint
    host, _, port = instead.rpartition(":")
    return replace(
        endpoint,
        address=f"{endpoint.address} (dialled at {instead})",
        server=ServerAddress(host=host, port=int(port), name=server.host),
        web=False,
    )


def _s3(home: BackupTarget | Lock) -> str:
    if home.endpoint is not None:
        return home.endpoint
    region = "" if home.region == "auto" else f".{home.region}"
    return f"https://s3{region}.amazonaws.com"


def proxy_variable(machine: Machine, host: str) -> str:
    """Return the variable that sets the proxy for a host. Empty: it is reached directly."""
    if any(_matches(host, rule) for rule in _words(machine, "no_proxy")):
        return ""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        if machine.variable(name):
            return name
    return ""


def _words(machine: Machine, name: str) -> list[str]:
    value = machine.variable(name) or machine.variable(name.upper())
    return [entry.strip().lower() for entry in value.split(",") if entry.strip()]


def _matches(host: str, rule: str) -> bool:
    bare = rule.lstrip("*").lstrip(".")
    return not bare or host.lower() == bare or host.lower().endswith(f".{bare}")


_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
_SCP_LIKE = re.compile(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^@/:\s]+):(?!//)(.*)")


class GitAddress(NamedTuple):
    """A repository on a server."""

    host: str
    port: int
    path: str
    """Without leading slash and `.git`."""
    has_password: bool

    def __str__(self) -> str:
        return f"{self.host}/{self.path}"

    def is_same(self, second: GitAddress) -> bool:
        """Whether both name the same repository, whatever the protocol."""
        ours, theirs = ((address.host.lower(), address.path.lower()) for address in (self, second))
        return ours == theirs


def git_address(text: str) -> GitAddress | None:
    """Parse an address. None: it is local, or git does not know its form."""
    if "://" not in text:
        match = _SCP_LIKE.fullmatch(text)
        return match and GitAddress(match[1].strip("[]"), 22, _repository_path(match[2]), False)
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port or _PORTS.get(url.scheme)
    except ValueError:
        return None
    if not host or port is None:
        return None
    by_web = url.scheme in ("http", "https")
    secret = url.password is not None or (by_web and url.username is not None)
    return GitAddress(host, port, _repository_path(url.path), secret)


def _repository_path(text: str) -> str:
    return text.strip("/").removesuffix(".git")
