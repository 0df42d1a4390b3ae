"""Who grants access to Proxmox VE."""

import pytest

from stockman.adapters.proxmox.credentials import ApiToken, Login
from stockman.app.proxmox import find_administrator
from stockman.app.runs.connections import is_stored_token
from stockman.app.secrets.proxmox_tokens import token_reference
from stockman.model.errors import WrongUsage
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret

CLUSTER = ProxmoxCluster(token_id="stockman@pve!stockman")


def test_a_token_of_the_environment_grants() -> None:
    administrator = find_administrator(
        {"PROXMOX_VE_API_TOKEN": "root@pam!lab=abc"}, CLUSTER, 0, None
    )

    assert isinstance(administrator, ApiToken)
    assert (administrator.id, administrator.secret.reveal()) == ("root@pam!lab", "abc")


def test_our_own_token_does_not_grant_anything() -> None:
    own = {"PROXMOX_VE_API_TOKEN": "stockman@pve!stockman=abc"}

    assert find_administrator(own, CLUSTER, 0, None) is None


def test_a_user_with_a_password_grants() -> None:
    by_name = {"PROXMOX_VE_USERNAME": "root@pam", "PROXMOX_VE_PASSWORD": "abc"}

    administrator = find_administrator(by_name, CLUSTER, 0, None)

    assert isinstance(administrator, Login)
    assert administrator.user == "root@pam"


def test_the_second_cluster_has_variables_of_its_own() -> None:
    by_name = {
        "PROXMOX_VE_API_TOKEN": "root@pam!one=abc",
        "PROXMOX_VE_API_TOKEN_2": "root@pam!two=def",
    }

    administrator = find_administrator(by_name, CLUSTER, 1, None)

    assert isinstance(administrator, ApiToken)
    assert administrator.id == "root@pam!two"


def test_whoever_was_named_counts_first() -> None:
    login = Login(user="anna@pam", password=Secret("abc"))

    assert (
        find_administrator({"PROXMOX_VE_API_TOKEN": "root@pam!lab=x"}, CLUSTER, 0, login) is login
    )


def test_where_the_environment_names_nobody_nobody_grants() -> None:
    assert find_administrator({}, CLUSTER, 0, None) is None


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"PROXMOX_VE_API_TOKEN": "root@pam!lab"}, "PROXMOX_VE_API_TOKEN is no token"),
        ({"PROXMOX_VE_API_TOKEN": "root@pam=secret-canary"}, "PROXMOX_VE_API_TOKEN is no token"),
        ({"PROXMOX_VE_USERNAME": "root@pam"}, "PROXMOX_VE_PASSWORD is not"),
    ],
)
def test_half_an_administrator_is_told(values: dict[str, str], text: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        find_administrator(values, CLUSTER, 0, None)

    assert caught.value.problem.code == "proxmox.administrator"
    assert text in caught.value.problem.what
    assert "secret-canary" not in str(caught.value.problem)


def test_a_token_that_stockman_keeps_is_told_from_one_that_the_files_give() -> None:
    kept = token_reference("pve", "stockman@pve!stockman")
    own = ProxmoxCluster(token_id="stockman@pve!stockman", token_secret=kept)
    proxmox_cluster = ProxmoxCluster(
        token_id="stockman@pve!stockman", token_secret=Secret("${TOKEN}")
    )

    assert is_stored_token(own, "stockman@pve!stockman")
    assert is_stored_token(CLUSTER, "stockman@pve!stockman")
    assert not is_stored_token(proxmox_cluster, "stockman@pve!stockman")
