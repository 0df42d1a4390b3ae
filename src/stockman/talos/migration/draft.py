"""Contracts, the edits of a migration, and the draft of a configuration that records them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import field, replace
from enum import Enum
from typing import NamedTuple

from stockman.model.errors import Refused
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.model.version import Version
from stockman.talos.documents import as_mapping, as_text
from stockman.talos.machine.masking import CONFIDENTIAL
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument
from stockman.talos.patches.schema import MINORS, Branch, Tree, load_schema, plain_value

Plain = dict[str, object]
"""A document or a part of it: mappings, lists and values."""
Key = tuple[str, str]
"""Kind and name of a document; the name is empty for kinds without names."""
Configuration = dict[Key, Plain]


class EditNature(Enum):
    """Whether an edit changes the behaviour of the machine."""

    MOVED = "moved"
    """The same setting in the form of the newer contract."""
    REMOVED = "removed"
    """Removes a setting without effect."""
    DEFAULT = "default"
    """Adopts a default of the newer contract: the behaviour changes."""


@record
class ConfigEdit:
    """One change of one value. Applied in order, edits create the new configuration."""

    kind: str
    name: str
    """Empty: the kind has no names."""
    path: str
    """Keys from the root, `machine.network.hostname`. Empty: the whole document."""
    before: object
    """None: there was no value."""
    after: object
    """None: the value is removed."""
    reason: str
    since: str
    """The contract that requires it, `1.12`."""
    nature: EditNature = EditNature.MOVED
    origin: Origin | None = field(default=None, compare=False, metadata={"shown": False})
    """Where `before` was written. None: nowhere, or an earlier edit created it."""

    @property
    def document(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def apply_edits(configuration: Configuration, edits: Iterable[ConfigEdit]) -> Configuration:
    """Return the configuration after the edits; the argument is not changed."""
    result = deepcopy(configuration)
    for edit in edits:
        key = (edit.kind, edit.name)
        after = deepcopy(edit.after)
        if edit.path:
            set_value(result.setdefault(key, {}), edit.path, after)
        elif isinstance(after, dict):
            result[key] = after
        else:
            result.pop(key, None)
    return result


def value_at(document: Plain, path: str) -> object:
    """Return the value at a path; None: there is none."""
    value: object = document
    for step in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def set_value(document: Plain, path: str, value: object) -> None:
    """Set the value at a path; None removes it, and sections that become empty."""
    *parents, last = path.split(".")
    mappings = [document]
    for step in parents:
        child = mappings[-1].setdefault(step, {})
        if not isinstance(child, dict):
            raise TypeError(f"{path} leads through a value")
        mappings.append(child)
    if value is not None:
        mappings[-1][last] = value
        return
    mappings[-1].pop(last, None)
    for mapping, step in reversed(list(zip(mappings[1:], parents[1:], strict=False))):
        if step in mapping and mapping[step] == {}:
            del mapping[step]


def select_fields(source: Plain, *names: str, **renamed: str) -> Plain:
    """Return the existing fields: `names` unchanged, `renamed` as new name = old name."""
    selected = {**{name: name for name in names}, **renamed}
    return {new: source[old] for new, old in selected.items() if old in source}


def decode_base64(value: object) -> str:
    """Decode base64 of the v1alpha1 document to PEM text; empty if there is none."""
    encoded = as_text(value)
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return encoded


V1ALPHA1_KEY: Key = (V1ALPHA1, "")


class ConfigDraft:
    """Documents as plain values, and the edits that were applied."""

    def __init__(
        self, documents: Iterable[ConfigDocument], *, fragment: bool, adopt: bool, keep_oidc: bool
    ) -> None:
        self._trees = {document_key(document): document.tree for document in documents}
        self.configuration: Configuration = {
            key: as_mapping(plain_value(tree)) for key, tree in self._trees.items()
        }
        self.fragment = fragment
        """Whether this is a patch: settings that it does not have stay unset."""
        self.adopt = adopt
        """Whether to adopt new defaults."""
        self.keep_oidc = keep_oidc
        """Whether OIDC arguments are kept as arguments."""
        self.since = ""
        """The contract of the current step."""
        self.edits: list[ConfigEdit] = []
        self.problems = Problems()

    @property
    def v1alpha1(self) -> Plain:
        """The v1alpha1 document; empty if there is none."""
        return self.configuration.get(V1ALPHA1_KEY, {})

    @property
    def is_controller(self) -> bool:
        """Whether the machine may be a controller: by its type, or because a patch has none."""
        kind = value_at(self.v1alpha1, "machine.type")
        return kind in ("controlplane", "init") or (self.fragment and kind is None)

    @property
    def is_worker(self) -> bool:
        return value_at(self.v1alpha1, "machine.type") in ("worker", "join")

    def has(self, path: str) -> bool:
        return value_at(self.v1alpha1, path) is not None

    def get(self, path: str) -> object:
        """Return a value of the v1alpha1 document; None: there is none."""
        return value_at(self.v1alpha1, path)

    def section(self, path: str) -> Plain:
        """Return a mapping of the v1alpha1 document; empty if there is none."""
        return as_mapping(value_at(self.v1alpha1, path))

    def take(self, path: str, reason: str, nature: EditNature = EditNature.MOVED) -> object:
        """Remove and return a value of the v1alpha1 document; None: there was none."""
        before = value_at(self.v1alpha1, path)
        if before is not None:
            self._write(V1ALPHA1_KEY, path, None, reason, nature)
        return before

    def take_section(self, path: str, reason: str) -> Plain:
        """Remove and return a mapping of the v1alpha1 document; empty if there is none."""
        return as_mapping(self.take(path, reason))

    def move(self, path: str, kind: str, reason: str, field: str = "") -> None:
        """Move a value to a document: to one of its fields, or its entries as all fields."""
        value = self.take(path, reason)
        if value:
            self.put(kind, {field: value} if field else as_mapping(value), reason)

    def replace(
        self, path: str, after: object, reason: str, nature: EditNature = EditNature.MOVED
    ) -> None:
        """Replace a value of the v1alpha1 document."""
        if value_at(self.v1alpha1, path) != after:
            self._write(V1ALPHA1_KEY, path, after, reason, nature)

    def put(
        self,
        kind: str,
        fields: Mapping[str, object],
        reason: str,
        *,
        name: str = "",
        nature: EditNature = EditNature.MOVED,
    ) -> None:
        """Add a document, or fields to an existing one, whose values are kept.

        A document that would have neither fields nor a name is not added.
        """
        if not fields and not name:
            return
        key = (kind, name)
        present = self.configuration.get(key)
        if present is None:
            name_field: Plain = {"name": name} if name else {}
            document: Plain = {"apiVersion": V1ALPHA1, "kind": kind, **name_field, **fields}
            self._write(key, "", document, reason, nature)
            return
        for name, value in fields.items():
            after = _join_values(present.get(name), value)
            if present.get(name) != after:
                self._write(key, name, after, reason, nature)

    def keep(self, path: str, why: str, fix: str) -> None:
        """Warn that a value stays in place because the newer contract cannot express it."""
        self.problems.warn(
            "migration.kept",
            f"{path} stays in the v1alpha1 document",
            why=why,
            fix=fix,
            at=self.origin(V1ALPHA1_KEY, path),
        )

    def warn_change(self, path: str, title: str, why: str, fix: str) -> None:
        """Warn that the behaviour changes."""
        self.problems.warn(
            "migration.changed", title, why=why, fix=fix, at=self.origin(V1ALPHA1_KEY, path)
        )

    def origin(self, key: Key, path: str) -> Origin | None:
        """Return where a value was written, or its nearest known parent."""
        tree: Tree | None = self._trees.get(key)
        for step in path.split(".") if path else ():
            child = tree.get(step) if isinstance(tree, Branch) else None
            if child is None:
                break
            tree = child
        if tree is None or tree.origin.is_derived:
            return None
        return tree.origin

    def _write(self, key: Key, path: str, after: object, reason: str, nature: EditNature) -> None:
        before = value_at(self.configuration[key], path) if path else None
        self.edits.append(
            ConfigEdit(
                kind=key[0],
                name=key[1],
                path=path,
                before=deepcopy(before),
                after=deepcopy(after),
                reason=reason,
                since=self.since,
                nature=nature,
                origin=None if before is None else self.origin(key, path),
            )
        )
        if path:
            set_value(self.configuration[key], path, deepcopy(after))
        else:
            self.configuration[key] = as_mapping(deepcopy(after))


def document_key(document: ConfigDocument) -> Key:
    return (document.kind.name, document.name)


def _join_values(before: object, added: object) -> object:
    if before is None:
        return added
    if isinstance(before, dict) and isinstance(added, dict):
        result = dict(before)
        for key, value in added.items():
            result[key] = _join_values(result.get(key), value)
        return result
    if isinstance(before, list) and isinstance(added, list):
        return [*before, *(item for item in added if item not in before)]
    return before


_CONFIDENTIAL = CONFIDENTIAL | {"apiUrl", "content", "contents", "key", "manifest"}
"""Fields whose text is or may contain a secret."""
_ALL_BELOW = frozenset({"env", "environment", "extraManifestHeaders", "headers", "variables"})
"""Fields where every value may be a secret."""


def mask_edit(edit: ConfigEdit) -> ConfigEdit:
    """Return an edit with secrets masked."""
    last = edit.path.rpartition(".")[2]
    return replace(edit, before=_mask(edit.before, last), after=_mask(edit.after, last))


def mask_value(value: object) -> object:
    """Return a document or a part of it with secrets masked."""
    return _mask(value, "")


def _mask(value: object, key: str, *, hidden: bool = False) -> object:
    hidden = hidden or key in _ALL_BELOW
    if isinstance(value, dict):
        return {name: _mask(item, name, hidden=hidden) for name, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, key, hidden=hidden) for item in value]
    if value in (None, "") or isinstance(value, bool):
        return value
    return MASK if hidden or key in _CONFIDENTIAL else value


CONTRACTS = MINORS
"""Oldest first."""


def parse_contract(text: str) -> str:
    """Parse a contract, `1.14` or `v1.14.1`; raises Refused if it is unknown."""
    try:
        version = Version.parse(text)
    except ValueError:
        raise Refused(_unknown_contract_problem(text)) from None
    line = f"{version.major}.{version.minor}"
    if line not in CONTRACTS:
        raise Refused(_unknown_contract_problem(text))
    return line


def detect_contract(documents: Iterable[ConfigDocument]) -> str:
    """Return the oldest contract that supports every document of a configuration."""
    kinds = {document.kind.name for document in documents}
    for line in CONTRACTS:
        if kinds <= load_schema(line).kinds.keys():
            return line
    return CONTRACTS[-1]


def contract_path(source: str, target: str) -> tuple[str, ...]:
    """Return the contracts to migrate through; raises Refused for a downgrade."""
    first, last = CONTRACTS.index(source), CONTRACTS.index(target)
    if last < first:
        raise Refused(downgrade_problem(source, target))
    return CONTRACTS[first + 1 : last + 1]


def downgrade_problem(source: str, target: str) -> Problem:
    return Problem(
        code="migration.downward",
        what=f"a configuration of contract {source} cannot go back to contract {target}",
        why=f"{target} cannot express all settings of the documents of {source}",
        fix=f"choose contract {source} or later, or restore the older configuration from history",
    )


def _unknown_contract_problem(text: str) -> Problem:
    return Problem(
        code="migration.contract",
        what=f"unknown contract {text}",
        why=f"the supported contracts are {CONTRACTS[0]} to {CONTRACTS[-1]}",
        fix=f"use one of {', '.join(CONTRACTS)}",
    )


class MovedField(NamedTuple):
    """A field, the contract that moved it, and its new document."""

    path: str
    since: str
    to: str


MOVED_FIELDS = tuple(
    MovedField(*row)
    for row in (
        ("machine.network.hostname", "1.12", "HostnameConfig"),
        ("machine.network.interfaces", "1.12", "LinkConfig and related documents"),
        ("machine.network.nameservers", "1.12", "ResolverConfig"),
        ("machine.network.searchDomains", "1.12", "ResolverConfig"),
        ("machine.network.disableSearchDomain", "1.12", "ResolverConfig"),
        ("machine.network.extraHostEntries", "1.12", "StaticHostConfig"),
        ("machine.time", "1.12", "TimeSyncConfig"),
        ("machine.registries", "1.12", "RegistryMirror-, RegistryAuth- and RegistryTLSConfig"),
        ("machine.systemDiskEncryption", "1.12", "VolumeConfig"),
        ("machine.features.rbac", "1.12", "nothing; it is always on"),
        ("machine.features.stableHostname", "1.12", "HostnameConfig"),
        ("machine.features.apidCheckExtKeyUsage", "1.12", "nothing; it is always on"),
        ("cluster.apiServer.disablePodSecurityPolicy", "1.12", "nothing; there are none"),
        ("machine.network.kubespan", "1.13", "KubeSpanConfig"),
        ("machine.env", "1.13", "EnvironmentConfig"),
        ("machine.network", "1.13", "network documents"),
        ("machine.install", "1.14", "UnattendedInstallConfig"),
        ("machine.sysctls", "1.14", "SysctlConfig"),
        ("machine.sysfs", "1.14", "SysfsConfig"),
        ("machine.udev", "1.14", "UdevRulesConfig"),
        ("machine.kernel", "1.14", "KernelModuleConfig"),
        ("machine.files", "1.14", "CRICustomizationConfig"),
        ("machine.baseRuntimeSpecOverrides", "1.14", "CRIBaseRuntimeSpecConfig"),
        ("machine.pods", "1.14", "KubeStaticPodConfig"),
        ("machine.kubelet", "1.14", "KubeletConfig and KubeNodeConfig"),
        ("machine.nodeLabels", "1.14", "KubeNodeConfig"),
        ("machine.nodeAnnotations", "1.14", "KubeNodeConfig"),
        ("machine.nodeTaints", "1.14", "KubeNodeConfig"),
        ("machine.controlPlane", "1.14", "KubeControllerManagerConfig and KubeSchedulerConfig"),
        ("machine.features.hostDNS", "1.14", "ResolverConfig"),
        ("machine.features.kubePrism", "1.14", "KubePrismConfig"),
        ("machine.features.imageCache", "1.14", "ImageCacheConfig"),
        ("machine.features.kubernetesTalosAPIAccess", "1.14", "KubeTalosAPIAccessConfig"),
        ("cluster.id", "1.14", "DiscoveryIdentityConfig"),
        ("cluster.secret", "1.14", "DiscoveryIdentityConfig"),
        ("cluster.discovery", "1.14", "DiscoveryServiceConfig"),
        ("cluster.clusterName", "1.14", "KubeClusterConfig"),
        ("cluster.controlPlane", "1.14", "KubeClusterConfig and KubeAPIServerConfig"),
        ("cluster.network", "1.14", "KubeNetworkConfig and KubeFlannelCNIConfig"),
        ("cluster.ca", "1.14", "KubeAPIServerCAConfig"),
        ("cluster.acceptedCAs", "1.14", "KubeAPIServerCAConfig"),
        ("cluster.aggregatorCA", "1.14", "KubeAggregatorCAConfig"),
        ("cluster.serviceAccount", "1.14", "KubeServiceAccountConfig"),
        ("cluster.secretboxEncryptionSecret", "1.14", "KubeEtcdEncryptionConfig"),
        ("cluster.aescbcEncryptionSecret", "1.14", "KubeEtcdEncryptionConfig"),
        ("cluster.apiServer", "1.14", "KubeAPIServerConfig and related documents"),
        ("cluster.controllerManager", "1.14", "KubeControllerManagerConfig"),
        ("cluster.scheduler", "1.14", "KubeSchedulerConfig"),
        ("cluster.proxy", "1.14", "KubeProxyConfig"),
        ("cluster.coreDNS", "1.14", "KubeCoreDNSConfig"),
        ("cluster.extraManifests", "1.14", "KubeExternalManifestConfig"),
        ("cluster.extraManifestHeaders", "1.14", "KubeExternalManifestConfig"),
        ("cluster.inlineManifests", "1.14", "KubeInlineManifestConfig"),
        ("cluster.allowSchedulingOnControlPlanes", "1.14", "KubeNodeConfig"),
        ("cluster.allowSchedulingOnMasters", "1.14", "KubeNodeConfig"),
    )
)


def find_moved_field(path: str, target: str) -> MovedField | None:
    """Return the most specific moved field at or above a path. None: it was not moved."""

    last = CONTRACTS.index(target)
    matches = [
        field
        for field in MOVED_FIELDS
        if f"{path}.".startswith(f"{field.path}.") and CONTRACTS.index(field.since) <= last
    ]
    return max(matches, key=lambda field: len(field.path), default=None)
