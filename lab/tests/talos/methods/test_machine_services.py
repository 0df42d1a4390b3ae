"""Services as the API lists them."""

from __future__ import annotations

from stockman_lab.talos.services.running import feel

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged


def test_services_are_listed_by_name_with_what_happened_to_them() -> None:
    world = staged()
    services = Asking(world, machine(world)).call("ServiceList").services
    names = [one.id for one in services]
    assert names == sorted(names)
    assert {"apid", "containerd", "cri", "etcd", "kubelet", "machined", "trustd"} <= set(names)
    for service in services:
        assert service.state == "Running"
        assert service.events.events[-1].ts.seconds <= world.now
        is_asked = service.id not in ("dashboard", "ext-qemu-guest-agent")
        assert service.health.unknown is not is_asked
        assert service.health.healthy is is_asked


def test_an_ill_service_says_why() -> None:
    world = staged()
    node = machine(world)
    feel(node, node.state.services["kubelet"], False, "connection refused")
    (kubelet,) = (
        service
        for service in Asking(world, node).call("ServiceList").services
        if service.id == "kubelet"
    )
    assert not kubelet.health.healthy
    assert not kubelet.health.unknown
    assert kubelet.health.last_message == "connection refused"
    assert kubelet.events.events[-1].msg == "Health check failed: connection refused"
