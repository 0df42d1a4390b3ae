"""What speaks against a plan as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem, Problems, Severity


def machines_unreachable() -> Problem:
    """Nobody could ask the machines anything."""
    return Problem(
        code="plan.no-look-at-machines",
        what="nothing is known about the machines of the cluster",
        why="there is no way to ask them: the secrets of the cluster cannot be opened",
        fix="give the identity that opens talos/talsecret.sops.yaml, as age.key or SOPS_AGE_KEY",
    )


def api_unreachable() -> Problem:
    """The API should answer, and does not."""
    return Problem(
        code="plan.api-silent",
        what="the Kubernetes API does not answer",
        why="machines have their configuration, so it should; what is in the cluster is not known",
        fix="steps look before they act, so the plan can be carried out; see `stockman status`",
        severity=Severity.WARNING,
    )


def etcd_bootstrap_blocker(missing: Sequence[str]) -> Problem:
    """etcd cannot begin, so nothing that needs it is planned."""
    return Problem(
        code="plan.etcd-waits",
        what="etcd cannot begin yet: its beginning and everything of Kubernetes are left out",
        where=", ".join(one.partition(" ")[0] for one in missing),
        why=f"it begins once, when every controller is known to have no data; {'; '.join(missing)}",
        fix="bring these machines up, or take them out of the configuration, and plan again;"
        " `stockman status` tells more",
        severity=Severity.WARNING,
    )


def cannot_drain(node: str) -> Problem:
    """A machine is to go down, and its pods cannot be moved away."""
    return Problem(
        code="plan.cannot-drain",
        what=f"{node} is to go down, and nobody knows what runs there",
        where=node,
        why="the Kubernetes API does not answer, so its pods cannot be moved to other nodes",
        fix="bring the API back first: `stockman status` tells what is wrong with it",
    )


def outside_windows(names: Sequence[str], opening: str) -> Problem:
    """Machines have to be restarted, and no window is open."""
    return Problem(
        code="plan.outside-windows",
        what="restarts wait until a window opens",
        where=", ".join(names),
        why=f"no window of `upgrade.windows` is open; the next opens {opening}",
        fix="`stockman apply` does everything else; go on in the window with"
        " `stockman runs resume`, or restart at once with `stockman apply --any-time`",
        severity=Severity.WARNING,
    )


def guest_not_ours(problems: Problems, called: str, found: str, host: str) -> None:
    problems.warn(
        "destroy.not-ours",
        f"{called} stays: the guest of that number is another one",
        why=f"it is {found or 'a guest without a name'} on {host}, without the name, UUID and mark"
        " that stockman gives",
        fix="nothing, if it is somebody else's; otherwise remove it in Proxmox VE",
        at=f"Proxmox host {host}",
    )


def karpenter_guest_stays(problems: Problems, region: str, vmids: str) -> None:
    problems.warn(
        "destroy.karpenter",
        f"machines that Karpenter made in {region} stay",
        why=f"VMs {vmids} stand in no file, and have the tag karpenter",
        fix="delete their NodeClaims before, or remove the VMs in Proxmox VE afterwards",
        at=f"Proxmox cluster {region}",
    )


def access_in_use_stays(problems: Problems, region: str, others: Sequence[str]) -> None:
    problems.warn(
        "destroy.access-shared",
        f"users, tokens and roles of stockman in {region} stay",
        why=f"others work with them: {', '.join(others)}",
        fix="nothing: whoever destroys the last cluster there removes them",
        at=f"Proxmox cluster {region}",
    )
