"""Every problem of a start for Proxmox hosts, made as its page shows it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from stockman.app.init.from_proxmox import unknown_certificate
from stockman.app.proxmox import no_login
from stockman.model.problem import Problem
from stockman.planning.starter import problems
from stockman.ports.environment import Certificate

_SEEN = Certificate(
    fingerprint=":".join(["5F", "0A"] * 16),
    expires=datetime(2030, 1, 1, tzinfo=UTC),
    flaw="unable to get local issuer certificate",
)

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "init.no-bridge": lambda: problems.no_bridge(
        ["pve1", "pve2"], "pve1: vmbr0; pve2: vmbr1, vmbr0 (down)"
    ),
    "init.no-credentials": lambda: no_login().problem,
    "init.no-host": lambda: problems.no_host(
        [("pve1", "it is offline"), ("pve2", "it is unknown")]
    ),
    "init.no-network": lambda: problems.no_network("vmbr1"),
    "init.no-storage": lambda: problems.no_import_storage(
        ["pve1", "pve2"],
        "local (dir) for backup, iso, vztmpl, 94 GiB free; local-lvm (lvmthin) for images, 800 GiB"
        " free",
        ("local", "backup,import,iso,vztmpl"),
    ),
    "init.no-vmids": lambda: problems.no_free_vmids(50, 15),
    "init.unseen": lambda: problems.missing_resources(
        "Datastore.Audit or Datastore.AllocateSpace", "/storage", "storages"
    ),
    "init.untrusted": lambda: unknown_certificate("https://127.66.0.4:8006", _SEEN).problem,
}
