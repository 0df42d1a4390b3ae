"""`stockman secrets certs` as a user runs it."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from stockman.adapters.system import SystemClock
from stockman.app.client_config.talosconfig import TalosconfigOptions, write_talosconfig
from tests.app.workspaces import doors, workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

DAY = timedelta(days=1)


class Earlier:
    """A clock that is two days late."""

    def now(self) -> datetime:
        return SystemClock().now() - 2 * DAY


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return workspace(tmp_path / "meadow")


def certs(directory: Path, *options: str) -> Ran:
    return ran_inside(
        "-C", str(directory), "secrets", "certs", *options, HOME=str(directory.parent)
    )


def with_client(directory: Path, lifetime: timedelta) -> None:
    talosconfig_options = TalosconfigOptions(directory=directory, lifetime=lifetime)
    write_talosconfig(talosconfig_options, replace(doors(), clock=Earlier()))


def test_authorities_and_clients_are_in_a_table(directory: Path) -> None:
    with_client(directory, 365 * DAY)

    done = certs(directory)

    assert (done.status, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0][:2] == ["CERTIFICATE", "FILE"]
    assert [row[0] for row in rows[1:]] == [
        *("certs.etcd", "certs.k8s", "certs.k8saggregator", "certs.os", "meadow"),
    ]
    assert rows[-1][-2:] == ["362", "valid"]


def test_one_that_is_due_warns_and_only_the_strict_fail(directory: Path) -> None:
    with_client(directory, 3 * DAY - timedelta(hours=1))

    done = certs(directory)

    assert done.status == 0
    assert "warning[certificate.due]" in done.err
    assert "fix:   run `stockman config talosconfig`" in done.err
    assert certs(directory, "--strict").status == 1


def test_one_that_has_expired_fails(directory: Path) -> None:
    with_client(directory, DAY)

    done = certs(directory, "-o", "json")

    data = json.loads(done.out)["data"]
    assert done.status == 1
    assert [problem["code"] for problem in data["problems"]] == ["certificate.expired"]
    (client,) = [
        certificate for certificate in data["certificates"] if certificate["kind"] == "client"
    ]
    assert (client["standing"], client["days_left"]) == ("expired", -2)
    assert client["organizations"] == ["os:admin"]
    assert client["ours"] is True


def test_a_bundle_that_cannot_be_opened_is_a_partial_result(directory: Path) -> None:
    (directory / "age.key").unlink()

    done = certs(directory)

    assert (done.status, done.out) == (4, "There are no certificates.\n")
    assert "Not checked: talos/talsecret.sops.yaml: there is no age identity" in done.err


def test_no_key_is_shown(directory: Path) -> None:
    with_client(directory, 365 * DAY)

    for form in ("table", "json", "yaml"):
        done = certs(directory, "-o", form, "-vv", "--debug")
        assert "PRIVATE" not in done.out + done.err
        assert "LS0t" not in done.out + done.err
