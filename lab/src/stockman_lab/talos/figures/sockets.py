"""Sockets of a machine: what its services listen on, and whom they talk to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.names import service_pid
from stockman_lab.talos.figures.pods import pods
from stockman_lab.talos.figures.steady import whole

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

ESTABLISHED, LISTEN, CLOSE = 1, 10, 7
_ANY6 = "::"
_HERE = "127.0.0.1"
_DNS = "127.0.0.53"
_EPHEMERAL_PORTS = (32768, 60999)


@dataclass(frozen=True, slots=True, kw_only=True)
class Socket:
    """One socket."""

    protocol: str
    """`tcp`, `tcp6`, `udp`, `udp6`."""
    local: str
    port: int
    remote: str = ""
    """Empty: it listens, or is open for anybody."""
    remote_port: int = 0
    state: int = LISTEN
    pid: int = 0
    program: str = ""
    uid: int = 0
    inode: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has nobody at its other end."""
        return not self.remote


def sockets(machine: Machine) -> list[Socket]:
    """All sockets of the host's network."""
    return [*_listening(machine), *_open(machine), *_connected(machine)]


def _listening(machine: Machine) -> Iterator[Socket]:
    for service, protocol, address, port in _ports(machine):
        if service.startswith("kube-"):
            pod = next((one for one in pods(machine) if one.container == service), None)
            pid, program = (pod.pid, service) if pod is not None else (0, "")
        else:
            pid, program = service_pid(machine, service), _program(service)
        if pid:
            yield _socket(machine, protocol, address, port, pid=pid, program=program)


def _ports(machine: Machine) -> list[tuple[str, str, str, int]]:
    config, address = machine.config, machine.address
    ports = [("apid", "tcp6", _ANY6, 50000), ("trustd", "tcp6", _ANY6, 50001)]
    if machine.state.api == "maintenance":
        ports = [("machined", "tcp6", _ANY6, 50000)]
    if config is None:
        return ports
    if config.features.kube_prism_port:
        ports.append(("machined", "tcp", _HERE, config.features.kube_prism_port))
    if config.features.host_dns:
        ports.append(("machined", "tcp", _DNS, 53))
    ports += [
        ("etcd", "tcp", _HERE, 2379),
        ("etcd", "tcp", address, 2379),
        ("etcd", "tcp", address, 2380),
        ("kubelet", "tcp6", _ANY6, 10250),
        ("kubelet", "tcp", _HERE, 10248),
        ("kube-apiserver", "tcp6", _ANY6, config.kubernetes.api_port),
        ("kube-controller-manager", "tcp", _HERE, 10257),
        ("kube-scheduler", "tcp", _HERE, 10259),
        ("kube-proxy", "tcp6", _ANY6, 10256),
        ("kube-proxy", "tcp", _HERE, 10249),
    ]
    if machine.at_least("1.14"):
        ports.append(("etcd", "tcp", address, 2383))
    return ports


def _open(machine: Machine) -> Iterator[Socket]:
    config = machine.config
    if config is None:
        return
    if config.features.host_dns:
        yield _socket(machine, "udp", _DNS, 53, state=CLOSE, pid=1, program="init")
    if config.kubespan.enabled:
        yield _socket(machine, "udp6", _ANY6, 51820, state=CLOSE)
    if config.kubernetes.cni == "flannel" and machine.state.kubernetes.node_ready:
        yield _socket(machine, "udp", "0.0.0.0", 4789, state=CLOSE)


def _connected(machine: Machine) -> Iterator[Socket]:
    """Connections with other machines; both ends show the same ports."""
    own = machine.address
    for other in machine.land.group(machine):
        if other is machine or not other.address:
            continue
        if machine.runs("etcd") and other.runs("etcd"):
            yield _between(machine, other, ("etcd", "etcd"), 2380)
            yield _between(other, machine, ("etcd", "etcd"), 2380, here=machine)
        api = _api_server_of(machine)
        if api is other and machine.runs("kubelet"):
            yield _between(machine, other, ("kubelet", "kube-apiserver"), _api_port(other))
        if _api_server_of(other) is machine and other.runs("kubelet"):
            yield _between(
                other, machine, ("kubelet", "kube-apiserver"), _api_port(machine), here=machine
            )
    if _api_server_of(machine) is machine and machine.runs("kubelet"):
        client = _client_port(machine, own, "kubelet", 0)
        pid = service_pid(machine, "kubelet")
        yield _socket(
            machine,
            "tcp",
            _HERE,
            client,
            remote=_HERE,
            remote_port=_prism_port(machine),
            state=ESTABLISHED,
            pid=pid,
            program="kubelet",
        )


def _between(
    client: Machine,
    server: Machine,
    programs: tuple[str, str],
    port: int,
    here: Machine | None = None,
) -> Socket:
    """One end of a connection: the client's, or where `here` is the server, that one's."""
    client_port = _client_port(client, server.address, programs[0], port)
    if here is not server:
        return _socket(
            client,
            "tcp",
            client.address,
            client_port,
            remote=server.address,
            remote_port=port,
            state=ESTABLISHED,
            pid=service_pid(client, programs[0]),
            program=programs[0],
        )
    pid = service_pid(server, programs[1])
    if not pid:
        pid = next((pod.pid for pod in pods(server) if pod.container == programs[1]), 0)
    return _socket(
        server,
        "tcp",
        server.address,
        port,
        remote=client.address,
        remote_port=client_port,
        state=ESTABLISHED,
        pid=pid,
        program=programs[1],
    )


def _api_server_of(machine: Machine) -> Machine | None:
    """The control plane that a kubelet talks to: its own one, or the first that is there."""
    from stockman_lab.talos.status import has_static_pods

    able = [
        controller
        for controller in machine.land.controllers(machine)
        if has_static_pods(controller)
    ]
    return machine if machine in able else next(iter(able), None)


def _api_port(machine: Machine) -> int:
    config = machine.config
    return config.kubernetes.api_port if config is not None else 6443


def _prism_port(machine: Machine) -> int:
    config = machine.config
    prism = config.features.kube_prism_port if config is not None else 0
    return prism or _api_port(machine)


def _client_port(machine: Machine, remote: str, program: str, port: int) -> int:
    return whole(machine, f"port/{machine.state.boot}/{program}/{remote}/{port}", *_EPHEMERAL_PORTS)


def _socket(machine: Machine, protocol: str, local: str, port: int, **more: object) -> Socket:
    fields: dict[str, object] = {"state": LISTEN, **more}
    name = f"inode/{machine.state.boot}/{protocol}/{local}/{port}/{fields.get('remote_port')}"
    inode = whole(machine, name, 10_000, 90_000)
    return Socket(
        protocol=protocol,
        local=local,
        port=port,
        inode=inode,
        **fields,  # type: ignore[arg-type]  # fields of Socket by name
    )


def _program(service: str) -> str:
    return {"machined": "init", "apid": "init", "trustd": "init"}.get(service, service)
