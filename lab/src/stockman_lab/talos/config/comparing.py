"""Whether a change of configuration needs a reboot, and what a machine answers to it."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.errors import StockmanError
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import Branch
from stockman_lab.talos.config.documents import documents
from stockman_lab.talos.config.judging import judged
from stockman_lab.talos.config.printing import difference, document_text, printed
from stockman_lab.talos.config.values import Tree, mapping

_ALWAYS_LIVE = "1.14"
"""The first minor that applies everything while it runs, and knows no reboot for it."""
_LIVE = frozenset({"debug", "cluster"})
_LIVE_MACHINE = frozenset(
    {
        "ca",
        "acceptedCAs",
        "time",
        "certSANs",
        "install",
        "network",
        "sysfs",
        "sysctls",
        "logging",
        "controlPlane",
        "kubelet",
        "kernel",
        "registries",
        "pods",
        "seccompProfiles",
        "nodeAnnotations",
        "nodeLabels",
        "nodeTaints",
    }
)
_LIVE_FEATURES = frozenset(
    {
        "kubernetesTalosAPIAccess",
        "kubePrism",
        "hostDNS",
        "imageCache",
        "nodeAddressSortAlgorithm",
    }
)
"""Of `Runtime.CanApplyImmediate`, the same in v1.11.5, v1.12.1 and v1.13.9."""

LIVE = "Applied configuration without a reboot"
REBOOTED = "Applied configuration with a reboot"
STAGED = "Staged configuration to be applied after the next reboot"
MAINTENANCE_DRY_RUN = (
    "Dry run summary:\nNode is running in maintenance mode and does not have a config yet."
)
"""Up to 1.12; newer ones answer as a machine that runs does."""
NO_OLDEST = (
    "the applied machine configuration doesn't contain v1alpha1 config, "
    "did you mean to patch the machine config instead?"
)
_NO_CHANGES = "No changes."


def needs_reboot(old: bytes, new: bytes, minor: str) -> list[str]:
    """Paths of the v1alpha1 document whose change cannot be applied while the machine runs.

    Other documents are never compared. From 1.14 on there are none.
    """
    if minor >= _ALWAYS_LIVE:
        return []
    before, after = documents(old).oldest or {}, documents(new).oldest or {}
    return list(_changed(before, after))


def _changed(before: Tree, after: Tree) -> Iterator[str]:
    for key in _differing(before, after):
        if key not in _LIVE and key != "machine":
            yield key
    old, new = mapping(before.get("machine")), mapping(after.get("machine"))
    for key in _differing(old, new):
        if key in _LIVE_MACHINE:
            continue
        if key != "features" or not (old.get(key) and new.get(key)):
            yield f"machine.{key}"
            continue
        for name in _differing(mapping(old[key]), mapping(new[key])):
            if name not in _LIVE_FEATURES:
                yield f"machine.features.{name}"


def _differing(before: Tree, after: Tree) -> list[str]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def live_refusal(old: bytes, new: bytes, minor: str) -> str:
    """Why a change cannot be applied while the machine runs, in Talos' words. Empty: it can."""
    if not needs_reboot(old, new, minor):
        return ""
    before, after = _oldest(old, minor), _oldest(new, minor)
    if before is None or after is None:
        return "new config is not v1alpha1" if after is None else "current config is not v1alpha1"
    _take(after.tree, before.tree, _LIVE)
    machines = before.tree.get("machine"), after.tree.get("machine")
    if isinstance(machines[0], Branch) and isinstance(machines[1], Branch):
        _take(machines[1], machines[0], _LIVE_MACHINE)
        features = machines[0].get("features"), machines[1].get("features")
        if isinstance(features[0], Branch) and isinstance(features[1], Branch):
            _take(features[1], features[0], _LIVE_FEATURES)
    told = difference(document_text(before), document_text(after), minor)
    return f"this config change can't be applied in immediate mode\ndiff:\n{told}"


def _oldest(text: bytes, minor: str) -> ConfigDocument | None:
    try:
        config_documents = load_documents("config", text.decode(errors="replace"), minor)
    except StockmanError:
        return None
    return next(
        (
            config_document
            for config_document in config_documents
            if config_document.kind.name == V1ALPHA1
        ),
        None,
    )


def _take(target: Branch, source: Branch, keys: frozenset[str]) -> None:
    """Let what may change be as it was, so that only the rest differs."""
    for key in keys:
        if key in source:
            target[key] = source[key]
        else:
            target.pop(key, None)


def dry_run(details: str, old: bytes, new: bytes, minor: str) -> str:
    """What a dry run answers: `details` are those of the mode that would be taken."""
    told = difference(printed(old, minor), printed(new, minor), minor) or _NO_CHANGES
    return f"Dry run summary:\n{details} (skipped in dry-run).\nConfig diff:\n\n{told}"


def tried(seconds: float) -> str:
    """What is said of a configuration that is taken back after a while."""
    span = go_duration(seconds)
    return (
        f"{LIVE}\nThe config is applied in 'try' mode and will be automatically reverted back "
        f"in {span}"
    )


def go_duration(seconds: float) -> str:
    """A span of time as Go writes it: 90 is `1m30s`."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:.10g}ms"
    whole = int(seconds)
    rest = f"{seconds - whole + whole % 60:.10g}s"
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60}m{rest}"
    return f"{whole // 60}m{rest}" if whole >= 60 else rest


def unusable(text: bytes, target: str) -> str:
    """Why a machine of another minor could not use the configuration that is on its disk.

    Empty: it can. The machine is installed, so nothing has to be said of an installation.
    """
    return judged(text, target, "cloud").message
