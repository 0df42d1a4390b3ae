"""Images: every node has a schematic, an install disk, and firmware that fits."""

from __future__ import annotations

from stockman.config.language.node import NodeSection
from stockman.config.rules.context import Context


def check(context: Context) -> None:
    for node in context.estate.nodes:
        if context.complete:
            _check_schematic(context, node)
        _check_disk(context, node)
        _check_secureboot(context, node)


def _check_schematic(context: Context, node: NodeSection) -> None:
    talos = context.estate.talos
    role = "controller_schematic_id" if node.controller else "worker_schematic_id"
    inherited = {role, "schematic_id", "schematic", "extensions", "kernel_args"}
    own = {"schematic", "extensions", "kernel_args"} & node.talos.origins.keys()
    if not own and "schematic_id" not in node.origins and not inherited & talos.origins.keys():
        context.problems.error(
            "node.schematic-missing",
            f"node {node.name} has no schematic",
            why="neither the node, its class nor the cluster names one or lists extensions",
            fix="add `schematic_id:` to the node, or `talos: {extensions: [...]}` to the cluster",
            at=node.where("name"),
        )
    if node.schematic_id is not None and own:
        field = min(own)
        context.problems.error(
            "node.schematic-twice",
            f"node {node.name} has a schematic id and `{field}` of its own",
            why="an id stands for one finished schematic; nothing can be added to it",
            fix=f"remove the id, or `{field}`",
            at=node.talos.where(field),
        )


def _check_disk(context: Context, node: NodeSection) -> None:
    unnamed = node.disk is None and node.disk_selector is None
    if unnamed and node.vm is None and not {"disk", "disk_selector"} & node.origins.keys():
        context.problems.error(
            "config.missing-key",
            f"node {node.name} has no disk",
            why="a machine that stockman does not make has to say where Talos is installed",
            fix="add `disk:` with a path or a serial number, or `disk_selector:`",
            at=node.where("name"),
        )


def _check_secureboot(context: Context, node: NodeSection) -> None:
    vm = node.vm
    if vm is None:
        return
    if node.secureboot and vm.bios != "ovmf":
        context.problems.error(
            "vm.secureboot-bios",
            f"node {node.name} cannot boot with SecureBoot",
            why=f"its firmware is {vm.bios}; only ovmf (UEFI) checks signatures",
            fix="set `bios: ovmf`, or `secureboot: false`",
            at=node.where("secureboot"),
        )
    if node.encrypt_disk and vm.tpm is None:
        context.problems.error(
            "vm.no-tpm",
            f"node {node.name} cannot keep its disk key",
            why="encrypt_disk seals the key in a TPM, and the VM has none",
            fix="add `tpm: {}` to the VM, or set `encrypt_disk: false`",
            at=node.where("encrypt_disk"),
        )
