"""What stays although its cluster is destroyed, and why."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problems


def not_ours(problems: Problems, called: str, found: str, host: str) -> None:
    problems.warn(
        "destroy.not-ours",
        f"{called} stays: the guest of that number is another one",
        why=f"it is {found or 'a guest without a name'} on {host}, without the name, UUID and mark"
        " that stockman gives",
        fix="nothing, if it is somebody else's; otherwise remove it in Proxmox VE",
        at=f"Proxmox host {host}",
    )


def karpenter_stays(problems: Problems, region: str, vmids: str) -> None:
    problems.warn(
        "destroy.karpenter",
        f"machines that Karpenter made in {region} stay",
        why=f"VMs {vmids} stand in no file, and have the tag karpenter",
        fix="delete their NodeClaims before, or remove the VMs in Proxmox VE afterwards",
        at=f"Proxmox cluster {region}",
    )


def access_shared(problems: Problems, region: str, others: Sequence[str]) -> None:
    problems.warn(
        "destroy.access-shared",
        f"users, tokens and roles of stockman in {region} stay",
        why=f"others work with them: {', '.join(others)}",
        fix="nothing: whoever destroys the last cluster there removes them",
        at=f"Proxmox cluster {region}",
    )
