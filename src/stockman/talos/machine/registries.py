"""Registry mirrors and access to registries.

Credentials and CAs belong to the requested host: that of the mirror, or the registry without a
mirror.
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
    """How a machine accesses one host."""

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
    """Return the hosts that the credentials of a mirror apply to."""
    return [urlsplit(url).netloc for url in mirror.endpoints] or [registry]


def registry_section(machine: MachineInputs) -> Document:
    """Return the `registries` section of contract 1.11."""
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
    section = {"mirrors": mirrors, "config": config}
    return {name: content for name, content in section.items() if content}


def registry_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield the registry documents of contract 1.12 and later."""
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
        certificate = certificate_text(
            machine, mirror.client_cert_file, mirror.where("client_cert_file")
        )
        for host in mirror_hosts(registry, mirror):
            if host not in seen:
                seen.add(host)
                yield _RegistryAccess(host, mirror, ca, certificate)


def _auth_fields(mirror: RegistryMirror) -> Document:
    return {"username": mirror.username, "password": mirror.password}


def _section_tls(access: _RegistryAccess) -> Document:
    fields: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        fields["clientIdentity"] = {
            "crt": encode_text(access.certificate),
            "key": encode_key(access.mirror.client_key),
        }
    if access.ca:
        fields["ca"] = encode_text(access.ca)
    return fields | _insecure_tls(access.mirror)


def _document_tls(access: _RegistryAccess) -> Document:
    fields: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        fields["clientIdentity"] = {"cert": access.certificate, "key": access.mirror.client_key}
    if access.ca:
        fields["ca"] = access.ca
    return fields | _insecure_tls(access.mirror)


def _insecure_tls(mirror: RegistryMirror) -> Document:
    return {"insecureSkipVerify": True} if mirror.insecure_skip_verify else {}
