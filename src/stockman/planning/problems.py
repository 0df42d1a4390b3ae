"""Problems that concern a plan as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem, Problems, Severity


def machines_unreachable() -> Problem:
    """No machine can be queried."""
    return Problem(
        code="plan.no-look-at-machines",
        what="nothing is known about the machines of the cluster",
        why="they cannot be queried, because the secrets of the cluster cannot be decrypted",
        fix="provide the identity of talos/talsecret.sops.yaml, as age.key or SOPS_AGE_KEY",
    )


def api_unreachable() -> Problem:
    """The API does not answer, although it should."""
    return Problem(
        code="plan.api-silent",
        what="the Kubernetes API does not answer",
        why="machines are configured, so it should answer; the state of the cluster is unknown",
        fix="the plan can be executed, as each step checks the state first; see `stockman status`",
        severity=Severity.WARNING,
    )


def etcd_bootstrap_blocker(missing: Sequence[str]) -> Problem:
    """etcd cannot be bootstrapped, so nothing that depends on it is planned."""
    return Problem(
        code="plan.etcd-waits",
        what="etcd cannot be bootstrapped yet; it and the Kubernetes stage are not planned",
        where=", ".join(controller.partition(" ")[0] for controller in missing),
        why="etcd is bootstrapped once, when all controllers are known to have no data;"
        f" {'; '.join(missing)}",
        fix="start these machines, or remove them from the configuration, and plan again;"
        " see `stockman status`",
        severity=Severity.WARNING,
    )


def cannot_drain(node: str) -> Problem:
    """A machine has to shut down, but its pods cannot be drained."""
    return Problem(
        code="plan.cannot-drain",
        what=f"{node} has to shut down, but cannot be drained",
        where=node,
        why="the Kubernetes API does not answer, so it is unknown which pods run there",
        fix="restore the API first; see `stockman status`",
    )


def removal_without_etcd(node: str) -> Problem:
    """A machine is to be deleted, but the members of etcd are unknown."""
    return Problem(
        code="plan.removal-unknown",
        what=f"{node} cannot be removed",
        where=node,
        why="no controller lists the members of etcd, so it is unknown whether the others have a"
        " quorum without it",
        fix="restore the controllers first, see `stockman status`; or delete the whole cluster with"
        " `stockman destroy`",
    )


def outside_windows(names: Sequence[str], opening: str) -> Problem:
    """Machines have to restart, but no maintenance window is open."""
    return Problem(
        code="plan.outside-windows",
        what="restarts wait until a window opens",
        where=", ".join(names),
        why=f"no window of `upgrade.windows` is open; the next opens {opening}",
        fix="`stockman apply` executes everything else; resume in the window with"
        " `stockman runs resume`, or restart at once with `stockman apply --any-time`",
        severity=Severity.WARNING,
    )


def guest_not_ours(problems: Problems, called: str, actual_name: str, host: str) -> None:
    problems.warn(
        "destroy.not-ours",
        f"{called} is kept: its VMID belongs to another guest",
        why=f"it is {actual_name or 'an unnamed guest'} on {host}, without the name, UUID and mark"
        " that stockman sets",
        fix="nothing, if the guest belongs to somebody else; otherwise delete it in Proxmox VE",
        at=f"Proxmox host {host}",
    )


def mark_too_old(problems: Problems, called: str, host: str) -> None:
    problems.error(
        "destroy.old-mark",
        f"{called} has a mark without a fingerprint",
        why="an older version of stockman wrote it, so that the guest may belong to another cluster"
        " of this name",
        fix="run `stockman apply` first, which renews the marks of the configured guests",
        at=f"Proxmox host {host}",
    )


def karpenter_guest_stays(problems: Problems, region: str, vmids: str) -> None:
    problems.warn(
        "destroy.karpenter",
        f"machines that Karpenter created in {region} are kept",
        why=f"VMs {vmids} are in no file and have the tag karpenter",
        fix="delete their NodeClaims first, or delete the VMs in Proxmox VE afterwards",
        at=f"Proxmox cluster {region}",
    )


def access_in_use_stays(problems: Problems, region: str, owners: Sequence[str]) -> None:
    problems.warn(
        "destroy.access-shared",
        f"users, tokens and roles of stockman in {region} are kept",
        why=f"other clusters use them: {', '.join(owners)}",
        fix="nothing: they are deleted with the last cluster",
        at=f"Proxmox cluster {region}",
    )
