"""What the kernel's arguments say."""

from __future__ import annotations

from stockman_lab.talos.config.nocloud import Cmdline, cmdline


def test_names_and_sources_of_configurations() -> None:
    found = cmdline(
        [
            "talos.hostname=shed",
            "talos.config=http://10.42.0.2/c",
            "talos.network.interface.ignore=eth1",
            "talos.network.interface.ignore=eth2",
            "quiet",
        ]
    )

    assert found == Cmdline(
        hostname="shed", config_url="http://10.42.0.2/c", ignored=("eth1", "eth2")
    )
