"""The file of interfaces as text."""

from __future__ import annotations

from stockman_lab.pve.interfaces.options import text_of


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
