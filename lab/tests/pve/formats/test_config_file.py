"""Configuration files of guests."""

from __future__ import annotations

from stockman_lab.pve.formats.config_file import machine_text


def test_what_waits_special_sections_and_snapshots_follow_in_this_order() -> None:
    text = machine_text(
        {"cores": "2"},
        {"cores": "4", "delete": "!scsi1,net1"},
        {"zwei": {"cores": "1"}, "eins": {"cores": "1", "description": "before"}},
        {"cloudinit": {"ciuser": "me"}},
    )

    assert text == (
        "cores: 2\n"
        "\n[PENDING]\ncores: 4\ndelete: !scsi1,net1\n"
        "\n[special:cloudinit]\nciuser: me\n"
        "\n[eins]\n#before\ncores: 1\n"
        "\n[zwei]\ncores: 1\n"
    )
