"""Tables of profiles, and what they say of calls."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.schema import Schema

CONFIG = "/nodes/{node}/qemu/{vmid}/config"


def test_a_schema_is_read_once() -> None:
    assert Schema.of("9.1") is Schema.of("9.1")


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no profile '7\.0'; there are 8\.4, 9\.1"):
        Schema.of("7.0")


@pytest.mark.parametrize(("profile", "calls"), [("8.4", 605), ("9.1", 649)])
def test_all_calls_are_there(profile: str, calls: int) -> None:
    assert len(Schema.of(profile).operations) == calls


def test_rights_are_words_or_expressions() -> None:
    schema = Schema.of("9.1")

    assert schema.operation("GET", "/access/domains").rights == "world"
    assert schema.operation("GET", "/version").rights == "all"
    assert schema.operation("PUT", "/nodes/{node}/disks/wipedisk").rights == ""
    assert schema.operation("GET", CONFIG).rights == ["perm", "/vms/{vmid}", ["VM.Audit"]]


def test_calls_say_where_and_for_whom_they_run() -> None:
    schema = Schema.of("9.1")
    config = schema.operation("PUT", CONFIG)

    assert (config.allows_token, config.protected, config.proxied) == (True, True, True)
    assert not schema.operation("POST", "/access/ticket").allows_token
    assert not schema.operation("GET", "/version").proxied


def test_what_is_returned_is_promised() -> None:
    schema = Schema.of("9.1")
    row = schema.operation("GET", "/access/users").returns.items

    assert schema.operation("PUT", CONFIG).returns.kind == "null"
    assert row is not None
    assert row.parts is not None
    assert row.parts["userid"].shape.form == "pve-userid"
    assert row.parts["comment"].optional


def test_numbered_keys_end_where_the_real_ones_end() -> None:
    rules = Schema.of("9.1").operation("PUT", CONFIG).rules
    container = Schema.of("9.1").operation("PUT", "/nodes/{node}/lxc/{vmid}/config").rules

    last = {"hostpci15", "ide3", "ipconfig31", "net31", "numa7", "parallel2", "sata5", "scsi30"}
    more = {"serial3", "unused255", "usb13", "virtio15", "virtiofs9", "numa"}
    beyond = {"hostpci16", "ide4", "net32", "sata6", "scsi31", "unused256", "usb14", "virtio16"}

    assert last | more <= rules.keys()
    assert not (beyond | {"net", "scsi"}) & rules.keys()
    assert {"mp255", "dev255", "net31", "unused255"} <= container.keys()


def test_counts_of_numbered_keys_agree_with_lists_of_disks() -> None:
    schema = Schema.of("9.1")
    disks = set(
        schema.operation("POST", "/nodes/{node}/qemu/{vmid}/move_disk").rules["disk"].shape.options
    )
    buses = ("ide", "scsi", "virtio", "sata", "unused", "efidisk", "tpmstate")
    keys = schema.operation("PUT", CONFIG).rules

    assert {key for key in keys if key.rstrip("0123456789") in buses and key[-1].isdigit()} == disks


def test_parameters_keep_their_order() -> None:
    names = list(Schema.of("9.1").operation("POST", "/access/users").parameters)

    assert names == sorted(names)
    assert names[0] == "comment"
