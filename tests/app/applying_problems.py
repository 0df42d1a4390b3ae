"""Problems of plans and runs as a whole, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.app.administrators import half_a_token
from stockman.app.applying import outdated
from stockman.app.run_doors import no_token
from stockman.app.secret_places import nothing_there, unwritable_place
from stockman.app.tree_door import undecided
from stockman.cli.destroy import unnamed_cluster
from stockman.cli.plan import unwritable
from stockman.cli.plan_options import already_planned, no_password
from stockman.model.problem import Problem
from stockman.planning import composition_problems as composition

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "cli.already-planned": lambda: already_planned("plan.json", ["--only", "--push"]),
    "cli.no-password": lambda: no_password("root@pam"),
    "cli.unnamed-cluster": lambda: unnamed_cluster("k8s", "k9s", yes=True),
    "plan.api-silent": composition.api_silent,
    "plan.cannot-drain": lambda: composition.cannot_drain("work-3"),
    "plan.etcd-waits": lambda: composition.etcd_waits(["cp-3 (10.42.0.13): no answer"]),
    "plan.no-look-at-machines": composition.no_look_at_machines,
    "plan.outside-windows": lambda: composition.outside_windows(
        ("work-1", "work-2"), "Sat 2026-11-21 03:00 Europe/Berlin"
    ),
    "plan.outdated": lambda: outdated("k8s"),
    "plan.unwritable": lambda: unwritable("plans/today.json", "No such file or directory"),
    "proxmox.administrator": lambda: half_a_token("PROXMOX_VE_API_TOKEN"),
    "proxmox.no-token": lambda: no_token(
        "stockman@pve!stockman", "pve", "PROXMOX_TOKEN_SECRET is not set"
    ),
    "secret.nothing-there": lambda: nothing_there(
        "token:pve/stockman@pve!stockman", "there is no such file"
    ),
    "secret.unwritable-place": lambda: unwritable_place("${PROXMOX_TOKEN_SECRET}"),
    "tree.undecided": lambda: undecided(["kubernetes/apps/kube-system/cilium/ks.yaml"]),
}
