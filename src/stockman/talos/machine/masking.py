"""Mask secrets of machine configurations, and compare their values by path."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from stockman.model.desired import Desired
from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import MASK, Secret, SecretForm, find_secrets
from stockman.model.version import Version
from stockman.talos.machine.origins import bundle_value_names
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument
from stockman.talos.patches.schema import Branch, Items, Leaf, Tree, iter_leaves
from stockman.talos.secrets.bundle import SecretsBundle

CONFIDENTIAL = frozenset(
    (
        *("aescbcEncryptionSecret", "apiToken", "auth", "clusterSecret", "identityToken"),
        *("passphrase", "password", "presharedKey", "privateKey", "secret"),
        *("secretboxEncryptionSecret", "token", "uniqueToken"),
    )
)
"""Names of fields that Talos masks, in any document."""
_HEADERS = frozenset({"extraManifestHeaders", "headers"})
"""Mappings where every value may be a credential."""
_CERTIFICATES = frozenset({"crt", "cert"})
_JOIN_TOKEN = "jointoken="
_SHORTEST = 8
"""Shorter secrets are only masked as a whole value: they could be part of any word."""
_PUBLIC = ("cluster.id", ".crt")


class SecretMask:
    """Masks secrets of one cluster: typed secrets, fields that Talos masks, and known values."""

    def __init__(self, known: Iterable[Secret], files: Iterable[str] = ()) -> None:
        """`files`: all values from these files are confidential."""
        texts = {secret.reveal() for secret in known if secret.form is SecretForm.LITERAL}
        self._known = texts - {""}
        self._files = frozenset(files)
        pieces = {line for text in texts for line in (text, text.strip())}
        self._long = sorted(
            (piece for piece in pieces if len(piece) >= _SHORTEST), key=len, reverse=True
        )

    def mask(self, document: Branch) -> Branch:
        """Return a document with `***` for everything confidential; origins are kept."""
        return self._branch(document, "")

    def line(self, text: str) -> str:
        """Return a text without any known secret."""
        for secret in self._long:
            text = text.replace(secret, MASK)
        return text

    def _branch(self, branch: Branch, key: str) -> Branch:
        has_certificate = bool(_CERTIFICATES & branch.keys()) or key == "serviceAccount"
        entries: dict[str, Tree] = {}
        for name, item in branch.items():
            hidden = name in CONFIDENTIAL or key in _HEADERS
            hidden = hidden or (name == "key" and has_certificate)
            entries[name] = self._tree(item, name, hidden=hidden)
        return Branch(branch.origin, entries)

    def _tree(self, tree: Tree, key: str, *, hidden: bool) -> Tree:
        if isinstance(tree, Branch):
            return self._branch(tree, key)
        if isinstance(tree, Items):
            items = [self._tree(item, key, hidden=hidden) for item in tree]
            return Items(tree.origin, items)
        return self._leaf(tree, hidden=hidden)

    def _leaf(self, leaf: Leaf, *, hidden: bool) -> Leaf:
        value = leaf.value
        if isinstance(value, Secret) or leaf.origin.at.file in self._files:
            return Leaf(MASK, leaf.origin)
        if not isinstance(value, str) or not value:
            return leaf
        if hidden or value in self._known or _JOIN_TOKEN in value:
            return Leaf(MASK, leaf.origin)
        return Leaf(self.line(value), leaf.origin)


def list_secrets(desired: Desired, bundle: SecretsBundle) -> Iterator[Secret]:
    """Yield every secret that a configuration may contain."""
    for text, name in bundle_value_names(bundle).items():
        if not name.endswith(_PUBLIC):
            yield Secret(text)
    yield from (secret for _, secret in find_secrets(desired))


INSTALLER_PATHS = ("machine.install.image", "UnattendedInstallConfig: installer.image")
"""Changed by upgrades; a running machine ignores it."""
_UNORDERED = ("machine.certSANs", "cluster.apiServer.certSANs", "certExtraSANs")
"""Lists whose order does not matter."""
_AUTHORITY = "machine.ca.crt"
_ROLE = "machine.type"
_HOSTNAMES = ("HostnameConfig: hostname", "machine.network.hostname")
_ABSENT = object()
_BLANK = pattern(r"\s+")
_CACHE_SIZE = 128
"""Number of cached texts: a plan compares each machine several times."""


@record
class ConfigurationValues:
    """Every value of a configuration by path, including secrets; never shown."""

    values: Mapping[str, object] = field(repr=False)
    """`machine.type`, or `LinkConfig net0: mtu` in documents other than v1alpha1."""
    shown: Mapping[str, object] = field(repr=False)
    """The values with `***` for everything that Talos masks."""

    @property
    def digest(self) -> str:
        """Digest to compare configurations, ignoring secrets and the installer."""
        rows = {path: value for path, value in self.shown.items() if path not in INSTALLER_PATHS}
        text = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def authority(self) -> str:
        """SHA-256 of the CA certificate of the cluster. Empty: there is none."""
        text = str(self.values.get(_AUTHORITY, ""))
        try:
            pem = base64.b64decode(_BLANK.sub("", text)).strip()
        except ValueError:
            pem = text.encode()
        return hashlib.sha256(pem).hexdigest() if pem else ""

    @property
    def role(self) -> str:
        """`controlplane` or `worker`."""
        return str(self.values.get(_ROLE, ""))

    @property
    def hostname(self) -> str:
        """The hostname that it sets. Empty: none."""
        return next((str(self.values[path]) for path in _HOSTNAMES if path in self.values), "")


def configuration_values(text: Secret, minor: str) -> ConfigurationValues:
    """Return the values of a text as Talos prints them; raises PatchRefused if Talos would."""
    return _read_values(text.reveal(), minor)


@lru_cache(maxsize=_CACHE_SIZE)
def _read_values(text: str, minor: str) -> ConfigurationValues:
    documents = load_documents("configuration", text, minor)
    masking = SecretMask(())
    return ConfigurationValues(
        values=dict(_iter_values(documents, lambda tree: tree)),
        shown=dict(_iter_values(documents, masking.mask)),
    )


def changed_paths(before: ConfigurationValues, after: ConfigurationValues) -> tuple[str, ...]:
    """Return the paths whose values differ, sorted, without the installer."""
    paths = {*before.values, *after.values} - set(INSTALLER_PATHS)
    return tuple(
        sorted(
            path
            for path in paths
            if before.values.get(path, _ABSENT) != after.values.get(path, _ABSENT)
        )
    )


def _iter_values(
    documents: Iterable[ConfigDocument], shown: Callable[[Branch], Branch]
) -> Iterator[tuple[str, object]]:
    for document in documents:
        prefix = "" if document.kind.name == V1ALPHA1 else f"{document.label}: "
        for path, leaf in iter_leaves(shown(document.canonical())):
            value = _comparable_value(leaf)
            list_path = path.rpartition("[")[0]
            value_path = f"{list_path}[{value}]" if list_path in _UNORDERED else path
            yield f"{prefix}{value_path}", value


def _comparable_value(leaf: Leaf) -> object:
    return leaf.value.reveal() if isinstance(leaf.value, Secret) else leaf.value


_ALWAYS_LIVE_SINCE = (1, 14)
"""The first minor that applies every change without a reboot."""
_AT_BOOT = ("machine.files", "machine.udev", "machine.disks", "machine.systemDiskEncryption")
"""Changes that the newest minors accept without a reboot, but apply only at boot."""
_LIVE_SECTIONS = ("version", "debug", "cluster")
_LIVE_MACHINE_FIELDS = (
    *("acceptedCAs", "ca", "certSANs", "controlPlane", "install", "kernel", "kubelet", "logging"),
    *("network", "nodeAnnotations", "nodeLabels", "nodeTaints", "pods", "registries"),
    *("seccompProfiles", "sysctls", "sysfs", "time"),
)
_LIVE_FEATURES = (
    "hostDNS",
    "imageCache",
    "kubePrism",
    "kubernetesTalosAPIAccess",
    "nodeAddressSortAlgorithm",
)


def paths_needing_reboot(paths: Iterable[str], version: Version) -> tuple[str, ...]:
    """Return the changed paths that need a reboot. Empty: none."""
    if version.line >= _ALWAYS_LIVE_SINCE:
        return tuple(path for path in paths if _is_below(path, _AT_BOOT))
    return tuple(path for path in paths if not _is_live(path))


def _is_live(path: str) -> bool:
    if ": " in path:
        # Talos does not compare other documents: their controllers apply them.
        return True
    if path.startswith("machine.registries.config.") and ".auth." in path:
        return False
    if _is_below(path, _LIVE_SECTIONS) or _is_below(
        path, _with_prefix("machine", _LIVE_MACHINE_FIELDS)
    ):
        return True
    return _is_below(path, _with_prefix("machine.features", _LIVE_FEATURES))


def _with_prefix(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names)


def _is_below(path: str, parents: tuple[str, ...]) -> bool:
    return any(
        path == parent or path.startswith((f"{parent}.", f"{parent}[")) for parent in parents
    )
