"""The install disk and volumes in the words of each contract."""

from __future__ import annotations

import pytest

from stockman.talos.machine.storage import byte_count
from tests.talos.machine.clusters import NODES, desired, documents, section, worker

LINES = ["1.11", "1.12", "1.13", "1.14"]


def with_disk(selector: str) -> str:
    return NODES.replace("disk: SERIAL-1", f"disk_selector: {selector}")


@pytest.mark.parametrize("line", LINES[:-1])
def test_a_selector_keeps_its_words_up_to_contract_1_13(line: str) -> None:
    nodes = with_disk("{size: '>= 100GB', type: nvme, bus_path: /pci0000:00/*}")

    install = section(documents(desired(line, nodes=nodes), "work-1"), "v1alpha1", "machine")

    assert install["install"]["diskSelector"] == {
        "size": ">= 100GB",
        "type": "nvme",
        "busPath": "/pci0000:00/*",
    }
    assert "disk" not in install["install"]


@pytest.mark.parametrize(
    ("selector", "term"),
    [
        ("{size: '>= 100GB'}", "disk.size >= 100000000000u"),
        ("{size: 1.5TiB}", "disk.size == 1649267441664u"),
        ("{model: 'QEMU*'}", 'glob("QEMU*", disk.model)'),
        ("{wwid: 'naa.5*', serial: a}", 'glob("naa.5*", disk.wwid) && glob("a", disk.serial)'),
        ("{type: nvme}", 'disk.transport == "nvme"'),
        ("{type: sd}", 'disk.transport == "mmc"'),
        ("{type: hdd}", "disk.rotational"),
        ("{type: ssd}", "!disk.rotational"),
    ],
)
def test_a_selector_is_an_expression_in_contract_1_14(selector: str, term: str) -> None:
    config = documents(desired("1.14", nodes=with_disk(selector)), "work-1")

    match = section(config, "UnattendedInstallConfig", "provisioning", "diskSelector", "match")
    assert match == f'{term} && disk.transport != "" && !disk.readonly && !disk.cdrom'


def test_an_expression_of_the_user_stays_as_it_is() -> None:
    config = documents(desired("1.14", nodes=with_disk("{match: system_disk}")), "work-1")

    match = section(config, "UnattendedInstallConfig", "provisioning", "diskSelector", "match")
    assert match == "system_disk"


@pytest.mark.parametrize(
    ("size", "count"), [("4GB", 4 * 10**9), ("> 4GiB", 2**32), ("<= 1.5kB", 1500), ("7B", 7)]
)
def test_sizes_are_counted_as_talos_counts_them(size: str, count: int) -> None:
    assert byte_count(size) == count


@pytest.mark.parametrize("line", LINES)
def test_kernel_arguments_are_never_beside_the_command_line_of_the_image(line: str) -> None:
    state = desired(line, "talos: {kernel_args: [net.ifnames=0]}\n")

    config = section(documents(state, "work-1"), "v1alpha1", "machine")

    assert "extraKernelArgs" not in config.get("install", {})
    assert config.get("install", {}).get("grubUseUKICmdline", False) is (line in ("1.12", "1.13"))


EPHEMERAL = "talos: {extensions: [siderolabs/nfsd], ephemeral: {max_size: 50GiB}}\n"


@pytest.mark.parametrize("line", LINES)
def test_the_size_of_ephemeral_stands_beside_its_encryption(line: str) -> None:
    config = documents(desired(line, EPHEMERAL), "work-1")

    volume = config["VolumeConfig EPHEMERAL"]
    assert volume["provisioning"] == {"maxSize": "50GiB"}
    assert section(volume, "encryption", "keys", 0, "lockToState") is True
    assert ("mount" in volume) is (line == "1.14")


VOLUMES = """\
talos:
  volumes:
    - {name: media, disk: data, max_size: 10GiB, filesystem: ext4, encryption: tpm}
    - {name: path, disk: /dev/sdb, min_size: 1GiB}
    - {name: raw, kind: raw, min_size: 1GiB}
    - {name: swap, kind: swap, max_size: 4GiB, encryption: node-id}
"""


@pytest.mark.parametrize("line", LINES)
def test_volumes_are_documents_in_every_contract(line: str) -> None:
    config = documents(desired(line, nodes=worker(VOLUMES)), "work-1")

    media = config["UserVolumeConfig media"]
    assert media["filesystem"] == {"type": "ext4"}
    assert media["provisioning"] == {
        "diskSelector": {"match": 'disk.serial == "data"'},
        "maxSize": "10GiB",
    }
    assert section(media, "encryption", "keys", 0) == {"slot": 0, "tpm": {}, "lockToState": True}
    path = section(config, "UserVolumeConfig path", "provisioning", "diskSelector", "match")
    assert path == 'disk.dev_path == "/dev/sdb"'
    raw = config["RawVolumeConfig raw"]
    assert section(raw, "provisioning", "diskSelector", "match") == "!system_disk"
    assert "filesystem" not in raw
    assert "nodeID" in section(config, "SwapVolumeConfig swap", "encryption", "keys", 0)
