"""Definitions of resources, and how their contents are written, in each minor.

The table is made by `scripts/write_talos_definitions.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from stockman.model.package_file import read_package_bytes
from stockman.talos.wire.tables import minor_matches

META = "meta"
DEFINITIONS = "ResourceDefinitions.meta.cosi.dev"
NAMESPACES = "Namespaces.meta.cosi.dev"
_DEFINITION_FACTS = 7
_ROW_FACTS = 4


@dataclass(frozen=True, slots=True)
class Definition:
    """One kind of resources, as a machine itself describes it."""

    type: str
    """`LinkStatuses.net.talos.dev`."""
    display: str
    aliases: tuple[str, ...]
    namespace: str
    is_sensitive: bool = False
    columns: tuple[tuple[str, str], ...] = ()
    """Names, and paths into the contents."""
    has_automatic_aliases: bool = True

    @property
    def id(self) -> str:
        return self.type.lower()

    @property
    def all_aliases(self) -> tuple[str, ...]:
        """Aliases together with the beginnings of the type."""
        if not self.has_automatic_aliases:
            return self.aliases
        texts = self.id.split(".")
        beginnings = (".".join(texts[:count]) for count in range(1, len(texts)))
        return (*beginnings, *self.aliases)


@dataclass(frozen=True, slots=True)
class Row:
    """One field of a structure."""

    key: str
    """In YAML. Empty: the contents stand for the structure itself."""
    number: int
    omits_empty: bool = False
    is_inline: bool = False
    is_pointer: bool = False
    is_hidden: bool = False
    """Never in YAML, on the wire only."""
    hint: str = ""
    """What neither YAML nor wire tells: `mac`, `text`, `base64`, `cel`, `bytes`, a set of flags."""


_META_DEFINITIONS = (
    Definition(
        DEFINITIONS,
        "ResourceDefinition",
        ("api-resources", "resourcedefinition", "rd", "rds"),
        META,
        columns=(("Aliases", "{.aliases[:]}"),),
    ),
    Definition(NAMESPACES, "Namespace", ("ns", "namespace"), META),
)
_NAMESPACES = (
    ("cluster", "Cluster configuration and discovery resources.", ""),
    ("cluster-raw", "Cluster unmerged raw resources.", ""),
    ("config", "Talos node configuration.", ""),
    ("containers", "Talos-managed container resources.", "1.14-1.14"),
    ("controlplane", "Kubernetes control plane resources.", ""),
    ("cri", "CRI Seccomp resources.", ""),
    ("etcd", "etcd resources.", ""),
    ("files", "Files and file-like resources.", ""),
    ("hardware", "Hardware resources.", ""),
    ("k8s", "Kubernetes all node types resources.", ""),
    ("kubespan", "KubeSpan resources.", ""),
    (META, "Metadata namespace which contains resource and namespace definitions.", ""),
    ("network", "Networking resources.", ""),
    ("network-config", "Networking configuration resources.", ""),
    ("perf", "Stats resources.", ""),
    ("runtime", "Talos v1alpha1 subsystems glue resources.", ""),
    ("secrets", "Resources with secret material.", ""),
    ("security", "Security resources.", "1.13-1.14"),
    ("storage", "Storage resources.", "1.14-1.14"),
)


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(read_package_bytes("stockman_lab.talos.cosi", "tables.json"))
    return table


@cache
def definitions(minor: str) -> dict[str, Definition]:
    """All kinds of a minor by id."""
    by_name = {
        str(row[0]).lower(): _definition(row)
        for row in _table()["definitions"]
        if len(row) == _DEFINITION_FACTS or minor_matches(row[_DEFINITION_FACTS], minor)
    }
    return by_name | {meta_definition.id: meta_definition for meta_definition in _META_DEFINITIONS}


def _definition(row: list[Any]) -> Definition:
    kind, display, aliases, namespace, sensitive, columns, automatic = row[:_DEFINITION_FACTS]
    return Definition(
        kind,
        display,
        tuple(aliases),
        namespace,
        bool(sensitive),
        tuple((name, path) for name, path in columns),
        bool(automatic),
    )


@cache
def namespaces(minor: str) -> dict[str, str]:
    """Namespaces of a minor, and what they are for."""
    return {name: text for name, text, span in _NAMESPACES if minor_matches(span, minor)}


def shape_of(kind: str) -> str:
    """The structure that the contents of a kind are, `network.LinkStatusSpec`. Empty: none."""
    return str(_table()["kinds"].get(kind, ""))


@cache
def rows(shape: str, minor: str) -> tuple[Row, ...]:
    """Fields of a structure in their order. Empty: nothing is known of it."""
    found = []
    for row in cast("list[list[Any]]", _table()["shapes"].get(shape, [])):
        values: list[Any] = [*row, *([""] * (_ROW_FACTS + 1 - len(row)))]
        key, number, flags, hint, span = values
        if minor_matches(span, minor):
            letters = str(flags)
            found.append(
                Row(
                    key,
                    number,
                    "o" in letters,
                    "i" in letters,
                    "p" in letters,
                    "n" in letters,
                    hint,
                )
            )
    return tuple(found)


@cache
def words(enum: str) -> dict[str, int]:
    """Numbers that words stand for, `up` and `down`, by the enum's short name."""
    return dict(_table()["words"].get(enum, {}))


@cache
def word_of(enum: str, number: int) -> str:
    """The word for a number. Empty: there is none."""
    return next((name for name, one in words(enum).items() if one == number), "")
