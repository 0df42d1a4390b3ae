"""What is done in a world before anybody asks: by root, over the API of Proxmox VE."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.api.api import Api
from stockman_lab.pve.api.call import Upload
from stockman_lab.pve.api.request import ApiReply, ApiRequest
from stockman_lab.pve.cluster import Cluster


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
