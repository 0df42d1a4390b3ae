"""How many controllers: at least one, better an odd number."""

from __future__ import annotations

from stockman.config.rules.context import Context


def check(context: Context) -> None:
    nodes = context.estate.nodes
    if not nodes or any(node.controller is None for node in nodes):
        return
    controllers = sum(1 for node in nodes if node.controller)
    origin = context.estate.where("nodes")
    if controllers == 0:
        context.problems.error(
            "role.no-controller",
            "no node is a controller",
            why=f"{_all(len(nodes))}; nobody would run etcd and the API",
            fix="set `controller: true` on one node, better on three",
            at=origin,
        )
    elif controllers % 2 == 0:
        survives = (controllers - 1) // 2
        context.problems.warn(
            "role.even-controllers",
            f"{controllers} controllers are an even number",
            why=f"etcd with {controllers} members survives the loss of {survives or 'none'}, "
            f"as it would with {controllers - 1}",
            fix=f"use {controllers - 1} or {controllers + 1} controllers",
            at=origin,
        )


def _all(workers: int) -> str:
    return "the only node is a worker" if workers == 1 else f"all {workers} nodes are workers"
