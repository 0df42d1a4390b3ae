"""The administrator of a cluster in a kubeconfig that may hold others."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import yaml

from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.certificates import CertificateRequirements, ClientIssuer
from stockman.talos.credentials.kubeconfig import (
    DesiredAdmin,
    KubeconfigUpdate,
    render_kubeconfig,
    update_kubeconfig,
)
from tests.talos.made import NOW, bundle, dice

SOON = NOW + timedelta(days=1)
LATE = NOW + timedelta(days=340)
ENDPOINT = "https://127.66.0.10:6443"
WISH = DesiredAdmin(
    cluster="meadow",
    endpoint=ENDPOINT,
    required=CertificateRequirements(
        authority=bundle().certs.k8s.crt,
        organizations=("system:masters",),
        common_name="admin",
    ),
    renew=False,
    shared=False,
)
SHARED = replace(WISH, shared=True)
OTHERS = """\
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
- name: hill
  cluster: {server: "https://127.0.0.9:6443", insecure-skip-tls-verify: true}
users:
- name: me
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: oidc, args: ["1", "yes"]}
contexts:
- name: hill
  context: {cluster: hill, user: me}
current-context: hill
"""
STRANGER = OTHERS.replace("hill", "meadow").replace("name: me\n", "name: admin@meadow\n")


def put(text: str = "", admin: DesiredAdmin = WISH, now: datetime = NOW) -> KubeconfigUpdate:
    issuer = ClientIssuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())
    return update_kubeconfig("kubeconfig", Secret(text), admin, now, issuer.kubernetes_admin)


def tree(placed: KubeconfigUpdate) -> dict[str, object]:
    update: dict[str, object] = yaml.safe_load(placed.text.reveal())
    return update


def names(placed: KubeconfigUpdate, lists: str) -> list[str]:
    items = tree(placed)[lists]
    assert isinstance(items, list)
    return [item["name"] for item in items]


def test_a_new_file_is_the_one_that_talos_makes() -> None:
    issuer = ClientIssuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())
    client = issuer.kubernetes_admin()

    kubeconfig_update = update_kubeconfig("kubeconfig", Secret(""), WISH, NOW, lambda: client)

    assert (kubeconfig_update.name, kubeconfig_update.state, kubeconfig_update.crt) == (
        "admin@meadow",
        "written",
        client.crt,
    )
    assert kubeconfig_update.text == render_kubeconfig(
        "meadow", ENDPOINT, bundle().certs.k8s.crt, client
    )


def test_the_second_time_not_a_byte_changes() -> None:
    first = put()

    assert put(first.text.reveal(), WISH, SOON) == first._replace(state="unchanged")


def test_a_certificate_that_is_due_is_renewed_in_its_place() -> None:
    first = put()
    again = put(first.text.reveal(), WISH, LATE)

    assert (again.state, again.crt != first.crt) == ("renewed", True)
    assert names(again, "users") == ["admin@meadow"]
    assert put(first.text.reveal(), replace(WISH, renew=True)).state == "renewed"


def test_another_endpoint_does_not_cost_a_certificate() -> None:
    first = put()
    again = put(first.text.reveal(), replace(WISH, endpoint="https://127.66.0.99:6443"), SOON)

    assert (again.state, again.crt) == ("updated", first.crt)
    assert "127.66.0.99" in again.text.reveal()


@pytest.mark.parametrize("admin", [WISH, SHARED])
def test_everything_else_in_the_file_stays(admin: DesiredAdmin) -> None:
    update = put(OTHERS, admin)

    before, after = yaml.safe_load(OTHERS), tree(update)
    assert names(update, "contexts") == ["hill", "admin@meadow"]
    for name in ("clusters", "users", "contexts"):
        assert after[name][:1] == before[name]  # type: ignore[index]  # as the names above show
    assert after["preferences"] == {"colors": True}
    assert after["current-context"] == "admin@meadow"


def test_a_name_that_another_cluster_has_gets_a_number() -> None:
    update = put(STRANGER, SHARED)

    assert names(update, "clusters") == ["meadow", "meadow-1"]
    assert names(update, "users") == ["admin@meadow", "admin@meadow-1"]
    assert names(update, "contexts") == ["meadow", "admin@meadow-1"]
    again = put(update.text.reveal(), SHARED, SOON)
    assert (again.name, again.state) == ("admin@meadow-1", "unchanged")


def test_a_cluster_of_our_own_file_that_was_made_anew_is_replaced() -> None:
    first = put()
    other = replace(WISH, required=replace(WISH.required, authority=bundle().certs.etcd.crt))

    update = put(first.text.reveal(), other)

    assert (update.name, update.state) == ("admin@meadow", "renewed")
    assert names(update, "clusters") == ["meadow"]


def test_settings_of_the_user_for_the_cluster_are_kept() -> None:
    text = put().text.reveal().replace("server:", "proxy-url: http://127.0.0.1:3128\n      server:")

    update = put(text, WISH, LATE)

    assert "proxy-url: http://127.0.0.1:3128" in update.text.reveal()


def test_empty_lists_are_as_good_as_none() -> None:
    assert put("apiVersion: v1\nkind: Config\nclusters: null\nusers: []\n").state == "written"


@pytest.mark.parametrize("text", ["clusters: 5\n", "users: [a]\n", "a: [\n"])
def test_what_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        put(text)
