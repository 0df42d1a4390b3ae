"""Parts of a Talos machine's configuration: links, patches, registry mirrors."""

from __future__ import annotations

from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.shapes import HTTP_URL, LINK_NAME, Example, Mtu

PatchText = Annotated[object, Example("machine: {sysctls: {vm.nr_hugepages: '1024'}}")]
KernelArgument = Annotated[str, Example("net.ifnames=0")]


@record
class Link(Traced):
    """A network link besides the one with the node's address: up, without an address."""

    name: Annotated[str, LINK_NAME]
    """Name as Talos shows it."""
    mtu: Mtu | None = None
    """None: the default of the link."""


@record
class TalosPatches(Traced):
    """Strategic-merge patches of the machine configuration; the more specific one wins."""

    all: tuple[PatchText, ...] = ()
    """For every node."""
    controller: tuple[PatchText, ...] = ()
    """For controllers."""
    worker: tuple[PatchText, ...] = ()
    """For workers."""


@record
class RegistryMirror(Traced):
    """Where images of one registry come from instead."""

    endpoints: tuple[Annotated[str, HTTP_URL], ...]
    """Mirrors, tried in order."""
    skip_fallback: bool = False
    """Whether the registry itself is left out when no mirror answers."""
    username: str | None = None
    """None: anonymous."""
    password: Secret | None = None
    """None: anonymous."""
    ca_file: str | None = None
    """CA of the mirrors, a file in the repository. None: public CAs."""
