"""A configuration by its values: what two of them differ in, and digests that tell no secret."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.machine.assembly_secrets import Masking
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.documents import V1ALPHA1, Document
from stockman.talos.patches.tree import Branch, Leaf, leaves

INSTALLER = ("machine.install.image", "UnattendedInstallConfig: installer.image")
"""Upgrades and those who carry them out change it; a machine that runs does not care."""
_UNORDERED = ("machine.certSANs", "cluster.apiServer.certSANs", "certExtraSANs")
"""Lists in which only the names count, not their order."""
_AUTHORITY = "machine.ca.crt"
_ROLE = "machine.type"
_HOSTNAMES = ("HostnameConfig: hostname", "machine.network.hostname")
_ABSENT = object()
_BLANK = re.compile(r"\s+")
_REMEMBERED = 128
"""How many texts are not read again: a plan compares each of a machine several times."""


@record
class ConfigurationValues:
    """Every value of a configuration by its path; secrets are among them, and never shown."""

    values: Mapping[str, object] = field(repr=False)
    """`machine.type`, or `LinkConfig net0: mtu` in another document than the oldest."""
    shown: Mapping[str, object] = field(repr=False)
    """The same with `***` in place of everything that Talos itself keeps secret."""

    @property
    def digest(self) -> str:
        """Says whether two configurations are the same, but for their secrets."""
        rows = {path: value for path, value in self.shown.items() if path not in INSTALLER}
        text = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def authority(self) -> str:
        """SHA-256 of the certificate that machines of its cluster show. Empty: there is none."""
        found = str(self.values.get(_AUTHORITY, ""))
        try:
            pem = base64.b64decode(_BLANK.sub("", found)).strip()
        except ValueError:
            pem = found.encode()
        return hashlib.sha256(pem).hexdigest() if pem else ""

    @property
    def role(self) -> str:
        """`controlplane` or `worker`."""
        return str(self.values.get(_ROLE, ""))

    @property
    def hostname(self) -> str:
        """The name that it gives the machine. Empty: none."""
        return next((str(self.values[path]) for path in _HOSTNAMES if path in self.values), "")


def configuration_values(text: Secret, minor: str) -> ConfigurationValues:
    """The values of a text as Talos of a minor prints them; raises where it would refuse it."""
    return _read(text.reveal(), minor)


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str, minor: str) -> ConfigurationValues:
    documents = load_documents("configuration", text, minor)
    masking = Masking(())
    return ConfigurationValues(
        values=dict(_all(documents, lambda tree: tree)),
        shown=dict(_all(documents, masking.masked)),
    )


def differing(before: ConfigurationValues, after: ConfigurationValues) -> tuple[str, ...]:
    """Paths whose values are not the same, sorted; the installer does not count."""
    paths = {*before.values, *after.values} - set(INSTALLER)
    return tuple(
        sorted(
            path
            for path in paths
            if before.values.get(path, _ABSENT) != after.values.get(path, _ABSENT)
        )
    )


def _all(
    documents: Iterable[Document], shown: Callable[[Branch], Branch]
) -> Iterator[tuple[str, object]]:
    for document in documents:
        prefix = "" if document.kind.name == V1ALPHA1 else f"{document.label}: "
        for path, leaf in leaves(shown(document.printed())):
            value = _bare(leaf)
            place = path.rpartition("[")[0]
            named = f"{place}[{value}]" if place in _UNORDERED else path
            yield f"{prefix}{named}", value


def _bare(leaf: Leaf) -> object:
    return leaf.value.reveal() if isinstance(leaf.value, Secret) else leaf.value
