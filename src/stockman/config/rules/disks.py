"""Disks: the one to install on is named once, volumes have names and sizes of their own."""

from __future__ import annotations

from stockman.config.language.node import NodeSection
from stockman.config.resolve_settings import machine_settings
from stockman.config.rules.context import Context
from stockman.config.rules.contract import lacks
from stockman.model.record import fields_of
from stockman.model.volumes import DiskSelector, SystemVolume, Volume

_SHARES_FROM = (1, 12)
_MATCH_FROM = (1, 14)


def check(context: Context) -> None:
    for node in context.estate.nodes:
        if node.disk_selector is not None:
            _check_selector(context, node, node.disk_selector)
        _check_volumes(context, node)


def _check_selector(context: Context, node: NodeSection, wanted: DiskSelector) -> None:
    if node.disk is not None:
        context.problems.error(
            "disk.twice",
            f"node {node.name} names its disk twice",
            why=f"`disk` is {node.disk}, and `disk_selector` describes one too",
            fix="keep one of the two; `disk: null` takes back what a class gives",
            at=wanted.where(),
        )
    given = [one.name for one in fields_of(wanted) if one.name in wanted.origins]
    others = [name for name in given if name != "match"]
    if not given or (wanted.match is not None and others):
        context.problems.error(
            "disk.selector",
            f"the disk of node {node.name} is not described",
            why=f"`match` stands alone, and {others[0]} stands beside it"
            if others
            else "an empty selector holds for every disk",
            fix="give `match`, or some of the other keys" if others else "say what disk it is",
            at=wanted.where("match"),
        )
    if wanted.match is not None:
        lacks(context, "disk_selector.match", wanted.where("match"), since=_MATCH_FROM)


def _check_volumes(context: Context, node: NodeSection) -> None:
    settings = machine_settings(context.estate.talos, node.talos)
    taken: set[str] = set()
    _check_sizes(context, "EPHEMERAL", settings.ephemeral)
    for volume in settings.volumes:
        if volume.name in taken:
            context.problems.error(
                "volume.name-taken",
                f"node {node.name} has two volumes called {volume.name}",
                why="lists of a node add to those of the cluster, and a volume has one name",
                fix="give each volume a name of its own",
                at=volume.where("name"),
            )
        taken.add(volume.name)
        _check_volume(context, volume)


def _check_volume(context: Context, volume: Volume) -> None:
    _check_sizes(context, volume.name, volume)
    if volume.min_size is None and volume.max_size is None:
        _form(context, volume, "name", "neither min_size nor max_size is given", "give a size")
    if volume.disk is not None and volume.disk_match is not None:
        why = "`disk` and `disk_match` both say which disk it is on"
        _form(context, volume, "disk_match", why, "keep one of the two")
    if volume.kind != "user" and "filesystem" in volume.origins:
        why = f"a {volume.kind} volume has no filesystem"
        _form(context, volume, "filesystem", why, "remove `filesystem`, or set `kind: user`")


def _check_sizes(context: Context, name: str, volume: SystemVolume | Volume) -> None:
    low, high = volume.min_size, volume.max_size
    if high is not None and high.endswith("%"):
        lacks(context, "a share of the disk", volume.where("max_size"), since=_SHARES_FROM)
    elif low is not None and high is not None and _bytes(low) > _bytes(high):
        context.problems.error(
            "volume.form",
            f"volume {name} cannot be made",
            why=f"min_size is {low}, max_size only {high}",
            fix="give a larger max_size",
            at=volume.where("max_size"),
        )


def _form(context: Context, volume: Volume, key: str, why: str, fix: str) -> None:
    what = f"volume {volume.name} cannot be made"
    context.problems.error("volume.form", what, why=why, fix=fix, at=volume.where(key))


def _bytes(size: str) -> float:
    number = size.rstrip("BikMGTP")
    prefix = size.removeprefix(number).rstrip("B")
    power = " kMGTP".index(prefix[:1] or " ")
    return float(number) * float((1024 if prefix.endswith("i") else 1000) ** power)
