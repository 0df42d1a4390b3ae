"""Which versions of Talos, Kubernetes and Proxmox VE fit together, and how sure we are of it.

A patch newer than the tables know is `NEWER`, which is worth a warning and never an error.
A release line that the tables do not know is `REFUSED`.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

from stockman.model.tables import content
from stockman.model.version import Version


class Verdict(Enum):
    """Whether a version may be used."""

    OK = "ok"
    NEWER = "newer"
    REFUSED = "refused"


class Fit(NamedTuple):
    """A verdict and the fact behind it, as the `why` of a problem would say it."""

    verdict: Verdict
    because: str


class TalosLine(NamedTuple):
    """One minor release of Talos. What a patch decides is that of `newest`."""

    line: Version
    newest: Version
    """Newest patch known."""
    kubernetes: tuple[Version, Version]
    """First and last Kubernetes line that its code accepts."""
    kubernetes_documented: tuple[Version, Version]
    """First and last Kubernetes line that its documentation lists."""
    kubernetes_default: Version
    etcd: Version
    kernel: Version
    installs_over: tuple[Version, Version]
    """Oldest running version it may be installed over, and the first that is too new."""
    installer: str
    """The installer image that Talos itself would take, without its tag."""
    notes: tuple[str, ...]
    """What this line's configuration and upgrades do differently from the line before."""


class KubernetesLine(NamedTuple):
    """One minor release of Kubernetes."""

    line: Version
    newest: Version
    """Newest patch known."""


class ProxmoxLine(NamedTuple):
    """One minor release of Proxmox VE."""

    line: Version
    refused: str
    """Why it cannot be used; empty: it can."""
    notes: tuple[str, ...]


@cache
def talos_lines() -> tuple[TalosLine, ...]:
    """Every supported release line of Talos, oldest first."""
    return tuple(
        TalosLine(
            line=Version.parse(row["line"]),
            newest=Version.parse(row["newest"]),
            kubernetes=_pair(row["kubernetes"]),
            kubernetes_documented=_pair(row["kubernetes_documented"]),
            kubernetes_default=Version.parse(row["kubernetes_default"]),
            etcd=Version.parse(row["etcd"]),
            kernel=Version.parse(row["kernel"]),
            installs_over=_pair(row["installs_over"]),
            installer=row["installer"],
            notes=tuple(row["notes"]),
        )
        for row in content("talos")["rows"]
    )


def proposed_talos() -> Version:
    """What a cluster runs where nobody says: the newest that talhelper and topf know too."""
    line = Version.parse(str(content("talos")["proposed"]))
    return next(one.newest for one in talos_lines() if one.line.line == line.line)


@cache
def kubernetes_lines() -> tuple[KubernetesLine, ...]:
    """Every release line of Kubernetes that some supported Talos runs, oldest first."""
    return tuple(
        KubernetesLine(line=Version.parse(row["line"]), newest=Version.parse(row["newest"]))
        for row in content("kubernetes")["rows"]
    )


@cache
def proxmox_lines() -> tuple[ProxmoxLine, ...]:
    """Every release line of Proxmox VE that is known, refused ones too, oldest first."""
    return tuple(
        ProxmoxLine(
            line=Version.parse(row["line"]),
            refused=row.get("refused", ""),
            notes=tuple(row.get("notes", ())),
        )
        for row in content("proxmox")["rows"]
    )


def talos_line(talos: Version) -> TalosLine | None:
    """The release line a version of Talos belongs to; None: not a supported one."""
    return next((one for one in talos_lines() if one.line.line == talos.line), None)


def kubernetes_line(kubernetes: Version) -> KubernetesLine | None:
    """The release line a version of Kubernetes belongs to; None: no supported Talos runs it."""
    return next((one for one in kubernetes_lines() if one.line.line == kubernetes.line), None)


def is_supported_talos(talos: Version) -> bool:
    """Whether a version of Talos is of a supported line, however new its patch is."""
    return talos_line(talos) is not None


def newest_known_patch(talos: Version) -> Version | None:
    """The newest known Talos of the line that this one belongs to; None: no such line."""
    line = talos_line(talos)
    return None if line is None else line.newest


def kubernetes_range(talos: Version) -> tuple[Version, Version] | None:
    """First and last Kubernetes line that a Talos runs; None: not a supported Talos."""
    line = talos_line(talos)
    return None if line is None else line.kubernetes


def talos_fits(talos: Version) -> Fit:
    """Whether stockman can handle a version of Talos."""
    line = talos_line(talos)
    if line is None:
        known = talos_lines()
        return _refused(f"stockman supports Talos {known[0].line} to {known[-1].line}")
    return _patch_fit("Talos", talos, line.newest, table="talos")


def kubernetes_fits(talos: Version, kubernetes: Version) -> Fit:
    """Whether a Talos runs a version of Kubernetes.

    A Talos of an unknown line runs nothing that we could vouch for: look at `talos_fits` first.
    """
    line = talos_line(talos)
    if line is None:
        return _refused(f"Talos {talos.minor_text} is not in the table of what runs on which Talos")
    first, last = line.kubernetes
    if not first.line <= kubernetes.line <= last.line:
        return _refused(f"Talos {line.line} runs Kubernetes {first} to {last}")
    known = kubernetes_line(kubernetes)
    if known is not None and kubernetes > known.newest:
        return _patch_fit("Kubernetes", kubernetes, known.newest, table="kubernetes")
    oldest, newest = line.kubernetes_documented
    if not oldest.line <= kubernetes.line <= newest.line:
        return _ok(
            f"Talos {line.line} accepts Kubernetes {first} to {last},"
            f" though its documentation lists {oldest} to {newest}"
        )
    return _ok(f"Talos {line.line} runs Kubernetes {first} to {last}")


def proxmox_fits(proxmox: Version) -> Fit:
    """Whether stockman can work with a version of Proxmox VE.

    Patches are not judged: what the API offers changes with the release line.
    """
    for row in proxmox_lines():
        if row.line.line == proxmox.line:
            return (
                _refused(f"Proxmox VE {row.line}: {row.refused}")
                if row.refused
                else _ok(f"Proxmox VE {row.line} is supported")
            )
    usable = [row.line for row in proxmox_lines() if not row.refused]
    newest = max((line for line in usable if line.major == proxmox.major), default=None)
    if newest is not None and proxmox.line > newest.line:
        return Fit(
            verdict=Verdict.NEWER,
            because=f"the newest Proxmox VE {newest.major} that stockman knows is {newest}"
            f" ({content('proxmox')['refreshed']})",
        )
    return _refused(f"stockman supports Proxmox VE {_enumerated(usable)}")


def _patch_fit(product: str, version: Version, newest: Version, *, table: str) -> Fit:
    if version <= newest:
        return _ok(f"{product} {version.minor_text} is supported")
    return Fit(
        verdict=Verdict.NEWER,
        because=f"the newest {product} {version.minor_text} that stockman knows is {newest}"
        f" ({content(table)['refreshed']})",
    )


def _ok(because: str) -> Fit:
    return Fit(verdict=Verdict.OK, because=because)


def _refused(because: str) -> Fit:
    return Fit(verdict=Verdict.REFUSED, because=because)


def _enumerated(versions: list[Version]) -> str:
    *others, last = (str(version) for version in versions)
    return f"{', '.join(others)} and {last}" if others else last


def _pair(texts: list[str]) -> tuple[Version, Version]:
    first, last = texts
    return Version.parse(first), Version.parse(last)
