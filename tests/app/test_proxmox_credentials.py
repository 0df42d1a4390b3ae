"""Who asks Proxmox VE before there are any files."""

import pytest

from stockman.adapters.proxmox.credentials import ApiToken, Login
from stockman.app.proxmox import (
    credentials,
    login_from_environment,
    login_from_prompt,
    no_login,
)
from stockman.model.errors import WrongUsage


def test_an_empty_environment_says_nothing() -> None:
    assert login_from_environment({}) is None


def test_a_token_with_its_secret_is_the_one_that_files_name() -> None:
    asker = login_from_environment(
        {"PROXMOX_TOKEN_ID": "root@pam!a", "PROXMOX_TOKEN_SECRET": "hunter2"}
    )

    assert asker is not None
    assert asker.token_id == "root@pam!a"
    assert isinstance(credentials(asker), ApiToken)


def test_the_token_of_an_administrator_is_used_for_the_look_alone() -> None:
    asker = login_from_environment({"PROXMOX_VE_API_TOKEN": "root@pam!a=hunter2"})

    assert asker is not None
    assert (asker.user, asker.secret.reveal()) == ("root@pam!a", "hunter2")
    assert asker.token_id == "stockman@pve!stockman"


def test_a_password_logs_in() -> None:
    asker = login_from_environment(
        {"PROXMOX_VE_USERNAME": "root@pam", "PROXMOX_VE_PASSWORD": "hunter2"}
    )

    assert asker is not None
    assert isinstance(credentials(asker), Login)
    assert asker.token_id == "stockman@pve!stockman"


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"PROXMOX_VE_API_TOKEN": "root@pam!a=x"}, "PROXMOX_VE_API_TOKEN"),
        (
            {"PROXMOX_TOKEN_ID": "ops@pve!a", "PROXMOX_TOKEN_SECRET": "x"},
            "PROXMOX_TOKEN_SECRET",
        ),
        (
            {"PROXMOX_VE_USERNAME": "root@pam", "PROXMOX_VE_PASSWORD": "x"},
            "PROXMOX_VE_PASSWORD",
        ),
    ],
)
def test_whoever_is_not_let_in_is_told_which_variable_to_look_at(
    environment: dict[str, str], name: str
) -> None:
    asker = login_from_environment(environment)

    assert asker is not None
    assert credentials(asker).requester.source == name


@pytest.mark.parametrize(
    "environment",
    [
        {"PROXMOX_TOKEN_ID": "root@pam!a"},
        {"PROXMOX_VE_USERNAME": "root@pam"},
        {"PROXMOX_VE_API_TOKEN": "hunter2"},
    ],
)
def test_half_of_it_is_refused_without_showing_it(environment: dict[str, str]) -> None:
    with pytest.raises(WrongUsage) as caught:
        login_from_environment(environment)

    problem = caught.value.problem
    assert problem.code == no_login().problem.code == "init.no-credentials"
    assert "hunter2" not in f"{problem.what} {problem.why} {problem.fix}"


def test_files_never_name_a_token_of_roots_that_was_typed() -> None:
    assert login_from_prompt("root@pam!a", "x").token_id == "stockman@pve!stockman"
    assert login_from_prompt("ops@pve!a", "x").token_id == "ops@pve!a"


def test_a_secret_is_not_shown() -> None:
    assert "hunter2" not in repr(login_from_prompt("root@pam", "hunter2"))
