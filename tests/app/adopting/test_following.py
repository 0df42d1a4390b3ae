"""Clusters that follow a repository are adopted with what Flux brought, and with its keys."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import WorldClock, WorldWire
from stockman_lab.servers.talos_port import memory_talos

from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.adoption.adopt import adopt_cluster, write_adoption
from stockman.app.adoption.observation import LOAD_BALANCER_POOLS, AdoptionClients, observe_gitops
from stockman.app.init.directory import InitContext as StartDoors
from stockman.app.rendering.validation import validate
from stockman.assessment.adoption.description import Adoption
from stockman.kubernetes.objects import SECRETS, Object
from stockman.model.problem import Problems
from stockman.proxmox.client import ProxmoxClient
from stockman.steps.kubernetes.objects import HELM_RELEASES
from stockman.steps.step import Stage
from tests.app.adopting.running import WISH
from tests.crypto.keys_at_hand import OWNER
from tests.planning.bootstrapped import Bootstrapped, KnownSecrets, bootstrapped, workspace


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Bootstrapped:
    """A cluster that stockman brought to Flux, from files that nobody has any more."""
    found = bootstrapped(workspace(tmp_path_factory.mktemp("followed")))
    secrets = found.ports.secrets
    assert isinstance(secrets, KnownSecrets)
    place = found.wish.secrets[0].action.entries[0].value.place
    secrets.values[place] = OWNER.text.reveal()
    found.apply()
    return found


def doors(bootstrapped: Bootstrapped) -> AdoptionClients:
    clock = WorldClock(bootstrapped.world)
    root = MemoryClient(bootstrapped.world, next(iter(bootstrapped.world.clusters)))
    return AdoptionClients(
        proxmox=ProxmoxClient(WorldWire(root), clock),
        talos=memory_talos(bootstrapped.world),
        kubernetes=memory_kubernetes(bootstrapped.cluster.api),
        clock=clock,
        endpoints=("127.67.0.16",),
    )


@pytest.fixture(scope="module")
def adoption(followed: Bootstrapped) -> Adoption:
    return asyncio.run(adopt_cluster(doors(followed), WISH, Dice(3)))


def test_nothing_would_be_installed_and_no_secret_replaced(adoption: Adoption) -> None:
    inside = [change for change in adoption.expected if change.stage is Stage.KUBERNETES]

    assert [change.description for change in inside if change.safe != "only waits"] == []
    assert adoption.unsafe == ()
    assert [problem for problem in adoption.problems if problem.is_error] == []


def test_repository_and_components_are_those_of_the_cluster(
    adoption: Adoption, followed: Bootstrapped
) -> None:
    desired = adoption.draft.load_desired(Problems())

    assert desired is not None
    assert desired.cluster is not None
    assert desired.cluster.repository.url in followed.world.state.repositories
    on = {name for name, component in desired.components.items() if component.enabled}
    assert {"cilium", "coredns", "flux-instance", "cert-manager"} <= on
    assert "metrics-server" not in on
    assert adoption.draft.patches == {}


def test_the_identity_that_opens_the_repository_is_kept(
    adoption: Adoption, followed: Bootstrapped, tmp_path: Path
) -> None:
    start = StartDoors(
        clock=WorldClock(followed.world), entropy=Dice(4), repo=LocalGitProbe(tmp_path)
    )

    write_adoption(adoption, tmp_path, start)

    assert (tmp_path / "age.key").read_text() == OWNER.text.reveal()
    assert (tmp_path / "age.key").stat().st_mode & 0o777 == 0o600
    assert OWNER.recipient in (tmp_path / ".sops.yaml").read_text()
    assert [problem for problem in validate(tmp_path).problems if problem.is_error] == []


def test_the_token_that_announces_commits_is_kept(followed: Bootstrapped) -> None:
    kubernetes = memory_kubernetes(followed.cluster.api)
    token: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "flux-webhook-token", "namespace": "flux-system"},
        "stringData": {"token": "told-to-github-already"},
    }

    async def kept() -> str:
        await kubernetes.create(SECRETS, token)
        return (await observe_gitops(kubernetes)).keys["github-push-token.txt"].reveal()

    assert asyncio.run(kept()) == "told-to-github-already"


def test_addresses_for_services_are_those_of_the_cluster(
    adoption: Adoption, followed: Bootstrapped
) -> None:
    desired = adoption.draft.load_desired(Problems())
    assert desired is not None
    assert desired.cluster is not None
    gateways = desired.cluster.gateways
    addresses = {str(gateways.internal), str(gateways.dns), str(gateways.external)}
    assert addresses.isdisjoint(desired.cluster.cilium.loadbalancer_pool)

    kubernetes = memory_kubernetes(followed.cluster.api)
    blocks = [{"cidr": "127.67.0.64/28"}, {"start": "127.67.0.90", "stop": "127.67.0.95"}]
    pool: Object = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumLoadBalancerIPPool",
        "metadata": {"name": "more"},
        "spec": {"blocks": [*blocks, {"start": "127.67.0.99"}]},
    }

    async def adopted() -> Adoption:
        await kubernetes.create(LOAD_BALANCER_POOLS, pool)
        return await adopt_cluster(doors(followed), WISH, Dice(3))

    again = asyncio.run(adopted()).draft.load_desired(Problems())

    assert again is not None
    assert again.cluster is not None
    assert {"127.67.0.64/28", "127.67.0.90-127.67.0.95", "127.67.0.99"} <= set(
        again.cluster.cilium.loadbalancer_pool
    )


def test_values_that_rendering_would_change_are_losses(followed: Bootstrapped) -> None:
    kubernetes = memory_kubernetes(followed.cluster.api)
    release: Object = {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "reloader", "namespace": "default"},
        "spec": {
            "interval": "1h",
            "chartRef": {"kind": "OCIRepository", "name": "reloader"},
            "values": {"reloader": {"logLevel": "debug"}},
        },
    }

    async def adopted() -> Adoption:
        await kubernetes.create(HELM_RELEASES, release)
        return await adopt_cluster(doors(followed), WISH, Dice(3))

    adoption = asyncio.run(adopted())

    assert "reloader" in str([item for item in adoption.problems if item.code == "adopt.values"])
    assert adoption.has_losses
