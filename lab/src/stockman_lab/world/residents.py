"""Guests that live in a world from the beginning: those that a preset only looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from stockman_lab.images.system_archive import system_archive
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.api.api import Api
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Upload
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.storages.receiving import ReceivedFile, put_file
from stockman_lab.world.world import World


def post(
    cluster: Cluster, path: str, params: Mapping[str, object], upload: Upload | None = None
) -> None:
    """Ask the API of a cluster for something."""
    request = ApiRequest(
        method="POST", path=path, params=dict(params), caller=Caller(ROOT), upload=upload
    )
    perform = Api(cluster).perform(next(iter(cluster.state.hosts.values())), request)
    if not isinstance(perform, ApiReply) or perform.status != HTTPStatus.OK:
        raise ValueError(f"{path}: {perform}")


def bring_residents(world: World, cluster: Cluster, rows: Iterable[Mapping[str, Any]]) -> None:
    """Make the guests of a preset's table, as their owner did long ago, and start them."""
    residents = list(rows)
    for resident in residents:
        template = resident["options"].get("ostemplate")
        if template is not None:
            _bring_template(cluster, resident["host"], template)
        post(cluster, f"/nodes/{resident['host']}/{resident['kind']}", resident["options"])
        world.settle()
    for resident in residents:
        guest = f"/nodes/{resident['host']}/{resident['kind']}/{resident['options']['vmid']}"
        post(cluster, f"{guest}/status/start", {})
    if residents:
        world.settle()


def _bring_template(cluster: Cluster, host: str, volume: str) -> None:
    """Have a host hold what a container is made from: `local:vztmpl/debian-12-….tar.zst`."""
    storage, _, name = volume.partition(":")
    content, _, filename = name.partition("/")
    system, version = filename.split("-")[:2]
    archive = system_archive(system, version, filename.rpartition(".")[2])
    file = ReceivedFile(content, filename, archive)
    put_file(cluster, cluster.state.storages[storage], cluster.state.hosts[host], file)
