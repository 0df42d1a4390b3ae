"""Registry mirrors, and how one gets into them.

Credentials and CAs belong to the host that is asked: that of the mirror, or of the registry where
there is no mirror.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from stockman.model.machine import RegistryMirror
from stockman.talos.machine.facts import (
    Document,
    Machine,
    document,
    encoded_key,
    encoded_text,
)
from stockman.talos.machine.files import certificate


class _Access(NamedTuple):
    """How a machine gets into one host."""

    host: str
    mirror: RegistryMirror
    ca: str
    """PEM. Empty: public CAs."""
    certificate: str
    """PEM. Empty: none."""

    @property
    def has_tls(self) -> bool:
        return bool(self.ca or self.certificate or self.mirror.insecure_skip_verify)


def hosts_of(registry: str, mirror: RegistryMirror) -> list[str]:
    """The hosts that credentials of a mirror are for."""
    return [urlsplit(url).netloc for url in mirror.endpoints] or [registry]


def registry_section(machine: Machine) -> Document:
    """The `registries` section of contract 1.11."""
    mirrors: Document = {}
    for registry, mirror in _mirrored(machine):
        entry: Document = {"endpoints": list(mirror.endpoints)}
        if mirror.override_path:
            entry["overridePath"] = True
        if mirror.skip_fallback:
            entry["skipFallback"] = True
        mirrors[registry] = entry
    config: Document = {}
    for access in _accesses(machine):
        entry = {}
        if access.mirror.username is not None:
            entry["auth"] = _login(access.mirror)
        if access.has_tls:
            entry["tls"] = _old_tls(access)
        if entry:
            config[access.host] = entry
    found = {"mirrors": mirrors, "config": config}
    return {name: part for name, part in found.items() if part}


def registry_documents(machine: Machine) -> Iterator[Document]:
    """The same from contract 1.12 on."""
    for registry, mirror in _mirrored(machine):
        path = {"overridePath": True} if mirror.override_path else {}
        endpoints = [{"url": url, **path} for url in mirror.endpoints]
        fallback = {"skipFallback": True} if mirror.skip_fallback else {}
        yield document("RegistryMirrorConfig", name=registry, endpoints=endpoints, **fallback)
    for access in _accesses(machine):
        if access.mirror.username is not None:
            yield document("RegistryAuthConfig", name=access.host, **_login(access.mirror))
        if access.has_tls:
            yield document("RegistryTLSConfig", name=access.host, **_tls(access))


def _mirrored(machine: Machine) -> Iterator[tuple[str, RegistryMirror]]:
    for registry, mirror in machine.cluster.talos.registries.items():
        if mirror.endpoints:
            yield registry, mirror


def _accesses(machine: Machine) -> Iterator[_Access]:
    seen: set[str] = set()
    for registry, mirror in machine.cluster.talos.registries.items():
        ca = certificate(machine, mirror.ca_file, mirror.where("ca_file"))
        shown = certificate(machine, mirror.client_cert_file, mirror.where("client_cert_file"))
        for host in hosts_of(registry, mirror):
            if host not in seen:
                seen.add(host)
                yield _Access(host, mirror, ca, shown)


def _login(mirror: RegistryMirror) -> Document:
    return {"username": mirror.username, "password": mirror.password}


def _old_tls(access: _Access) -> Document:
    found: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        found["clientIdentity"] = {
            "crt": encoded_text(access.certificate),
            "key": encoded_key(access.mirror.client_key),
        }
    if access.ca:
        found["ca"] = encoded_text(access.ca)
    return found | _unchecked(access.mirror)


def _tls(access: _Access) -> Document:
    found: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        found["clientIdentity"] = {"cert": access.certificate, "key": access.mirror.client_key}
    if access.ca:
        found["ca"] = access.ca
    return found | _unchecked(access.mirror)


def _unchecked(mirror: RegistryMirror) -> Document:
    return {"insecureSkipVerify": True} if mirror.insecure_skip_verify else {}
