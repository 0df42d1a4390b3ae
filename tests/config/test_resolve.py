"""Resolution: every default applied, every shorthand written out, the same in every run."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

import pytest

from stockman.model.desired import Role
from stockman.model.errors import Refused
from stockman.model.version import Version
from tests.config.written import CLUSTER, NODES, codes, desired, loaded


def test_what_follows_from_other_keys_is_filled_in() -> None:
    configuration = desired()

    assert configuration.cluster is not None
    assert configuration.cluster.network.default_gateway == IPv4Address("127.66.0.1")
    assert configuration.cluster.kubernetes.coredns_addr == IPv4Address("10.43.0.10")
    assert configuration.cluster.kubernetes.version == Version(1, 36, 3)
    assert configuration.cluster.kubernetes.schedule_on_controllers
    assert configuration.cluster.talos.contract == Version(1, 13)
    assert configuration.cluster.edge.ingress_mode == "none"
    assert not configuration.cluster.spegel
    assert str(configuration.cluster.network.where("default_gateway")).startswith("derived: ")


def test_a_new_version_does_not_move_a_written_contract() -> None:
    configuration = desired(CLUSTER + "talos_contract: 1.12\n")

    assert configuration.cluster is not None
    assert configuration.cluster.talos.contract == Version(1, 12)


def test_a_node_is_complete() -> None:
    node = desired().nodes[0]

    assert node.role is Role.CONTROLLER
    assert node.address == IPv4Interface("127.66.0.21/24")
    assert node.disk == "/dev/sda"
    assert node.schematic.extensions == ("siderolabs/qemu-guest-agent",)
    assert node.expect.nic_count == 1


def test_a_vm_is_complete() -> None:
    vm = desired().nodes[0].vm

    assert vm is not None
    assert [(nic.bridge, nic.mac_addr) for nic in vm.nics] == [("vmbr0", "bc:24:11:00:00:21")]
    assert vm.efi_disk.datastore == vm.datastore == "local-lvm"
    assert vm.boot_order == ("scsi0",)
    assert (vm.name, vm.region) == ("cp-1", "pve")


def test_identities_are_derived_and_stable() -> None:
    nodes = NODES.replace("host: pve-a", "host: pve-a, nics: [{bridge: vmbr0}, {bridge: vmbr1}]")

    vm = desired(nodes=nodes).nodes[0].vm

    assert vm is not None
    assert str(vm.uuid) == "ea291d00-6248-50dc-b7f1-1c531009167d"
    assert vm.nics[1].mac_addr == "bc:24:11:36:cc:e6"


def test_a_short_ha_group_is_written_out() -> None:
    vm = desired(nodes=NODES.replace("host: pve-a", "host: pve-a, ha_group: ceph")).nodes[0].vm

    assert vm is not None
    assert vm.ha is not None
    assert (vm.ha.enabled, vm.ha.group) == (True, "ceph")


def test_a_bucket_switches_backups_on() -> None:
    backup = desired(CLUSTER + "backup_s3_bucket: etcd\n").backup

    assert backup.enabled
    assert backup.targets[0].prefix == "meadow"


def test_mistakes_refuse_resolution() -> None:
    with pytest.raises(Refused, match=r"config\.unresolved"):
        desired(nodes=NODES.replace("127.66.0.21", "127.67.0.21"))


def test_encrypted_values_that_are_no_secrets_refuse_resolution() -> None:
    cipher = "'ENC[AES256_GCM,data:QQ==,iv:QQ==,tag:QQ==,type:str]'"

    with pytest.raises(Refused, match=r"config\.encrypted"):
        desired(CLUSTER.replace("meadow\n", f"{cipher}\n", 1))


def test_without_nodes_there_is_no_cluster() -> None:
    configuration = desired(
        "proxmox_endpoint: https://127.66.0.4:8006\n",
        "guests: [{name: nas, vmid: 300, host: pve-a, vm: {nics: [{bridge: vmbr0}]}}]\n",
    )

    assert configuration.cluster is None
    assert configuration.name == "guests"
    assert configuration.guests[0].vm is not None
    assert configuration.guests[0].vm.efi_disk.datastore == "local-lvm"


def test_guests_without_a_cluster_may_have_a_name() -> None:
    configuration = desired(
        "cluster_name: attic\nproxmox_endpoint: https://127.66.0.4:8006\n",
        "guests: [{name: nas, vmid: 300, host: pve-a, vm: {nics: [{bridge: vmbr0}]}}]\n",
    )

    assert (configuration.cluster, configuration.name) == (None, "attic")
    assert desired().name == "meadow"


def test_two_readings_of_the_same_text_are_equal() -> None:
    assert desired() == desired("# moved\n\n" + CLUSTER, NODES)


def test_a_node_with_extensions_of_its_own_leaves_the_cluster_id() -> None:
    schematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    cluster = CLUSTER.replace("talos:\n", f"talos:\n  schematic_id: {schematic}\n")
    own = NODES + "    talos: {extensions: [siderolabs/iscsi-tools]}\n"

    assert desired(cluster).nodes[0].schematic.id == schematic
    assert desired(cluster, own).nodes[0].schematic.extensions == (
        "siderolabs/qemu-guest-agent",
        "siderolabs/iscsi-tools",
    )


def test_a_schematic_may_be_written_out() -> None:
    own = NODES + "    talos: {schematic: {customization: {extraKernelArgs: [quiet]}}}\n"

    schematic = desired(nodes=own).nodes[0].schematic

    assert schematic.written == {"customization": {"extraKernelArgs": ["quiet"]}}
    assert str(schematic.where("written")) == "nodes.yaml:7:24"


def test_the_api_is_reached_at_its_address_unless_a_name_is_given() -> None:
    named = CLUSTER + "kubernetes: {api: {endpoint: 'https://api.example.com:443'}}\n"

    plain, cluster = desired().cluster, desired(named).cluster

    assert plain is not None
    assert cluster is not None
    assert plain.kubernetes.api_endpoint == "https://127.66.0.10:6443"
    assert cluster.kubernetes.api_endpoint == "https://api.example.com:443"


def test_the_api_may_have_the_address_of_the_only_controller() -> None:
    own = CLUSTER.replace("cluster_api_addr: 127.66.0.10", "cluster_api_addr: 127.66.0.21")
    second = NODES + NODES.removeprefix("nodes:\n").replace("21", "22").replace("cp-1", "cp-2")
    named = own + "kubernetes: {api: {endpoint: 'https://api.example.com'}}\n"

    assert codes(loaded(own)) == []
    assert "address.taken" in codes(loaded(own, second))
    assert "address.taken" not in codes(loaded(named, second))
