"""The context of a cluster in a talosconfig that may hold others."""

from dataclasses import replace
from datetime import datetime, timedelta

from stockman.crypto.pem import CertificateAndKey
from stockman.model.version import Version
from stockman.talos.credentials.certificates import CertificateRequirements, ClientIssuer
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import (
    DesiredContext,
    Talosconfig,
    TalosconfigUpdate,
    TalosContext,
    update_talosconfig,
)
from tests.talos.made import NOW, bundle, dice

SOON = NOW + timedelta(days=1)
LATE = NOW + timedelta(days=340)
WISH = DesiredContext(
    name="meadow",
    required=CertificateRequirements(authority=bundle().certs.os.crt, organizations=("os:admin",)),
    endpoints=("127.66.0.21",),
    nodes=("127.66.0.21", "127.66.0.31"),
    renew=False,
    shared=False,
)
SHARED = replace(WISH, shared=True)
STRANGER = Talosconfig(
    context="meadow", contexts={"meadow": TalosContext(endpoints=("127.0.0.9",))}
)


def client(*roles: TalosRole) -> CertificateAndKey:
    issuer = ClientIssuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())
    return issuer.talos_client(roles or [TalosRole.ADMIN])


def put(
    config: Talosconfig, context: DesiredContext = WISH, now: datetime = NOW, *roles: TalosRole
) -> TalosconfigUpdate:
    return update_talosconfig(config, context, now, lambda: client(*roles))


def test_an_empty_file_gets_the_context() -> None:
    update = put(Talosconfig())

    assert (update.name, update.state, update.config.context) == ("meadow", "written", "meadow")
    assert update.config.contexts["meadow"].nodes == WISH.nodes


def test_the_second_time_nothing_changes() -> None:
    first = put(Talosconfig())
    again = put(first.config, WISH, SOON)

    assert (again.state, again.config) == ("unchanged", first.config)


def test_a_certificate_that_is_due_is_renewed_in_its_place() -> None:
    first = put(Talosconfig())
    again = put(first.config, WISH, LATE)

    assert (again.name, again.state) == ("meadow", "renewed")
    assert again.config.contexts["meadow"].crt != first.config.contexts["meadow"].crt


def test_whoever_insists_gets_a_new_one() -> None:
    first = put(Talosconfig())

    assert put(first.config, replace(WISH, renew=True)).state == "renewed"


def test_new_machines_do_not_cost_a_certificate() -> None:
    first = put(Talosconfig())
    again = put(first.config, replace(WISH, nodes=("127.66.0.99",)), SOON)

    before, after = first.config.contexts["meadow"], again.config.contexts["meadow"]
    assert again.state == "updated"
    assert (after.crt, after.key) == (before.crt, before.key)
    assert after.nodes == ("127.66.0.99",)


def test_our_own_file_follows_the_cluster_and_keeps_other_contexts() -> None:
    talosconfig = Talosconfig(
        context="hill", contexts={"hill": TalosContext(), **STRANGER.contexts}
    )

    update = put(talosconfig)

    assert (update.name, update.state) == ("meadow", "renewed")
    assert list(update.config.contexts) == ["hill", "meadow"]
    assert update.config.context == "hill"


def test_in_a_shared_file_the_context_of_another_cluster_keeps_its_name() -> None:
    update = put(STRANGER, SHARED)

    assert (update.name, update.state, update.config.context) == ("meadow-1", "written", "meadow-1")
    assert update.config.contexts["meadow"] == STRANGER.contexts["meadow"]


def test_a_context_that_got_another_name_is_found_again() -> None:
    first = put(STRANGER, SHARED)

    assert put(first.config, SHARED, SOON) == (first.config, "meadow-1", "unchanged")
    assert put(first.config, SHARED, LATE)[1:] == ("meadow-1", "renewed")


def test_other_roles_get_a_context_of_their_own_in_a_shared_file() -> None:
    reader = replace(SHARED, required=replace(SHARED.required, organizations=("os:reader",)))
    first = put(Talosconfig(), SHARED)

    update = put(first.config, reader, NOW, TalosRole.READER)

    assert update.name == "meadow-1"
    assert put(update.config, SHARED)[1:] == ("meadow", "unchanged")
    assert put(update.config, reader)[1:] == ("meadow-1", "unchanged")
