"""Who is let in, and whom we talk to."""

import asyncio
from pathlib import Path

import pytest
from stockman_lab.servers.machines import talosconfig_of
from stockman_lab.world.world import World

from lab.tests.talos.staged import staged
from stockman.adapters.talos.endpoint import ClientIdentity, TalosEndpoints, client_context
from stockman.adapters.talos.transport import GrpcTalos
from stockman.model.errors import Denied, Refused, StockmanError
from stockman.model.names import MachineAddress
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.credentials.talosconfig import TalosContext, read_talosconfig
from tests.adapters.grpc_talos.served import DAY, Places, identity, real_now, served
from tests.talos.made import bundle


def asked(world: World, known: ClientIdentity, scratch: Path, host: str = "") -> str:
    """What comes of asking for the version."""

    async def story() -> str:
        node = world.talos.machines[0].address
        async with served(world, scratch) as face:
            places = Places(world, face)
            connect = {f"{host}:50000": places[f"{node}:50000"]} if host else places
            reached = TalosEndpoints(hosts=(host or node,), identity=known, connect=connect)
            async with GrpcTalos(reached) as talos:
                return (await talos.version(MachineAddress(node))).tag

    return asyncio.run(story())


def refused(world: World, known: ClientIdentity, scratch: Path, host: str = "") -> StockmanError:
    with pytest.raises(StockmanError) as caught:
        asked(world, known, scratch, host)
    return caught.value


def test_a_certificate_of_the_cluster_is_let_in(tmp_path: Path) -> None:
    world = staged()

    assert asked(world, identity(world), tmp_path) == "v1.13.9"


def test_the_talosconfig_of_a_lab_opens_its_machines(tmp_path: Path) -> None:
    world = staged()

    async def story() -> str:
        async with served(world, tmp_path) as face:
            text = Secret(talosconfig_of(world, real_now()), resolved=True)
            talosconfig = read_talosconfig("talosconfig", text, Problems())
            assert talosconfig is not None
            context = talosconfig.contexts[talosconfig.context]
            reached = TalosEndpoints.of(context, Places(world, face))
            async with GrpcTalos(reached) as talos:
                return await talos.hostname(MachineAddress(context.nodes[0]))

    assert asyncio.run(story()) == "talos-1"


def test_an_expired_certificate_is_not_let_in(tmp_path: Path) -> None:
    world = staged()

    error = refused(world, identity(world, since=-3 * DAY, lasting=DAY), tmp_path)

    assert isinstance(error, Denied)
    assert error.problem.code == "talos.not-let-in"
    assert "certificate expired" in error.problem.why


def test_a_certificate_of_another_cluster_is_not_let_in(tmp_path: Path) -> None:
    world, other = staged(), staged("three-node")
    mixed = identity(other)

    error = refused(
        world, ClientIdentity(ca=identity(world).ca, crt=mixed.crt, key=mixed.key), tmp_path
    )

    assert isinstance(error, Denied)
    assert error.problem.code == "talos.not-let-in"


def test_a_machine_of_another_cluster_is_told_nothing(tmp_path: Path) -> None:
    world, other = staged(), staged("three-node")

    error = refused(world, identity(other), tmp_path)

    assert isinstance(error, Refused)
    assert error.problem.code == "talos.certificate"


def test_a_machine_at_another_address_is_told_nothing(tmp_path: Path) -> None:
    world = staged()

    error = refused(world, identity(world), tmp_path, host="10.42.99.99")

    assert isinstance(error, Refused)
    assert error.problem.code == "talos.certificate"
    assert "10.42.99.99" in str(error.problem)


@pytest.mark.parametrize(
    "known",
    [
        ClientIdentity(ca="no", crt="no", key=Secret("no")),
        ClientIdentity(
            ca=bundle().certs.os.crt, crt=bundle().certs.os.crt, key=bundle().certs.etcd.key
        ),
        ClientIdentity(ca="", crt="ü", key=Secret("ü")),
    ],
)
def test_certificates_that_cannot_be_used_are_told_before_anything_is_dialled(
    known: ClientIdentity,
) -> None:
    with pytest.raises(Refused) as caught:
        client_context(known)

    assert caught.value.problem.code == "talos.identity"


def test_a_talosconfig_without_a_certificate_is_no_identity() -> None:
    with pytest.raises(Refused):
        ClientIdentity.of(TalosContext())


def test_no_key_stays_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    client_context(identity(staged()))

    assert list(tmp_path.iterdir()) == []
