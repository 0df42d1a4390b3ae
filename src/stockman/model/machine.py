"""Talos for a whole cluster: patches, registry mirrors, features."""

from __future__ import annotations

from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.shapes import HTTP_URL, REPOSITORY_FILE, Between, Example, Kept

PatchText = Annotated[object, Example("machine: {sysctls: {vm.nr_hugepages: '1024'}}"), Kept()]
KernelArgument = Annotated[str, Example("net.ifnames=0")]


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
    """Where images of one registry come from instead, and how one gets in there."""

    endpoints: tuple[Annotated[str, HTTP_URL], ...] = ()
    """Mirrors, tried in order. Empty: the registry itself, with the credentials that follow."""
    skip_fallback: bool = False
    """Whether the registry itself is left out when no mirror answers."""
    override_path: bool = False
    """Whether the mirrors' addresses are whole, without `/v2` behind them."""
    username: str | None = None
    """None: anonymous."""
    password: Secret | None = None
    """None: anonymous."""
    ca_file: Annotated[str, REPOSITORY_FILE] | None = None
    """CA of the mirrors, a file in the repository. None: public CAs."""
    client_cert_file: Annotated[str, REPOSITORY_FILE] | None = None
    """Certificate that the machine shows to the mirrors. None: none."""
    client_key: Secret | None = None
    """Key of that certificate. None: none."""
    insecure_skip_verify: bool = False
    """Whether certificates of the mirrors are not checked."""


@record
class KubePrism(Traced):
    """The Kubernetes API on each machine's own loopback address, whatever controllers are up."""

    enabled: bool = True
    """Whether it is there; Cilium is pointed at it."""
    port: Annotated[int, Between(1, 65_535)] = 7445
    """Port."""


@record
class HostDns(Traced):
    """The caching DNS server on each machine."""

    enabled: bool = True
    """Whether it is there."""
    forward_kube_dns: bool = True
    """Whether CoreDNS asks it instead of the name servers of the network."""
    resolve_member_names: bool = False
    """Whether it knows the names of the nodes."""
