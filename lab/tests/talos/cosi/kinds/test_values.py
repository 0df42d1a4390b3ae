"""What single kinds say of a machine, where it is more than a copy of its state."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.talos.cosi.registry import claimed, content_of
from stockman_lab.talos.disk import EPHEMERAL, GRUB
from stockman_lab.talos.state import AddressState

from lab.tests.talos.cosi.handmade import HandMade, HandMadeLand, handmade_land, waiting_machine


def told(machine: HandMade, name: str) -> dict[str, Any]:
    """Contents of the kind whose type begins so, by id."""
    (kind,) = (one for key, one in claimed().items() if key.startswith(name))
    return {key: content_of(one).spec for key, one in kind.told(machine).items()}


def first(minor: str = "1.13") -> HandMade:
    return handmade_land(minor).machines[0]


def test_a_machine_says_what_it_waits_for() -> None:
    machine = first()
    machine.state.services["kubelet"].is_healthy = False

    assert told(machine, "MachineStatuses.")["machine"] == {
        "stage": "running",
        "status": {
            "ready": False,
            "unmetConditions": [{"name": "services", "reason": "kubelet not healthy"}],
        },
    }


def test_members_are_those_of_the_cluster_that_are_reached() -> None:
    hand_made_land = handmade_land()
    hand_made_land.machines[1].state.network.links.clear()

    assert sorted(told(hand_made_land.machines[0], "Members.")) == ["ctrl-1", "work-3"]


def test_a_member_says_what_it_is() -> None:
    member = told(first(), "Members.")["work-3"]

    assert member["machineType"] == "worker"
    assert member["operatingSystem"] == "Talos (v1.13.9)"
    assert "controlPlane" not in member


def test_addresses_of_pods_are_told_apart() -> None:
    machine = first()
    machine.state.network.addresses.append(AddressState("10.244.0.1/24", "eth0"))
    result = told(machine, "NodeAddresses.")

    assert result["routed-only-k8s"]["addresses"] == ["10.244.0.1/24"]
    assert "10.244.0.1/24" not in result["routed-no-k8s"]["addresses"]


def test_a_link_without_carrier_has_no_current_addresses() -> None:
    machine = first()
    machine.state.network.links[1].is_up = False
    result = told(machine, "NodeAddresses.")

    assert result["current"]["addresses"] == ["10.42.62.1/24"]
    assert "127.51.0.1/24" in result["accumulative"]["addresses"]


def test_a_shared_address_is_no_address_of_the_node_itself() -> None:
    machine = first()
    shared = AddressState("10.42.0.9/32", "eth0", "operator", is_vip=True)
    machine.state.network.addresses.insert(0, shared)

    assert told(machine, "NodeAddresses.")["default"]["addresses"] == ["127.51.0.1/24"]
    assert told(machine, "NodeIPs.")["kubelet"]["addresses"] == ["127.51.0.1", "fd00:66::5"]


def test_a_network_inside_of_the_cluster_is_diagnosed() -> None:
    machine = first()
    machine.state.network.addresses = [AddressState("10.96.0.5/24", "eth0")]
    address_overlap = told(machine, "Diagnostics.")["address-overlap"]

    assert address_overlap["message"] == "host and Kubernetes pod/service CIDR addresses overlap"
    assert address_overlap["details"][0] == 'host routed addresses: ["10.96.0.5/24"]'


def test_routes_are_called_after_their_gateways() -> None:
    names = set(told(first(), "RouteStatuses."))

    assert names >= {"inet4/127.51.0.254//1024", "eth0/inet6/fd00:66::1//2048"}


def test_a_vlan_knows_its_parent() -> None:
    eth0_62 = told(first(), "LinkStatuses.")["eth0.62"]

    assert (eth0_62["linkIndex"], eth0_62["vlan"]["vlanID"]) == (2, 62)


@pytest.mark.parametrize(
    ("minor", "form"), [("1.12", "2"), ("1.13", {"values": ["2"]}), ("1.14", {"values": ["2"]})]
)
def test_arguments_may_have_several_values_later(minor: str, form: object) -> None:
    assert told(first(minor), "APIServerConfigs.")["kube-apiserver"]["extraArgs"] == {"v": form}


def test_the_newest_minor_tells_whole_command_lines_too() -> None:
    result = told(first("1.14"), "SchedulerConfigs.")

    assert sorted(result) == ["final-kube-scheduler", "kube-scheduler"]
    assert "--leader-elect=true" in result["final-kube-scheduler"]["args"]
    assert list(told(first("1.13"), "SchedulerConfigs.")) == ["kube-scheduler"]


def test_pods_of_the_control_plane_are_called_after_the_node() -> None:
    result = told(first(), "StaticPodStatuses.")

    assert list(result) == [
        "kube-system/kube-apiserver-ctrl-1",
        "kube-system/kube-controller-manager-ctrl-1",
        "kube-system/kube-scheduler-ctrl-1",
    ]


def test_pods_are_there_when_the_kubelet_is() -> None:
    machine = first()
    machine.state.services["kubelet"].state = "Finished"

    assert told(machine, "StaticPodStatuses.") == {}


def test_volumes_are_partitions_of_the_system_disk() -> None:
    result = told(first(), "VolumeStatuses.")

    assert {name: one["location"] for name, one in result.items()} == {
        "META": "/dev/sda2",
        "STATE": "/dev/sda3",
        "EPHEMERAL": "/dev/sda4",
        "u-data": "/dev/vda1",
    }


def test_older_bootloaders_need_more_partitions() -> None:
    machine = first()
    disk = machine.view.disks[0]
    disk.contents["talos"]["bootloader"] = GRUB  # type: ignore[index]
    result = told(machine, "DiscoveredVolumes.")
    labels = [one["partition_label"] for one in result.values() if "partition_label" in one]

    assert labels == ["EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL"]


def test_a_volume_that_was_wiped_is_waited_for() -> None:
    machine = first()
    disk = machine.disk
    assert disk is not None
    disk.wipe(EPHEMERAL)

    assert told(machine, "VolumeStatuses.")["EPHEMERAL"]["phase"] == "waiting"


@pytest.mark.parametrize(
    ("name", "size", "transport"), [("sda", "34 GB", "virtio"), ("vda", "107 GB", "virtio")]
)
def test_disks_have_sizes_that_people_read(name: str, size: str, transport: str) -> None:
    result = told(first(), "Disks.")[name]

    assert (result["pretty_size"], result["transport"]) == (size, transport)


def test_the_schematic_is_the_last_extension() -> None:
    hand_made_land = HandMadeLand()
    text = (
        "customization:\n    systemExtensions:\n        officialExtensions:\n"
        "            - siderolabs/qemu-guest-agent\n"
    )
    machine = waiting_machine(hand_made_land, "1.13", "127.51.0.9")
    hand_made_land.factory.schematics["abc"] = text
    machine.state.schematic = "abc"
    result = told(machine, "ExtensionStatuses.")

    assert [one["metadata"]["name"] for one in result.values()] == ["qemu-guest-agent", "schematic"]
    assert result["1"]["metadata"]["version"] == "abc"


def test_keys_of_meta_are_in_digits_of_sixteen() -> None:
    assert told(first(), "MetaKeys.") == {"0x0a": {"value": "addresses: []\n"}}


def test_authorities_of_workers_cannot_sign() -> None:
    hand_made_land = handmade_land()

    assert told(hand_made_land.machines[2], "OSRootSecrets.")["os"]["issuingCA"] is None
    assert told(hand_made_land.machines[0], "OSRootSecrets.")["os"]["issuingCA"]["key"]
