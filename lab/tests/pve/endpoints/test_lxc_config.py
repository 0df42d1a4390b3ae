"""Configurations of containers: shown, changed, waiting, taken back."""

from __future__ import annotations

import pytest

from lab.tests.pve.endpoints.containers import (
    CT,
    one_container,
    refused,
    rows,
    running_container,
    shown,
    values,
    volumes,
)
from lab.tests.pve.endpoints.people import somebody

MODIFIED = "detected modified configuration - file changed by other user? Try again."


def pending(asked_rows: list[dict[str, object]], key: str) -> dict[str, object]:
    return next(row for row in asked_rows if row["key"] == key)


def test_a_stopped_container_takes_everything_at_once() -> None:
    asked = one_container()

    answer = asked.put(f"{CT}/config", memory=1024, cpulimit="1.5", description="sheep\nand more")

    assert answer is None
    found = shown(asked, f"{CT}/config")
    assert (found["memory"], found["cpulimit"]) == (1024, "1.5")
    assert found["description"] == "sheep\nand more\n"


def test_what_waits_can_be_taken_back() -> None:
    asked = running_container()
    asked.put(f"{CT}/config", tty=4)

    asked.put(f"{CT}/config", revert="tty")

    assert [row["key"] for row in rows(asked, f"{CT}/pending") if "pending" in row] == []


def test_a_mount_point_that_goes_is_unused_and_then_destroyed() -> None:
    asked = one_container(mp0="thin:2,mp=/srv")

    asked.put(f"{CT}/config", delete="mp0")
    assert values(asked)["unused0"] == "thin:vm-200-disk-0"
    asked.put(f"{CT}/config", delete="unused0")

    assert "unused0" not in values(asked)
    assert "thin:vm-200-disk-0" not in volumes(asked)


def test_a_volume_that_is_there_already_is_mounted_with_its_own_size() -> None:
    asked = one_container(mp0="thin:2,mp=/srv")
    asked.put(f"{CT}/config", delete="mp0")

    asked.put(f"{CT}/config", mp1="thin:vm-200-disk-0,mp=/new")

    assert values(asked)["mp1"] == "thin:vm-200-disk-0,mp=/new,size=2G"
    assert "unused0" not in values(asked)


@pytest.mark.parametrize(
    ("parameters", "status", "message", "errors"),
    [
        ({}, 500, "no options specified", {}),
        ({"memory": 512, "digest": "0" * 40}, 500, MODIFIED, {}),
        (
            {"delete": "wool"},
            400,
            "Parameter verification failed.",
            {"delete": "unknown option 'wool'"},
        ),
        (
            {"memory": 1, "delete": "memory"},
            400,
            "Parameter verification failed.",
            {"memory": "value must have a minimum value of 16"},
        ),
        (
            {"cores": 1, "delete": "cores"},
            400,
            "Parameter verification failed.",
            {"delete": "you can't use '-cores' and -delete cores' at the same time"},
        ),
        ({"delete": "rootfs"}, 500, "unable to delete required option 'rootfs'", {}),
        ({"mp0": "gone:1,mp=/a"}, 500, "storage 'gone' does not exist", {}),
        (
            {"mp0": "local:1,mp=/a"},
            500,
            "storage 'local' does not allow content type 'rootdir' (Container)",
            {},
        ),
        ({"unprivileged": 0}, 500, "unable to modify read-only option: 'unprivileged'", {}),
        (
            {"mp0": "thin:vm-200-disk-9,mp=/a"},
            400,
            "Parameter verification failed.",
            {
                "mp0": "unable to apply pending change mp0 :"
                " volume 'thin:vm-200-disk-9' does not exist\n"
            },
        ),
    ],
)
def test_changes_that_cannot_be(
    parameters: dict[str, object], status: int, message: str, errors: dict[str, str]
) -> None:
    error = refused(one_container(), "PUT", f"{CT}/config", **parameters)

    assert (error.status, error.message, error.errors) == (status, message, errors)


def test_the_environment_is_shown_only_to_who_may_change_it() -> None:
    asked = one_container(env="SECRET=wool")
    user = somebody(asked, "/vms/200", "VM.Audit")

    assert shown(asked, f"{CT}/config")["env"] == "SECRET=wool"
    assert "env" not in shown(user, f"{CT}/config")
    assert "env" not in [row["key"] for row in rows(user, f"{CT}/pending")]


def test_settings_of_lxc_itself_are_shown() -> None:
    asked = one_container()
    asked.cluster.state.guests[200].config.raw = [["lxc.idmap", "u 0 100000 1000"]]

    assert shown(asked, f"{CT}/config")["lxc"] == [["lxc.idmap", "u 0 100000 1000"]]
