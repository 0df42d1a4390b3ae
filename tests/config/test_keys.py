import re

import pytest

from stockman.config.classic import CLASSIC_KEYS, CLASSIC_ONLY, repository_address
from stockman.config.language import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.reference.keys import (
    REPOSITORY_NAME,
    all_keys,
    child_keys,
    find_key,
    flat_keys,
    keys_by_path,
    record_key_at,
)
from tests.config.language import MEMBERS

KEYS = keys_by_path()


def test_a_key_says_everything_that_is_known_of_it() -> None:
    key = KEYS["nodes.vm.nics.vlan_id"]

    assert key.type == "whole number"
    assert (key.low, key.high) == (1, 4094)
    assert not key.required
    assert key.docs == "VLAN tag on the bridge."
    assert key.absent == "untagged, the native VLAN of the bridge"
    assert key.file == "nodes.yaml"
    assert key.toml == "[[nodes.vm.nics]] vlan_id"


def test_a_name_that_the_user_chooses_is_called_so() -> None:
    assert KEYS["hosts.NAME.pools.disks"].toml == "[[hosts.NAME.pools]] disks"
    assert KEYS["hosts.NAME.pools.disks"].required
    assert KEYS["hosts"].toml == "[hosts.NAME]"


def test_a_key_knows_its_flat_names() -> None:
    assert KEYS["kubernetes.pod_cidr"].classic == ("cluster_pod_cidr",)
    assert KEYS["kubernetes.pod_cidr"].yaml == ("cluster_pod_cidr", "kubernetes.pod_cidr")
    assert KEYS["components.NAME.enabled"].classic == ("proxmox_ccm_enabled", "proxmox_csi_enabled")


def test_a_flat_key_knows_what_it_stands_for() -> None:
    key = KEYS["proxmox_csi_storage"]

    assert key.same_as == "components.proxmox-csi.storage"
    assert key.toml == "[components.proxmox-csi] storage"
    assert key.yaml == ("proxmox_csi_storage", "components.proxmox-csi.storage")


def test_a_flat_key_of_a_list_stands_for_one_item() -> None:
    assert KEYS["backup_age_public_key"].type == "text"
    assert KEYS["backup_age_public_key"].toml == "[backup] recipients"
    assert KEYS["backup_s3_bucket"].toml == "[[backup.targets]] bucket"


def test_flat_keys_that_are_spelled_otherwise_have_a_type_of_their_own() -> None:
    assert KEYS["cloudflare_enabled"].type == "true or false"
    assert KEYS["repository_name"].form == "owner/repo, or a Git URL"
    assert KEYS["repository_visibility"].choices == ("public", "private")
    assert KEYS["repository_visibility"].toml == ""


def test_every_flat_key_of_the_dialect_is_there() -> None:
    assert {key.path for key in flat_keys()} == {*CLASSIC_KEYS, *CLASSIC_ONLY}


def test_every_section_is_there_in_the_order_of_the_language() -> None:
    top = [key.path for key in all_keys() if not key.parent]

    assert top == [*CLUSTER_SECTIONS, *MACHINE_SECTIONS]


def test_every_key_of_every_class_is_there() -> None:
    names = {key.name for key in all_keys()}

    assert {member.name for _, member in MEMBERS} == names


def test_paths_are_unique_and_hold_no_positions() -> None:
    paths = [key.path for key in (*flat_keys(), *all_keys())]

    assert len(paths) == len(set(paths)) == len(KEYS)
    assert not [path for path in paths if "[" in path]


def test_every_key_is_described_for_users() -> None:
    wrong = [
        (key.path, key.docs)
        for key in KEYS.values()
        if not key.docs.endswith(".") or "None" in key.docs or not key.docs.isascii()
    ]

    assert wrong == []


def test_fields_are_those_one_level_down() -> None:
    assert [key.name for key in child_keys(KEYS["kubernetes.api"])] == [
        "addr",
        "endpoint",
        "tls_sans",
    ]
    assert "hosts.NAME.pools" in {key.path for key in child_keys(KEYS["hosts"])}
    assert child_keys(KEYS["kubernetes.pod_cidr"]) == ()


def test_recursive_fields_go_down_to_the_last() -> None:
    paths = {key.path for key in child_keys(KEYS["nodes"], recursive=True)}

    assert {"nodes.name", "nodes.vm", "nodes.vm.nics.bridge"} <= paths
    assert not any(path.startswith("classes") for path in paths)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("nodes.vm.nics", "nodes.vm.nics"),
        ("nodes[3].vm.nics[0].bridge", "nodes.vm.nics.bridge"),
        ("nodes.class", "nodes.class"),
        ("cluster_pod_cidr", "cluster_pod_cidr"),
        ("kubernetes.pod_cidr", "kubernetes.pod_cidr"),
        ("hosts.NAME.pools", "hosts.NAME.pools"),
        ("hosts.pve-a.pools[0].disks[1]", "hosts.NAME.pools.disks"),
        ("hosts.pools", "hosts.NAME.pools"),
        ("hosts.pve-a", "hosts"),
        ("classes.talos.vm", "classes.NAME.vm"),
        ("talos.registries.docker.io", "talos.registries"),
        ("talos.registries.docker.io.endpoints", "talos.registries.NAME.endpoints"),
        ("nodes.labels.example.com/zone", "nodes.labels"),
        ("components.proxmox-csi.values.replicaCount", "components.NAME.values"),
        ("backup.targets[0].bucket", "backup.targets.bucket"),
    ],
)
def test_a_key_is_found_by_what_users_and_messages_write(written: str, path: str) -> None:
    key = find_key(written)

    assert key is not None
    assert key.path == path


@pytest.mark.parametrize("written", ["", ".", "nods", "nodes.vm.nicz", "hosts.pve-a.poolz", "x.y"])
def test_what_is_no_key_is_not_found(written: str) -> None:
    assert find_key(written) is None


def test_every_key_is_found_under_its_own_path() -> None:
    assert [path for path, key in KEYS.items() if find_key(path) is not key] == []


def test_every_path_of_the_dialect_leads_to_a_member() -> None:
    assert [record_key_at(path).name for path in CLASSIC_KEYS.values()]


def test_a_path_that_leads_nowhere_is_a_mistake_of_ours() -> None:
    with pytest.raises(LookupError):
        record_key_at("")


@pytest.mark.parametrize("name", ["owner/repo", "a/b.c_d", "no-owner", "own er/repo", "-a/b"])
def test_the_short_form_of_a_repository_is_the_one_that_the_reader_takes(name: str) -> None:
    taken = re.fullmatch(REPOSITORY_NAME.pattern, name) is not None

    assert taken == (repository_address(name, private=False) is not None)
