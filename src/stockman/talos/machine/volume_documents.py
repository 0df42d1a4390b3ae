"""Disk encryption and registry mirrors as documents."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.machine.facts import Document, Machine
from stockman.talos.machine.network_documents import document


def volume_documents(machine: Machine) -> Iterator[Document]:
    """System volumes whose key is sealed in the machine's TPM; none without encryption."""
    if not machine.node.encrypt_disk:
        return
    for name in ("STATE", "EPHEMERAL"):
        key: Document = {"slot": 0, "tpm": {}}
        if name == "EPHEMERAL":
            key["lockToState"] = True
        yield document("VolumeConfig", name=name, encryption={"provider": "luks2", "keys": [key]})


def registry_documents(machine: Machine) -> Iterator[Document]:
    """Mirrors, and who one is to them."""
    for host, mirror in machine.cluster.talos.registries.items():
        fallback = {"skipFallback": True} if mirror.skip_fallback else {}
        endpoints = [{"url": url} for url in mirror.endpoints]
        yield document("RegistryMirrorConfig", name=host, endpoints=endpoints, **fallback)
        if mirror.username is not None and mirror.password is not None:
            yield document(
                "RegistryAuthConfig",
                name=host,
                username=mirror.username,
                password=mirror.password,
            )
