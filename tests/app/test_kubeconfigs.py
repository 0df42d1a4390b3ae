"""The administrator's kubeconfig of a workspace."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from stockman.app.client_config.files import ClientFile, ClientFileOptions
from stockman.app.client_config.kubeconfig import (
    new_kubeconfig,
    write_kubeconfig,
)
from stockman.crypto.certificates import is_issued_by, read_certificate_facts
from stockman.model.errors import Denied, NotFound, Refused
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.credentials.kubeconfig import client_certificates
from tests.adapters.repositories import repository
from tests.app.secret_workspace import NOBODY
from tests.app.start_doors import NOON
from tests.app.workspaces import BUNDLE, doors, workspace
from tests.talos.made import bundle


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return workspace(tmp_path / "meadow")


def certificate(path: Path) -> str:
    return client_certificates("kubeconfig", Secret(path.read_text()), Problems())["admin@meadow"]


def test_the_file_is_written_for_the_administrator(directory: Path) -> None:
    done = write_kubeconfig(ClientFileOptions(directory=directory), doors())

    path = directory / "kubeconfig"
    assert done == ClientFile(
        file="kubeconfig",
        state="written",
        context="admin@meadow",
        roles=("system:masters",),
        ends=NOON + timedelta(days=365),
        days_left=365,
    )
    assert is_issued_by(certificate(path), bundle().certs.k8s.crt)
    assert "server: https://127.66.0.10:6443" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_second_run_changes_nothing_and_renewing_does(directory: Path) -> None:
    write_kubeconfig(ClientFileOptions(directory=directory), doors())
    before = (directory / "kubeconfig").read_bytes()

    again = write_kubeconfig(ClientFileOptions(directory=directory), doors())
    assert (again.state, (directory / "kubeconfig").read_bytes()) == ("unchanged", before)

    renewed = write_kubeconfig(ClientFileOptions(directory=directory, renew=True), doors())
    assert renewed.state == "renewed"
    assert (directory / "kubeconfig").read_bytes() != before


def test_a_life_can_be_short(directory: Path) -> None:
    kubeconfig_options = ClientFileOptions(directory=directory, lifetime=timedelta(hours=8))

    write_kubeconfig(kubeconfig_options, doors())

    assert read_certificate_facts(
        certificate(directory / "kubeconfig")
    ).period.end == NOON + timedelta(hours=8)


def test_the_variable_may_name_several_files_which_then_are_not_ours(directory: Path) -> None:
    several = f"{directory / 'one'}:{directory / 'two'}"

    done = write_kubeconfig(ClientFileOptions(directory=directory), doors(KUBECONFIG=several))

    assert done.file == "kubeconfig"


def test_a_file_that_git_tracks_is_not_written(directory: Path) -> None:
    repository(directory)
    (directory / ".gitignore").write_text("")

    with pytest.raises(Refused, match=r"client\.exposed"):
        write_kubeconfig(ClientFileOptions(directory=directory), doors())


def test_without_an_identity_nothing_can_be_made(directory: Path) -> None:
    with pytest.raises(Denied, match=r"key\.none"):
        write_kubeconfig(ClientFileOptions(directory=directory), replace(doors(), keyring=NOBODY))

    assert not (directory / "kubeconfig").exists()


def test_without_a_bundle_nothing_can_be_made(directory: Path) -> None:
    (directory / BUNDLE).unlink()

    with pytest.raises(NotFound, match=r"bundle\.absent"):
        write_kubeconfig(ClientFileOptions(directory=directory), doors())


def test_printing_writes_nothing(directory: Path) -> None:
    text = new_kubeconfig(ClientFileOptions(directory=directory), doors())

    assert "admin@meadow" in text.reveal()
    assert not (directory / "kubeconfig").exists()
