"""Configuration files of guests."""

from __future__ import annotations

import hashlib

from stockman_lab.pve.formats.config_file import container_text, digest, machine_text


def test_a_machine_is_its_description_and_its_keys_by_name() -> None:
    text = machine_text(
        {"name": "ctrl-1", "cores": "2", "description": "first: line\nsecond ü", "boot": " "},
        {},
        {},
    )

    assert text == "#first%3A line\n#second %C3%BC\nboot:  \ncores: 2\nname: ctrl-1\n"


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


def test_a_description_that_shall_become_empty_is_an_empty_comment() -> None:
    assert machine_text({}, {"description": ""}, {}) == "\n[PENDING]\n#\n"


def test_a_container_has_its_own_name_for_what_waits_and_settings_of_lxc() -> None:
    text = container_text(
        {"hostname": "web", "description": "a\nb\n", "env": "A=1\0B=2"},
        {"memory": "1024"},
        {"before": {"memory": "512"}},
        [("lxc.apparmor.profile", "unconfined")],
    )

    assert text == (
        "#a\n#b\nhostname: web\n"
        "lxc.environment.runtime: A=1\nlxc.environment.runtime: B=2\n"
        "lxc.apparmor.profile: unconfined\n"
        "\n[pve:pending]\nmemory: 1024\n"
        "\n[before]\nmemory: 512\n"
    )


def test_the_digest_is_the_sha1_of_the_file() -> None:
    text = machine_text({"name": "a"}, {}, {})

    assert digest(text) == hashlib.sha1(b"name: a\n", usedforsecurity=False).hexdigest()
    assert digest(text) != digest(machine_text({"name": "b"}, {}, {}))
