"""Stories of a cluster as a whole: its health, its people, many machines at once."""

from __future__ import annotations

from functools import partial

from tests.real.talos.golden import agrees
from tests.real.talos.served import Answer, Lab, refused, succeeded, together

_ROLES = {
    ("etcd", "defrag"): "os:operator",
    ("etcd", "alarm", "list"): "os:etcd:backup",
    ("services",): "os:reader",
}
"""Commands, and the smallest role that may give them."""
_ABOVE = {
    "os:operator": (("rollback",), ("kubeconfig", "-")),
    "os:etcd:backup": (("services",), ("etcd", "defrag")),
    "os:reader": (("service", "kubelet", "restart"), ("reboot", "--wait=false"), ("bootstrap",)),
}
"""Commands that a role may not give."""


def roles_are_kept(lab: Lab, client: str) -> None:
    """Every role may do what it is for, and nothing above it."""
    boots = [machine.state.boot_id for machine in lab.world.talos.machines]
    for command, role in _ROLES.items():
        ask = lab.talosctl(client, role)
        calls = [partial(ask, *words) for words in (command, *_ABOVE[role])]
        allowed, *above = together(*calls)
        succeeded(allowed)
        for answer in above:
            refused(answer, "code = PermissionDenied desc = not authorized")
    answer = lab.talosctl(client, "os:reader")("bootstrap")
    agrees(lab, "wrong-role", client, answer)
    assert [machine.state.boot_id for machine in lab.world.talos.machines] == boots


def nobody_is_let_in_late(lab: Lab, client: str) -> None:
    """A certificate that is over opens nothing."""
    ask = lab.talosctl(client, is_expired=True)
    before = lab.etcd.index

    refused(ask("etcd", "forfeit-leadership"), "code = Unavailable", "expired certificate")

    assert lab.etcd.index == before


def many_are_asked(lab: Lab, client: str) -> None:
    """Three machines at once, one of which is down: the others answer."""
    down = lab.machine(2)
    down_at = down.address
    nodes = ",".join(lab.addresses)
    lab.switch_off(2)
    ask = lab.talosctl(client)

    answer = ask("services", nodes=nodes)

    assert all(f"{one.address} " in answer.stdout for one in (lab.machine(), lab.machine(1)))
    assert f"{down_at}:50000: connect: no route to host" in answer.stderr
    assert answer.returncode == (1 if client.startswith("1.14") else 0)


def health_is_told(lab: Lab, client: str) -> None:
    """All that does not need Kubernetes is well, asked by a machine and by the client itself."""
    ask = lab.talosctl(client)
    inside, outside = together(
        lambda: ask("health", "--wait-timeout", "20s"),
        lambda: ask("health", "--server=false", "--wait-timeout", "4s"),
    )
    for answer in (inside, outside):
        for check in (
            "etcd to be healthy",
            "etcd members to be consistent across nodes",
            "etcd members to be control plane nodes",
            "apid to be ready",
            "all nodes memory sizes",
            "all nodes disk sizes",
            "kubelet to be healthy",
            "all nodes to finish boot sequence",
        ):
            assert f"waiting for {check}: OK" in answer.stderr, _last(answer)


def an_ill_member_is_told(lab: Lab, client: str) -> None:
    """Health says that etcd is not well when two of three machines are off."""
    for place in (1, 2):
        lab.switch_off(place)
    answer = lab.talosctl(client)("health", "--wait-timeout", "10s")

    assert answer.returncode == 1
    assert "waiting for etcd to be healthy: ..." in answer.stderr
    assert "waiting for etcd to be healthy: OK" not in answer.stderr


def rotation_is_rehearsed(lab: Lab, client: str) -> None:
    """`rotate-ca` shows what it would do; older releases stop halfway, as they always do."""
    config = lab.machine().state.config
    answer = lab.talosctl(client)("rotate-ca", "--dry-run=true")

    assert "> Cluster topology:" in answer.stdout + answer.stderr
    assert all(address in answer.stdout + answer.stderr for address in lab.addresses)
    if not client.startswith("1.14"):
        refused(answer, "failed to create new client with rotated Talos CA")
    assert lab.machine().state.config == config


def _last(answer: Answer) -> str:
    return answer.stderr[-1500:]
