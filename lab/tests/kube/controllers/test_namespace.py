"""Namespaces begin with what each has, and end empty."""

from __future__ import annotations

from lab.tests.kube.controllers.playing import Played, played

FOLD = "/api/v1/namespaces/fold"


def folded() -> Played:
    lab = played()
    lab.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "fold"}})
    return lab


def test_a_new_namespace_has_an_account_and_the_certificate() -> None:
    lab = folded()

    assert lab.names(f"{FOLD}/serviceaccounts") == ["default"]
    assert lab.get(f"{FOLD}/configmaps/kube-root-ca.crt")["data"] == {"ca.crt": "CERTIFICATE\n"}


def test_the_account_comes_back_when_it_is_deleted() -> None:
    lab = folded()

    lab.ask("DELETE", f"{FOLD}/serviceaccounts/default")

    assert lab.names(f"{FOLD}/serviceaccounts") == ["default"]


def test_a_namespace_goes_with_all_that_lies_in_it() -> None:
    lab = folded()

    lab.ask("DELETE", FOLD)

    assert "fold" not in lab.names("/api/v1/namespaces")
    assert lab.items(f"{FOLD}/configmaps") == []


def test_a_namespace_tells_what_holds_it() -> None:
    lab = folded()
    held = {"metadata": {"name": "held", "finalizers": ["example.org/wool"]}}
    lab.ask("POST", f"{FOLD}/configmaps", held)

    lab.ask("DELETE", FOLD)

    messages = {
        condition["type"]: condition.get("message")
        for condition in lab.get(FOLD)["status"]["conditions"]
    }
    assert messages["NamespaceContentRemaining"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert messages["NamespaceFinalizersRemaining"] == (
        "Some content in the namespace has finalizers remaining: example.org/wool has 1"
        " resource instances"
    )


def test_a_namespace_goes_when_nothing_holds_it_any_longer() -> None:
    lab = folded()
    held = {"metadata": {"name": "held", "finalizers": ["example.org/wool"]}}
    lab.ask("POST", f"{FOLD}/configmaps", held)
    lab.ask("DELETE", FOLD)

    lab.patch(f"{FOLD}/configmaps/held", {"metadata": {"finalizers": None}})

    assert "fold" not in lab.names("/api/v1/namespaces")
