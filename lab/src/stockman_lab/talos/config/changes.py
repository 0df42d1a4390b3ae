"""Whether a change of configuration needs a reboot, and what a machine answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import cast

from stockman.model.errors import StockmanError
from stockman.talos.go_yaml import dump
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.schema import plain_value
from stockman_lab.talos.config.documents import documents
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
_CONTEXT = 3
_CACHED = 64
_COUNTED = "1.13"
"""The first minor that prints the length of a hunk of one line too."""


def needs_reboot(old: bytes, new: bytes, minor: str) -> list[str]:
    """Paths of the v1alpha1 document whose change cannot be applied while the machine runs.

    Other documents are never compared. From 1.14 on there are none.
    """
    if minor >= _ALWAYS_LIVE:
        return []
    before, after = documents(old).oldest or {}, documents(new).oldest or {}
    return list(_changes(before, after))


def _changes(before: Tree, after: Tree) -> Iterator[str]:
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
    """Why a change cannot be applied while the machine runs. Empty: it can."""
    paths = needs_reboot(old, new, minor)
    if not paths:
        return ""
    return f"this config change can't be applied in immediate mode: {', '.join(paths)}"


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
    number = int(seconds)
    text = f"{seconds - number + number % 60:.10g}s"
    if number >= 3600:
        return f"{number // 3600}h{number % 3600 // 60}m{text}"
    return f"{number // 60}m{text}" if number >= 60 else text


@lru_cache(maxsize=_CACHED)
def printed(text: bytes, minor: str) -> str:
    """All documents in Talos' own form, without comments; the text itself if it cannot be read."""
    source = text.decode(errors="replace")
    try:
        loaded = load_documents("config", source, minor)
    except StockmanError:
        return source
    return "---\n".join(
        dump(cast("dict[str, object]", plain_value(document.canonical()))) for document in loaded
    )


def difference(before: str, after: str, minor: str) -> str:
    """The unified difference of two texts as a minor writes it. Empty: they are the same."""
    if before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    lines = ["--- a", "+++ b"]
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        head = (
            _range(first[1], last[2] - first[1], minor),
            _range(first[3], last[4] - first[3], minor),
        )
        lines.append(f"@@ -{head[0]} +{head[1]} @@")
        lines += _hunk(group, old, new)
    return "\n".join([*lines, ""])


def _range(start: int, length: int, minor: str) -> str:
    first = start + 1
    if minor < _COUNTED:
        return f"{first},{length}" if length > 1 else str(first)
    return f"{first if length else start},{length}"


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]
) -> list[str]:
    lines = []
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            lines += [f" {line}" for line in old[old_start:old_end]]
            continue
        lines += [f"-{line}" for line in old[old_start:old_end]]
        lines += [f"+{line}" for line in new[new_start:new_end]]
    return lines
