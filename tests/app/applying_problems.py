"""Problems of plans and runs as a whole, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.app.proxmox import incomplete_token
from stockman.app.rendering.render import decision_needed
from stockman.app.runs.apply import changed_files, stale_plan
from stockman.app.runs.connections import no_token
from stockman.app.runs.identity import invalid_identity, unwritable_identity
from stockman.app.runs.secrets import secret_missing, unwritable_secret
from stockman.cli.plans.apply import missing_cluster_name
from stockman.cli.plans.options import (
    invalid_branch,
    invalid_first_config,
    no_password,
    plan_file_conflict,
    push_options_without_push,
)
from stockman.cli.plans.plan import plan_not_writable
from stockman.model.problem import Problem
from stockman.planning import problems as composition

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "identity.invalid": lambda: invalid_identity(
        "it must contain `fingerprint:` with 16 hexadecimal digits"
    ),
    "identity.unwritable": lambda: unwritable_identity("Read-only file system"),
    "cli.already-planned": lambda: plan_file_conflict("plan.json", ["--only", "--push"]),
    "cli.branch": lambda: invalid_branch("a..b"),
    "cli.without-push": lambda: push_options_without_push("--message"),
    "run.files-changed": lambda: changed_files("20260301t060000z-5f2c1a"),
    "cli.first-config": lambda: invalid_first_config("talos-nas"),
    "cli.no-password": lambda: no_password("root@pam"),
    "cli.unnamed-cluster": lambda: missing_cluster_name("k8s", "k9s", yes=True),
    "plan.api-silent": composition.api_unreachable,
    "plan.removal-unknown": lambda: composition.removal_without_etcd("work-3"),
    "plan.cannot-drain": lambda: composition.cannot_drain("work-3"),
    "plan.etcd-waits": lambda: composition.etcd_bootstrap_blocker(["cp-3 (10.42.0.13): no answer"]),
    "plan.no-look-at-machines": composition.machines_unreachable,
    "plan.outside-windows": lambda: composition.outside_windows(
        ("work-1", "work-2"), "Sat 2026-11-21 03:00 Europe/Berlin"
    ),
    "plan.outdated": lambda: stale_plan("k8s"),
    "plan.unwritable": lambda: plan_not_writable("plans/today.json", "No such file or directory"),
    "proxmox.administrator": lambda: incomplete_token("PROXMOX_VE_API_TOKEN"),
    "proxmox.no-token": lambda: no_token(
        "stockman@pve!stockman", "pve", "PROXMOX_TOKEN_SECRET is not set"
    ),
    "secret.nothing-there": lambda: secret_missing(
        "token:pve/stockman@pve!stockman", "there is no such file"
    ),
    "secret.unwritable-place": lambda: unwritable_secret("${PROXMOX_TOKEN_SECRET}"),
    "tree.undecided": lambda: decision_needed(["kubernetes/apps/kube-system/cilium/ks.yaml"]),
}
