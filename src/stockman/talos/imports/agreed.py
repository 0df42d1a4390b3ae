"""What machines say themselves of things that are keys of the whole cluster here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stockman.talos.imports.configurations import V1ALPHA1, Configuration, value_at
from stockman.talos.imports.foreign import ForeignNode
from stockman.talos.machine.facts import Document

MAIN = (V1ALPHA1, "")
_DOMAIN = re.compile(r"(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+")


def agreed(found: Iterable[list[str]]) -> list[str]:
    """What all say that say anything; nothing where they do not agree."""
    known = [one for one in found if one]
    return known[0] if known and all(one == known[0] for one in known) else []


def listed(configuration: Configuration, path: tuple[str, ...]) -> list[str]:
    """A list of texts of the v1alpha1 document."""
    found = value_at(configuration, MAIN, path)
    return [str(one) for one in found] if isinstance(found, list) else []


def name_servers(configuration: Configuration) -> list[str]:
    """Name servers, of the document and of the old field."""
    old = listed(configuration, ("machine", "network", "nameservers"))
    new = value_at(configuration, ("ResolverConfig", ""), ("nameservers",))
    servers = new if isinstance(new, list) else []
    found = [str(one.get("address")) for one in servers if isinstance(one, dict)]
    return list(dict.fromkeys((*found, *old)))


def time_servers(configuration: Configuration) -> list[str]:
    """Time servers, of the document or else of the old field."""
    old = listed(configuration, ("machine", "time", "servers"))
    new = value_at(configuration, ("TimeSyncConfig", ""), ("ntp", "servers"))
    return [str(one) for one in new] if isinstance(new, list) else old


def scheduling(configuration: Configuration) -> list[str]:
    """Whether controllers take work."""
    found = value_at(configuration, MAIN, ("cluster", "allowSchedulingOnControlPlanes"))
    return ["true" if found else "false"]


def install_disk(configuration: Configuration) -> str:
    """The disk by its path or serial number. Empty: it is found in another way."""
    disk = value_at(configuration, MAIN, ("machine", "install", "disk"))
    if isinstance(disk, str):
        return disk
    selector = value_at(configuration, MAIN, ("machine", "install", "diskSelector"))
    if not isinstance(selector, dict):
        return ""
    return str(selector["serial"]) if list(selector) == ["serial"] else "*"


def domains(nodes: Iterable[ForeignNode], theirs: dict[str, Configuration], api: str) -> list[str]:
    """Domain names that every machine and every API has."""
    lists = []
    for node in nodes:
        lists.append(listed(theirs[node.name], ("machine", "certSANs")))
        if node.is_controller:
            lists.append(listed(theirs[node.name], ("cluster", "apiServer", "certSANs")))
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if name != api and _DOMAIN.fullmatch(name) and all(name in one for one in lists)
    ]


def configuration_of(documents: Iterable[Document]) -> Configuration:
    """Documents by kind and name."""
    return {(str(one.get("kind", V1ALPHA1)), str(one.get("name", ""))): one for one in documents}
