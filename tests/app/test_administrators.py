"""Who grants access to Proxmox VE."""

from stockman.adapters.http_proxmox.credentials import ApiToken, Login
from stockman.app.administrators import administrator
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret

CLUSTER = ProxmoxCluster(token_id="stockman@pve!stockman")


def test_a_token_of_the_environment_grants() -> None:
    found = administrator({"PROXMOX_VE_API_TOKEN": "root@pam!lab=abc"}, CLUSTER, 0, None)

    assert isinstance(found, ApiToken)
    assert (found.id, found.secret.reveal()) == ("root@pam!lab", "abc")


def test_our_own_token_does_not_grant_anything() -> None:
    own = {"PROXMOX_VE_API_TOKEN": "stockman@pve!stockman=abc"}

    assert administrator(own, CLUSTER, 0, None) is None


def test_a_user_with_a_password_grants() -> None:
    told = {"PROXMOX_VE_USERNAME": "root@pam", "PROXMOX_VE_PASSWORD": "abc"}

    found = administrator(told, CLUSTER, 0, None)

    assert isinstance(found, Login)
    assert found.user == "root@pam"


def test_the_second_cluster_has_variables_of_its_own() -> None:
    told = {
        "PROXMOX_VE_API_TOKEN": "root@pam!one=abc",
        "PROXMOX_VE_API_TOKEN_2": "root@pam!two=def",
    }

    found = administrator(told, CLUSTER, 1, None)

    assert isinstance(found, ApiToken)
    assert found.id == "root@pam!two"


def test_whoever_was_named_counts_first() -> None:
    given = Login(user="anna@pam", password=Secret("abc"))

    assert administrator({"PROXMOX_VE_API_TOKEN": "root@pam!lab=x"}, CLUSTER, 0, given) is given


def test_without_all_of_it_nobody_grants() -> None:
    assert administrator({"PROXMOX_VE_USERNAME": "root@pam"}, CLUSTER, 0, None) is None
