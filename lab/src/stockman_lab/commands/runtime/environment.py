"""What clients need to know to reach a lab, as variables that they read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.files import replace_private_file
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.pve.access.accounts import TokenChange, create_token
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.servers.options import API_PORT, TALOS_PORT

if TYPE_CHECKING:
    from stockman_lab.pve.cluster import Cluster
    from stockman_lab.servers.serving import Serving

TOKEN = "lab"
"""The name of the token that a lab makes for its user."""


def environment(serving: Serving, files: LabFiles, *, tag: str) -> dict[str, str]:
    """Variables by name; those of the first cluster have the names that clients know.

    `tag` tells files apart that two processes write.
    """
    values: dict[str, str] = {}
    authorities = []
    for number, cluster in enumerate(serving.world.clusters.values()):
        place = next(one for one in serving.hosts.places if one.cluster == cluster.name)
        suffix = "" if number == 0 else f"_{number + 1}"
        values[f"PROXMOX_VE_ENDPOINT{suffix}"] = f"https://{place.address}:{place.port}/"
        values[f"PROXMOX_VE_API_TOKEN{suffix}"] = f"{ROOT}!{TOKEN}={_secret(cluster)}"
        authorities.append(serving.hosts.authority(cluster).certificate.pem)
    _write(files.authority, "".join(authorities))
    values["PROXMOX_VE_INSECURE"] = "true"
    values["STOCKMAN_LAB_CA"] = str(files.authority.resolve())
    moved = {
        one.host: f"{one.address}:{one.port}"
        for one in serving.hosts.places
        if one.port != API_PORT
    }
    moved |= {name: place for name, place in machine_places(serving).items() if name not in moved}
    if moved:
        values["STOCKMAN_LAB_PORTS"] = ",".join(f"{name}={place}" for name, place in moved.items())
    values |= _ssh(serving, files, tag) | _talos(serving, files, tag)
    values |= _kubernetes(serving, files, tag)
    return values | _factory(serving) | _objects(serving) | _git(serving)


def machine_places(serving: Serving) -> dict[str, str]:
    """Talos machines that do not answer on port 50000 of their own addresses, and where they do."""
    addresses = {}
    for machine in serving.world.talos.on():
        place = serving.machines.place_of(machine)
        if place is not None and place != (machine.address, TALOS_PORT):
            addresses[machine.hostname] = f"{place[0]}:{place[1]}"
    return addresses


def _talos(serving: Serving, files: LabFiles, tag: str) -> dict[str, str]:
    """A talosconfig for all clusters, where there is one."""
    if not serving.world.talos.by_key:
        return {}
    text = serving.machines.talosconfig()
    if not text:
        return {}
    replace_private_file(files.talosconfig, text.encode(), tag=tag)
    return {"TALOSCONFIG": str(files.talosconfig.resolve())}


def _kubernetes(serving: Serving, files: LabFiles, tag: str) -> dict[str, str]:
    """A kubeconfig for all clusters, where one answers."""
    text = "" if serving.machines.kube is None else serving.machines.kubeconfig()
    if not text:
        return {}
    replace_private_file(files.kubeconfig, text.encode(), tag=tag)
    return {"KUBECONFIG": str(files.kubeconfig.resolve())}


def _factory(serving: Serving) -> dict[str, str]:
    """Where Image Factory and registry are."""
    if serving.services.images_place is None:
        return {}
    address, port = serving.services.images_place
    return {"STOCKMAN_LAB_FACTORY": f"http://{address}:{port}"}


def _ssh(serving: Serving, files: LabFiles, tag: str) -> dict[str, str]:
    """How to log in to hosts: as root, with the key of the first cluster."""
    rows = [one for one in serving.hosts.places if one.ssh_port]
    if not rows:
        return {}
    key = serving.hosts.ssh_key()
    replace_private_file(files.ssh_key, key.private.encode(), tag=tag)
    return {
        "PROXMOX_VE_SSH_USERNAME": "root",
        "PROXMOX_VE_SSH_AGENT": "false",
        "PROXMOX_VE_SSH_PRIVATE_KEY": key.private,
        "STOCKMAN_LAB_SSH_KEY": str(files.ssh_key.resolve()),
        "STOCKMAN_LAB_SSH": ",".join(f"{one.host}={one.address}:{one.ssh_port}" for one in rows),
    }


def _objects(serving: Serving) -> dict[str, str]:
    """Where object storage is, and the key that opens it, as clients of S3 want to be told."""
    if serving.services.objects_place is None:
        return {}
    address, port = serving.services.objects_place
    key = serving.services.objects_key()
    return {
        "AWS_ENDPOINT_URL": f"http://{address}:{port}",
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_REGION": serving.world.state.objects.region,
    }


def _git(serving: Serving) -> dict[str, str]:
    """Where git repositories are served: below it comes host and path of their URLs."""
    if serving.services.git_place is None:
        return {}
    address, port = serving.services.git_place
    return {"STOCKMAN_LAB_GIT": f"http://{address}:{port}"}


def _secret(cluster: Cluster) -> str:
    """The token of root, with all its rights; made where there is none."""
    access = cluster.state.access
    user = access.users[ROOT]
    if TOKEN not in user.tokens:
        change = TokenChange(privsep=False)
        create_token(access, Caller(ROOT, TOKEN), change, cluster.around.dice.random_bytes)
    return user.tokens[TOKEN].secret


def _write(path: Path, text: str) -> None:
    path.write_text(text, "ascii")
