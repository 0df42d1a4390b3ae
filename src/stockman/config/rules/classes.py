"""Classes: what no node uses is probably a slip."""

from __future__ import annotations

from stockman.config.rules.context import Context


def check(context: Context) -> None:
    estate = context.estate
    used = {str(node.class_) for node in estate.nodes if node.class_ is not None}
    used |= {
        "controller" if node.controller else "worker"
        for node in estate.nodes
        if node.class_ is None
    }
    extended = {str(one.extends) for one in estate.classes.values() if one.extends is not None}
    for name, section in estate.classes.items():
        if estate.nodes and name not in used | extended:
            context.problems.warn(
                "class.unused",
                f"no node is of class {name}",
                why="neither a node nor another class names it",
                fix="remove it, or set `class:` on the nodes it was made for",
                at=section.where(),
            )
