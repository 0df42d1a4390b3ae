"""Both dialects become one shape, with the names and places of the file."""

from __future__ import annotations

from ipaddress import IPv4Network

from stockman.config.load import load
from tests.config.written import CLUSTER, NODES, codes, loaded

TOML = """\
[network]
node_cidr = "127.66.0.0/24"
vlan_tag = "66"
[repository]
url = "ssh://git@github.com/owner/meadow.git"
[dns]
provider = "none"
[backup]
recipients = ["age1qqq"]
targets = [{bucket = "etcd"}]
"""


def test_flat_keys_and_sections_mean_the_same() -> None:
    classic = loaded(
        "node_cidr: 127.66.0.0/24\nnode_vlan_tag: 66\nrepository_name: owner/meadow\n"
        "repository_visibility: private\ncloudflare_enabled: false\n"
        "backup_age_public_key: age1qqq\nbackup_s3_bucket: etcd\n",
        "nodes: []\n",
    )
    toml = load({"cluster.toml": TOML.encode()})

    assert classic.configuration == toml.configuration
    assert classic.classic
    assert not toml.classic


def test_a_flat_key_keeps_its_name_and_place() -> None:
    estate = loaded("cluster_pod_cidr: 10.1.0.0/16\n", "nodes: []\n").configuration

    origin = estate.kubernetes.where("pod_cidr")
    assert origin is not None
    assert (origin.name, str(origin.at)) == ("cluster_pod_cidr", "cluster.yaml:1:19")
    assert estate.kubernetes.pod_cidr == IPv4Network("10.1.0.0/16")


def test_a_full_repository_address_is_taken_as_it_is() -> None:
    text = CLUSTER.replace("owner/meadow", "https://git.example.com/a/b.git")

    assert loaded(text).configuration.repository.url == "https://git.example.com/a/b.git"


def test_without_files_there_is_one_problem() -> None:
    assert codes(load({})) == ["config.no-files"]


def test_one_unreadable_file_does_not_hide_the_mistakes_of_the_other() -> None:
    configuration = loaded("a: [", NODES.replace("127.66.0.21", "nowhere"))

    assert codes(configuration) == ["yaml.syntax", "config.value"]
    assert not configuration.complete


def test_a_sops_block_is_accepted() -> None:
    assert codes(loaded(CLUSTER + "sops: {mac: x}\n", NODES + "sops: {mac: x}\n")) == []


def test_without_talos_nodes_no_cluster_key_is_needed() -> None:
    configuration = loaded("proxmox_endpoint: https://127.66.0.4:8006\n", "hosts: {pve-a: {}}\n")

    assert codes(configuration) == []


def test_loopback_networks_are_allowed() -> None:
    assert codes(loaded()) == []


def test_a_vmid_is_taken_whether_the_region_is_written_or_not() -> None:
    second = NODES.removeprefix("nodes:\n").replace("cp-1", "cp-2").replace("0.21", "0.22")
    second = second.replace("00:21", "00:22").replace("host: pve-a", "host: pve-b, region: pve")

    configuration = loaded(nodes=NODES + second)

    assert "vm.vmid-taken" in codes(configuration)
