"""The file of interfaces as text."""

from __future__ import annotations

from stockman_lab.pve.interfaces.file_text import changes_of, in_order, text_of

from lab.tests.worlds import door


def test_the_file_is_ordered_by_what_builds_on_what() -> None:
    interfaces = {
        "vmbr0": {"type": "bridge"},
        "vmbr0.5": {"type": "vlan"},
        "bond0": {"type": "bond"},
        "eno1": {"type": "eth"},
    }
    assert in_order(interfaces) == ["eno1", "bond0", "vmbr0", "vmbr0.5"]


def test_a_block_is_what_the_system_reads() -> None:
    text = text_of(
        {
            "vmbr0": {
                "type": "bridge",
                "cidr": "10.0.0.1/8",
                "method": "static",
                "gateway": "10.0.0.254",
                "autostart": "1",
                "mtu": "9000",
                "comments": "wool",
            }
        }
    )
    assert text.endswith(
        "auto vmbr0\n"
        "iface vmbr0 inet static\n"
        "\taddress 10.0.0.1/8\n"
        "\tgateway 10.0.0.254\n"
        "\tbridge-ports none\n"
        "\tbridge-stp off\n"
        "\tbridge-fd 0\n"
        "\tmtu 9000\n"
        "#wool\n\n"
    )


def test_edits_that_change_nothing_are_no_difference() -> None:
    host = door().cluster.state.hosts["pve1"]
    assert changes_of(host) is None
    host.staged = {name: dict(options) for name, options in host.interfaces.items()}
    assert changes_of(host) is None
