"""Plans of the Talos stage: what is refused, what is changed, how and why."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from ipaddress import IPv4Interface
from uuid import UUID

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.world.staging import Staged

from stockman.model.desired import Desired, Node, Role
from stockman.model.names import SchematicId
from stockman.model.version import Version
from stockman.planning.talos.changes import ReconfigureChange
from stockman.planning.talos.refusals import find_refusals
from stockman.ports.environment import NoAnswer, ServerAddress
from stockman.talos.machine.masking import paths_needing_reboot
from stockman.talos.secrets.bundle import new_bundle
from tests.steps.talos_scene import NEO, NIOBE, TRINITY, Scene, copied, scene

NODE = "talos-1"


@cache
def _up(preset: str) -> Scene:
    return scene(preset, up=True)


def up(preset: str = "single") -> Scene:
    """A cluster that runs."""
    return copied(_up(preset))


def with_first(desired: Desired, **changes: object) -> Desired:
    """The same with a first node that is wanted otherwise."""
    first: Node = replace(desired.nodes[0], **changes)  # type: ignore[arg-type]  # fields by name
    return replace(desired, nodes=(first, *desired.nodes[1:]))


def test_an_unchanged_cluster_has_no_refusals_and_no_changes() -> None:
    cluster = up()

    assert cluster.refusals() == {}
    assert [change for change in cluster.changes() if change.node] == []


class Somebody:
    """A network in which one address and port takes connections."""

    def __init__(self, host: str) -> None:
        self.host = host

    async def connect(self, address: ServerAddress) -> None:
        if (address.host, address.port) != (self.host, 6443):
            raise NoAnswer("connection refused")


def taken(cluster: Scene, host: str) -> list[str]:
    """What is said where somebody has an address."""
    observed = cluster.observe(network=Somebody(host))  # type: ignore[arg-type]  # it only connects
    return [refusal.what for refusal in find_refusals(cluster.wish(), observed) if refusal.is_error]


def test_an_address_of_the_api_that_somebody_has_is_refused_before_there_is_a_cluster() -> None:
    cluster = scene("three-node")
    assert cluster.desired.cluster is not None
    address = str(cluster.desired.cluster.kubernetes.api_addr)

    told = "something answers at the address of the Kubernetes API before there is one"
    assert taken(cluster, address) == [told]
    assert taken(cluster, "127.67.0.250") == []


def test_the_address_of_an_api_of_ours_is_not_taken() -> None:
    cluster = up("three-node")
    assert cluster.desired.cluster is not None

    assert taken(cluster, str(cluster.desired.cluster.kubernetes.api_addr)) == []


def test_another_version_is_for_an_upgrade() -> None:
    running = up()
    cluster = running.desired.cluster
    assert cluster is not None
    newer = replace(cluster, talos=replace(cluster.talos, version=Version.parse("1.13.10")))

    running.wants(replace(running.desired, cluster=newer))

    assert running.refusals() == {"node.upgrade": [NODE]}
    assert [change for change in running.changes() if change.node] == []


def test_what_tuppr_upgrades_is_left_alone_and_only_told() -> None:
    running = up()
    cluster = running.desired.cluster
    assert cluster is not None
    newer = replace(cluster, talos=replace(cluster.talos, version=Version.parse("1.13.10")))
    upgrade = replace(running.desired.upgrade, engine="tuppr")

    running.wants(replace(running.desired, cluster=newer, upgrade=upgrade))

    refusals = find_refusals(running.wish(), running.observe())
    assert [(refusal.code, refusal.is_error) for refusal in refusals] == [("node.upgrade", False)]
    assert [change for change in running.changes() if change.node] == []


def test_another_schematic_is_for_an_upgrade() -> None:
    cluster = up()
    schematic = replace(cluster.desired.nodes[0].schematic, id=SchematicId("ab" * 32))

    cluster.wants(with_first(cluster.desired, schematic=schematic))

    assert cluster.refusals() == {"node.upgrade": [NODE]}


def test_another_version_of_kubernetes_is_for_an_upgrade() -> None:
    running = up()
    cluster = running.desired.cluster
    assert cluster is not None
    kubernetes = replace(cluster.kubernetes, version=Version.parse("1.35.0"))

    running.wants(replace(running.desired, cluster=replace(cluster, kubernetes=kubernetes)))

    assert running.refusals() == {"node.upgrade": [NODE]}


def test_a_renamed_node_is_refused() -> None:
    cluster = up()

    cluster.wants(with_first(cluster.desired, name="talos-new"))

    assert cluster.refusals()["node.renamed"] == ["talos-new (127.67.0.11)"]


def test_another_role_is_refused() -> None:
    cluster = up("three-node")

    cluster.wants(with_first(cluster.desired, role=Role.WORKER))

    assert "node.role" in cluster.refusals()


def test_a_machine_with_another_uuid_is_refused() -> None:
    cluster = up()
    vm = cluster.desired.nodes[0].vm
    assert vm is not None

    cluster.wants(with_first(cluster.desired, vm=replace(vm, uuid=UUID(int=7))))

    assert set(cluster.refusals()) == {"node.identity"}


def test_a_machine_of_another_cluster_is_refused() -> None:
    cluster = up()
    cluster.staged = with_other_secrets(cluster)
    cluster.again()

    assert cluster.refusals() == {"node.other-cluster": [f"{NODE} (127.67.0.11)"]}
    assert [change for change in cluster.changes() if change.node] == []


def with_other_secrets(cluster: Scene) -> Staged:
    desired = cluster.desired.cluster
    assert desired is not None
    bundle = new_bundle(desired.talos.contract, cluster.ports.clock.now(), Dice(99).random_bytes)
    return Staged(cluster.desired, bundle, dict(cluster.staged.machines))


def test_a_clock_that_is_far_off_is_refused() -> None:
    cluster = up()
    cluster.world.faults.add(Fault(Point.CLOCK, Effect.LIE, {}, seconds=90.0, times=None))

    assert "node.clock" in cluster.refusals()


def test_other_time_servers_are_given_to_a_machine_whose_clock_is_far_off() -> None:
    running = up()
    running.world.faults.add(Fault(Point.CLOCK, Effect.LIE, {}, seconds=90.0, times=None))
    cluster = running.desired.cluster
    assert cluster is not None
    network = replace(cluster.network, ntp_servers=("127.67.0.1",))

    running.wants(replace(running.desired, cluster=replace(cluster, network=network)))

    refusals = find_refusals(running.wish(), running.observe())
    assert [(refusal.code, refusal.is_error) for refusal in refusals] == [("node.clock", False)]
    assert [type(change).__name__ for change in running.changes() if change.node] == [
        "ReconfigureChange"
    ]


def test_a_silent_machine_is_unknown_and_nothing_is_planned_for_it() -> None:
    cluster = up("three-node")
    cluster.power_off(NEO)

    assert cluster.refusals() == {"node.unknown": [f"{NEO} (127.67.0.17)"]}
    assert [step.id for step in cluster.plan() if step.node] == []


def test_no_etcd_is_begun_while_a_controller_is_unknown() -> None:
    cluster = scene("three-node")
    cluster.start([TRINITY, NEO])

    ids = {step.id for step in cluster.plan()}

    assert "talos/bootstrap" not in ids
    assert f"talos/configure/{TRINITY}" in ids
    assert f"talos/configure/{NIOBE}" not in ids


def test_a_machine_that_boots_an_old_image_is_refused() -> None:
    running = scene("single")
    running.start()
    cluster = running.desired.cluster
    assert cluster is not None
    newer = replace(cluster, talos=replace(cluster.talos, version=Version.parse("1.13.10")))

    running.wants(replace(running.desired, cluster=newer))

    assert running.refusals() == {"node.image": [f"{NODE} (127.67.0.11)"]}


def test_a_label_is_changed_while_the_machine_runs_and_the_plan_says_so() -> None:
    cluster = up()

    cluster.wants(with_first(cluster.desired, labels={"zone": "b"}))

    (change,) = [change for change in cluster.changes() if isinstance(change, ReconfigureChange)]
    assert change.boot_id == ""
    assert "machine.nodeLabels.zone" in change.why
    assert "applies that without a reboot" in change.why


@pytest.mark.parametrize(
    ("path", "version", "boots"),
    [
        ("machine.sysctls.vm.swappiness", "1.13.9", False),
        ("machine.files[0].content", "1.13.9", True),
        ("machine.files[0].content", "1.14.1", True),
        ("machine.token", "1.12.1", True),
        ("machine.token", "1.14.1", False),
        ("machine.features.kubePrism.port", "1.11.5", False),
        ("machine.features.rbac", "1.11.5", True),
        ("cluster.apiServer.certSANs[x]", "1.13.9", False),
        ("LinkConfig net0: mtu", "1.13.9", False),
        ("machine.registries.config.a.auth.password", "1.13.9", True),
        ("machine.registries.mirrors.a.endpoints[0]", "1.13.9", False),
    ],
)
def test_what_a_minor_boots_for(path: str, version: str, boots: bool) -> None:
    assert bool(paths_needing_reboot([path], Version.parse(version))) is boots


def test_the_address_of_a_node_is_not_asked_of_another_machine() -> None:
    cluster = up()
    cluster.wants(with_first(cluster.desired, address=IPv4Interface("127.67.0.99/16")))

    assert cluster.refusals() == {"node.unknown": [f"{NODE} (127.67.0.99)"]}
