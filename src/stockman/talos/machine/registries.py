"""Registry mirrors, and how one gets into them.

Credentials and CAs belong to the host that is asked: that of the mirror, or of the registry where
there is no mirror.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from stockman.model.machine import RegistryMirror
from stockman.talos.machine.inputs import (
    Document,
    MachineInputs,
    certificate_text,
    encode_key,
    encode_text,
    new_document,
)


class _RegistryAccess(NamedTuple):
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


def mirror_hosts(registry: str, mirror: RegistryMirror) -> list[str]:
    """The hosts that credentials of a mirror are for."""
    return [urlsplit(url).netloc for url in mirror.endpoints] or [registry]


def registry_section(machine: MachineInputs) -> Document:
    """The `registries` section of contract 1.11."""
    mirrors: Document = {}
    for registry, mirror in _iter_mirrors(machine):
        entry: Document = {"endpoints": list(mirror.endpoints)}
        if mirror.override_path:
            entry["overridePath"] = True
        if mirror.skip_fallback:
            entry["skipFallback"] = True
        mirrors[registry] = entry
    config: Document = {}
    for access in _iter_accesses(machine):
        entry = {}
        if access.mirror.username is not None:
            entry["auth"] = _auth_fields(access.mirror)
        if access.has_tls:
            entry["tls"] = _section_tls(access)
        if entry:
            config[access.host] = entry
    found = {"mirrors": mirrors, "config": config}
    return {name: part for name, part in found.items() if part}


def registry_documents(machine: MachineInputs) -> Iterator[Document]:
    """The same from contract 1.12 on."""
    for registry, mirror in _iter_mirrors(machine):
        path = {"overridePath": True} if mirror.override_path else {}
        endpoints = [{"url": url, **path} for url in mirror.endpoints]
        fallback = {"skipFallback": True} if mirror.skip_fallback else {}
        yield new_document("RegistryMirrorConfig", name=registry, endpoints=endpoints, **fallback)
    for access in _iter_accesses(machine):
        if access.mirror.username is not None:
            yield new_document(
                "RegistryAuthConfig", name=access.host, **_auth_fields(access.mirror)
            )
        if access.has_tls:
            yield new_document("RegistryTLSConfig", name=access.host, **_document_tls(access))


def _iter_mirrors(machine: MachineInputs) -> Iterator[tuple[str, RegistryMirror]]:
    for registry, mirror in machine.cluster.talos.registries.items():
        if mirror.endpoints:
            yield registry, mirror


def _iter_accesses(machine: MachineInputs) -> Iterator[_RegistryAccess]:
    seen: set[str] = set()
    for registry, mirror in machine.cluster.talos.registries.items():
        ca = certificate_text(machine, mirror.ca_file, mirror.where("ca_file"))
        shown = certificate_text(machine, mirror.client_cert_file, mirror.where("client_cert_file"))
        for host in mirror_hosts(registry, mirror):
            if host not in seen:
                seen.add(host)
                yield _RegistryAccess(host, mirror, ca, shown)


def _auth_fields(mirror: RegistryMirror) -> Document:
    return {"username": mirror.username, "password": mirror.password}


def _section_tls(access: _RegistryAccess) -> Document:
    found: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        found["clientIdentity"] = {
            "crt": encode_text(access.certificate),
            "key": encode_key(access.mirror.client_key),
        }
    if access.ca:
        found["ca"] = encode_text(access.ca)
    return found | _insecure_tls(access.mirror)


def _document_tls(access: _RegistryAccess) -> Document:
    found: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        found["clientIdentity"] = {"cert": access.certificate, "key": access.mirror.client_key}
    if access.ca:
        found["ca"] = access.ca
    return found | _insecure_tls(access.mirror)


def _insecure_tls(mirror: RegistryMirror) -> Document:
    return {"insecureSkipVerify": True} if mirror.insecure_skip_verify else {}
