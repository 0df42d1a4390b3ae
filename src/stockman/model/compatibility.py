"""Which versions of Talos, Kubernetes, Proxmox VE and extensions work together.

A patch newer than the tables is `NEWER`, which is a warning and never an error. A release line that
is not in the tables is `REFUSED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

from stockman.model.tables import read_table
from stockman.model.version import Version


class Verdict(Enum):
    """Whether a version can be used."""

    OK = "ok"
    NEWER = "newer"
    REFUSED = "refused"


class Compatibility(NamedTuple):
    """A verdict and its reason, as used for `why` of a problem."""

    verdict: Verdict
    reason: str


class TalosLine(NamedTuple):
    """A minor release line of Talos. Facts that differ between patches are those of `newest`."""

    line: Version
    newest: Version
    """Newest known patch."""
    kubernetes: tuple[Version, Version]
    """First and last Kubernetes line that its code accepts."""
    kubernetes_documented: tuple[Version, Version]
    """First and last Kubernetes line that its documentation lists."""
    kubernetes_default: Version
    etcd: Version
    kernel: Version
    installs_over: tuple[Version, Version]
    """Oldest running version that it can be installed over, and the first version that is too
    new."""
    installer: str
    """Default installer image of Talos, without its tag."""
    notes: tuple[str, ...]
    """Changes in configuration and upgrades since the previous line."""


class KubernetesLine(NamedTuple):
    """A minor release line of Kubernetes."""

    line: Version
    newest: Version
    """Newest known patch."""


class ProxmoxLine(NamedTuple):
    """A minor release line of Proxmox VE."""

    line: Version
    refused: str
    """Why it cannot be used. Empty: it can be used."""
    notes: tuple[str, ...]


@cache
def talos_lines() -> tuple[TalosLine, ...]:
    """Return the supported release lines of Talos, oldest first."""
    return tuple(
        TalosLine(
            line=Version.parse(row["line"]),
            newest=Version.parse(row["newest"]),
            kubernetes=_parse_pair(row["kubernetes"]),
            kubernetes_documented=_parse_pair(row["kubernetes_documented"]),
            kubernetes_default=Version.parse(row["kubernetes_default"]),
            etcd=Version.parse(row["etcd"]),
            kernel=Version.parse(row["kernel"]),
            installs_over=_parse_pair(row["installs_over"]),
            installer=row["installer"],
            notes=tuple(row["notes"]),
        )
        for row in read_table("talos")["rows"]
    )


def default_talos_version() -> Version:
    """Return the default Talos version: the newest that talhelper and topf support as well."""
    line = Version.parse(str(read_table("talos")["proposed"]))
    return next(known.newest for known in talos_lines() if known.line.line == line.line)


@cache
def kubernetes_lines() -> tuple[KubernetesLine, ...]:
    """Return the release lines of Kubernetes that some supported Talos runs, oldest first."""
    return tuple(
        KubernetesLine(line=Version.parse(row["line"]), newest=Version.parse(row["newest"]))
        for row in read_table("kubernetes")["rows"]
    )


@cache
def proxmox_lines() -> tuple[ProxmoxLine, ...]:
    """Return the known release lines of Proxmox VE, including refused ones, oldest first."""
    return tuple(
        ProxmoxLine(
            line=Version.parse(row["line"]),
            refused=row.get("refused", ""),
            notes=tuple(row.get("notes", ())),
        )
        for row in read_table("proxmox")["rows"]
    )


def talos_line(talos: Version) -> TalosLine | None:
    """Return the release line of a Talos version; None: not supported."""
    return next((known for known in talos_lines() if known.line.line == talos.line), None)


def kubernetes_line(kubernetes: Version) -> KubernetesLine | None:
    """Return the release line of a Kubernetes version; None: no supported Talos runs it."""
    return next((known for known in kubernetes_lines() if known.line.line == kubernetes.line), None)


def newest_known_patch(talos: Version) -> Version | None:
    """Return the newest known patch of the release line of a Talos version; None: unknown line."""
    line = talos_line(talos)
    return None if line is None else line.newest


def kubernetes_range(talos: Version) -> tuple[Version, Version] | None:
    """Return the first and last Kubernetes line that a Talos version runs; None: not supported."""
    line = talos_line(talos)
    return None if line is None else line.kubernetes


def talos_compatibility(talos: Version) -> Compatibility:
    """Check whether stockman supports a Talos version."""
    line = talos_line(talos)
    if line is None:
        known = talos_lines()
        return _incompatible(f"stockman supports Talos {known[0].line} to {known[-1].line}")
    return _patch_compatibility("Talos", talos, line.newest, table="talos")


def kubernetes_compatibility(talos: Version, kubernetes: Version) -> Compatibility:
    """Check whether a Talos version runs a Kubernetes version.

    For an unknown Talos line the answer is always REFUSED: check `talos_compatibility` first.
    """
    line = talos_line(talos)
    if line is None:
        return _incompatible(
            f"Talos {talos.minor_text} is not in the table of what runs on which Talos"
        )
    first, last = line.kubernetes
    if not first.line <= kubernetes.line <= last.line:
        return _incompatible(f"Talos {line.line} runs Kubernetes {first} to {last}")
    known = kubernetes_line(kubernetes)
    if known is not None and kubernetes > known.newest:
        return _patch_compatibility("Kubernetes", kubernetes, known.newest, table="kubernetes")
    oldest, newest = line.kubernetes_documented
    if not oldest.line <= kubernetes.line <= newest.line:
        return _compatible(
            f"Talos {line.line} accepts Kubernetes {first} to {last},"
            f" though its documentation lists {oldest} to {newest}"
        )
    return _compatible(f"Talos {line.line} runs Kubernetes {first} to {last}")


def proxmox_compatibility(proxmox: Version) -> Compatibility:
    """Check whether stockman supports a Proxmox VE version.

    Patches are not checked, because the API only changes between release lines.
    """
    for row in proxmox_lines():
        if row.line.line == proxmox.line:
            return (
                _incompatible(f"Proxmox VE {row.line}: {row.refused}")
                if row.refused
                else _compatible(f"Proxmox VE {row.line} is supported")
            )
    usable = [row.line for row in proxmox_lines() if not row.refused]
    newest = max((line for line in usable if line.major == proxmox.major), default=None)
    if newest is not None and proxmox.line > newest.line:
        return Compatibility(
            verdict=Verdict.NEWER,
            reason=f"the newest Proxmox VE {newest.major} that stockman knows is {newest}"
            f" ({read_table('proxmox')['refreshed']})",
        )
    return _incompatible(f"stockman supports Proxmox VE {_join_versions(usable)}")


def _patch_compatibility(
    product: str, version: Version, newest: Version, *, table: str
) -> Compatibility:
    if version <= newest:
        return _compatible(f"{product} {version.minor_text} is supported")
    return Compatibility(
        verdict=Verdict.NEWER,
        reason=f"the newest {product} {version.minor_text} that stockman knows is {newest}"
        f" ({read_table(table)['refreshed']})",
    )


def _compatible(because: str) -> Compatibility:
    return Compatibility(verdict=Verdict.OK, reason=because)


def _incompatible(because: str) -> Compatibility:
    return Compatibility(verdict=Verdict.REFUSED, reason=because)


def _join_versions(versions: list[Version]) -> str:
    *leading, last = (str(version) for version in versions)
    return f"{', '.join(leading)} and {last}" if leading else last


def _parse_pair(texts: list[str]) -> tuple[Version, Version]:
    first, last = texts
    return Version.parse(first), Version.parse(last)


def upgrade_compatibility(product: str, running: Version, target: Version) -> Compatibility:
    """Check whether a single upgrade may go from the running version to the target version."""
    if target == running:
        return Compatibility(verdict=Verdict.OK, reason=f"{product} {running} runs already")
    if target < running:
        return Compatibility(
            verdict=Verdict.REFUSED,
            reason=f"{product} would go back from {running} to {target}",
        )
    if target.major != running.major or target.line[1] - running.line[1] > 1:
        return Compatibility(
            verdict=Verdict.REFUSED,
            reason=f"{product} goes from one line to the next, and {target.minor_text}"
            f" does not follow {running.minor_text}",
        )
    return Compatibility(verdict=Verdict.OK, reason=f"{target} follows {running}")


class TalosExtension(NamedTuple):
    """An official system extension."""

    name: str
    """Name as used in schematics, `siderolabs/qemu-guest-agent`."""
    since: Version
    """First Talos release that has it."""
    purpose: str
    driver: Mapping[str, str]
    """Version of the included driver by Talos line, `1.13`; empty if irrelevant."""


class RemovedExtension(NamedTuple):
    """An extension that supported releases of Talos no longer have."""

    name: str
    last_line: Version
    """Last Talos line that had it."""
    replacements: tuple[str, ...]
    """Extensions to use instead. Empty: none."""


@cache
def extensions() -> tuple[TalosExtension, ...]:
    """Return all extensions of supported Talos releases, sorted by name."""
    return tuple(
        TalosExtension(
            name=row["name"],
            since=Version.parse(row["since"]),
            purpose=row["purpose"],
            driver=row.get("driver", {}),
        )
        for row in read_table("extensions")["rows"]
    )


@cache
def removed_extensions() -> tuple[RemovedExtension, ...]:
    """Return extensions of older releases, sorted by name."""
    return tuple(
        RemovedExtension(
            name=row["name"],
            last_line=Version.parse(row["last"]),
            replacements=tuple(row.get("now", ())),
        )
        for row in read_table("extensions")["gone"]
    )


def find_extension(name: str) -> TalosExtension | None:
    """Return an extension by its name; None: unknown."""
    return next((candidate for candidate in extensions() if candidate.name == name), None)


def extension_compatibility(name: str, talos: Version) -> Compatibility:
    """Check whether a Talos version has an extension. An unknown extension may be newer than the
    table."""
    known = find_extension(name)
    if known is not None and talos.line >= known.since.line:
        return Compatibility(verdict=Verdict.OK, reason=f"Talos has {name} since {known.since}")
    if known is not None:
        return Compatibility(
            verdict=Verdict.REFUSED,
            reason=f"{name} exists since Talos {known.since}, not in {talos}",
        )
    for gone in removed_extensions():
        if gone.name == name:
            instead = (
                f"; {' or '.join(gone.replacements)} took its place" if gone.replacements else ""
            )
            return Compatibility(
                verdict=Verdict.REFUSED,
                reason=f"the last Talos with {name} was {gone.last_line}{instead}",
            )
    return Compatibility(
        verdict=Verdict.NEWER,
        reason=f"{name} is not in the table of {read_table('extensions')['refreshed']}",
    )
