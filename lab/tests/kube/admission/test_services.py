"""Services: addresses and ports that the server hands out."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

from lab.tests.kube.asking import Served, served

SERVICES = "/api/v1/namespaces/default/services"


def made(server: Served, name: str, **spec: Any) -> Any:
    body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}
    return server.ask("POST", SERVICES, body)


def test_each_service_has_an_address_of_its_own() -> None:
    server = served()

    cluster_ips = {made(server, f"s{number}")["spec"]["clusterIP"] for number in range(50)}

    assert len(cluster_ips) == 50
    assert all(ip_address(cluster_ip) in ip_network("10.43.0.0/16") for cluster_ip in cluster_ips)


def test_an_address_that_is_taken_or_of_another_network_is_refused() -> None:
    server = served()
    taken = made(server, "a")["spec"]["clusterIP"]

    again, outside = made(server, "b", clusterIP=taken), made(server, "c", clusterIP="10.99.0.1")

    assert again["message"].endswith(
        f"failed to allocate IP {taken}: provided IP is already allocated"
    )
    assert outside["code"] == 422


def test_node_ports_are_handed_out_and_kept() -> None:
    server = served()

    port = made(server, "a", type="NodePort")["spec"]["ports"][0]["nodePort"]
    again = server.ask("GET", f"{SERVICES}/a")

    assert 30000 <= port <= 32767
    assert again["spec"]["ports"][0]["nodePort"] == port
