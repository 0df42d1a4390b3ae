"""How often each system was asked."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.planning.observed.systems import kubernetes_calls, proxmox_calls, talos_calls
from stockman.planning.observed.talos import ObservedTalos
from stockman.steps.etcd.view import ObservedEtcd
from tests.planning.estate import Estate

NOW = datetime(2026, 3, 1, tzinfo=UTC)


async def test_calls_to_proxmox_are_told_with_its_hosts_and_guests() -> None:
    estate = Estate("three-node")
    await estate.apply()
    seen = await estate.observe()

    told = proxmox_calls(seen)

    assert told.system == f"Proxmox VE cluster {estate.region}"
    assert (told.calls, told.of) == (seen.calls, {"hosts": 3, "guests": 3})


def test_calls_to_talos_are_told_by_their_names() -> None:
    seen = ObservedTalos(
        seen_at=NOW, machines={}, etcd=ObservedEtcd(answers=()), calls={"version": 3, "links": 2}
    )

    told = talos_calls(seen)

    assert (told.calls, told.of, told.by_call["version"]) == (5, {"nodes": 0}, 3)


def test_calls_to_kubernetes_do_not_grow_with_nodes() -> None:
    told = kubernetes_calls(ObservedKubernetes(at=NOW, source="test", version=None, calls=21))

    assert (told.calls, told.grows) == (21, "O(components)")
