"""Files with which clients reach the Talos machines of a world."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine
    from stockman_lab.world.world import World

_YEAR = timedelta(days=365)


def talosconfig_of(
    world: World, now: datetime, endpoint: Callable[[Machine], str] | None = None
) -> str:
    """A talosconfig with a context for every cluster, for an admin. Empty: there is no cluster.

    `endpoint` tells where a machine answers. None: on its address.
    """
    clusters: dict[str, list[Machine]] = {}
    for machine in world.talos.on():
        config = machine.config
        if config is not None and config.os_ca.key:
            clusters.setdefault(config.cluster_name, []).append(machine)
    if not clusters:
        return ""
    return _text(world, clusters, now, endpoint or (lambda one: one.address))


def _text(
    world: World,
    clusters: dict[str, list[Machine]],
    now: datetime,
    endpoint: Callable[[Machine], str],
) -> str:
    from stockman.crypto.certificates import (
        CertificateRequest,
        Purpose,
        ValidityPeriod,
        issue_certificate,
    )
    from stockman.crypto.pem import CertificateAndKey
    from stockman.model.secret import Secret
    from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text
    from stockman_lab.core.dice import Dice

    contexts = {}
    for number, (name, machines) in enumerate(clusters.items()):
        config = machines[0].config
        if config is None:
            continue
        authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
        leaf = CertificateRequest(
            period=ValidityPeriod.lasting(now.astimezone(UTC), _YEAR),
            purposes=(Purpose.CLIENT,),
            organizations=("os:admin",),
        )
        dice = Dice(world.state.dice.seed, (1 << 44) + number * 64)
        client = issue_certificate(authority, leaf, dice.random_bytes)
        endpoints = [endpoint(machine) for machine in machines]
        contexts[name] = client_context(
            config.os_ca.crt, client, endpoints=endpoints, nodes=[machines[0].address]
        )
    return talosconfig_text(Talosconfig(context=next(iter(contexts)), contexts=contexts)).reveal()


def kubeconfig_of(
    world: World, now: datetime, place: Callable[[Machine], tuple[str, int] | None]
) -> str:
    """A kubeconfig with a context for every cluster, for an admin. Empty: none of them answers.

    `place` tells where the API server of a machine answers.
    """
    clusters: dict[str, tuple[Machine, tuple[str, int]]] = {}
    for machine in world.talos.all_controllers():
        config, found = machine.config, place(machine)
        if config is None or found is None or not config.k8s_ca.key:
            continue
        # Where the shared address is, everybody is asked there.
        if config.cluster_name not in clusters or found[0] == machine.state.network.vip:
            clusters[config.cluster_name] = machine, found
    return _kubeconfig(world, clusters, now) if clusters else ""


def _kubeconfig(
    world: World, clusters: dict[str, tuple[Machine, tuple[str, int]]], now: datetime
) -> str:
    import base64

    from stockman.config.writers.yaml_writer import render_yaml
    from stockman_lab.core.dice import Dice
    from stockman_lab.servers.kube_certificates import admin_certificate

    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    servers, users, contexts = [], [], []
    for number, (name, (machine, (address, port))) in enumerate(clusters.items()):
        config = machine.config
        if config is None:
            continue
        dice = Dice(world.state.dice.seed, (1 << 46) + number * 64)
        client = admin_certificate(config, now, dice.random_bytes)
        host = f"[{address}]" if ":" in address else address
        server = {
            "server": f"https://{host}:{port}",
            "certificate-authority-data": encoded(config.k8s_ca.crt),
        }
        shown = {
            "client-certificate-data": encoded(client.crt),
            "client-key-data": encoded(client.key.reveal()),
        }
        user = f"admin@{name}"
        servers.append({"name": name, "cluster": server})
        users.append({"name": user, "user": shown})
        context = {"cluster": name, "namespace": "default", "user": user}
        contexts.append({"name": user, "context": context})
    return render_yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": servers,
            "users": users,
            "contexts": contexts,
            "current-context": contexts[0]["name"],
        }
    )
