"""The contract of `ports.Kubernetes` holds on a real kube-apiserver, over HTTPS."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from stockman.adapters.kubernetes.transport import HttpKubernetes, endpoint_from_kubeconfig
from stockman.adapters.system import SystemClock
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import Forbidden, Permission
from stockman.kubernetes.objects import NAMESPACES, PODS, SERVICE_ACCOUNTS, Selection
from stockman.kubernetes.server import TokenRequest
from stockman.model.errors import Denied, Refused, Unreachable
from stockman.model.secret import Secret
from tests.contract.kubernetes.doors import Stage, Story
from tests.contract.kubernetes.stories.every import EVERY
from tests.real.rendered.api_server import TOKEN, api_server
from tools.pytest_plugin import RealTool

T = TypeVar("T")


class MovedClock:
    """The clock of the machine, which stories let go on."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self._ahead

    def later(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


class RealDoor:
    """A real API server; every story has a namespace of its own."""

    def __init__(self, place: Path, etcdctl: Path, etcd: str) -> None:
        self._place = place
        self._etcdctl = (etcdctl, "--endpoints", etcd)
        self._numbers = count(1)

    def kubeconfig(self, **user: str) -> Path:
        """As the one of the server, with its certificate to be trusted."""
        content = json.loads((self._place / "kubeconfig").read_text())
        cluster = content["clusters"][0]["cluster"]
        del cluster["insecure-skip-tls-verify"]
        cluster["certificate-authority"] = "certificates/apiserver.crt"
        content["users"][0]["user"] = user or {"token": TOKEN}
        file = self._place / f"trusting-{next(self._numbers)}"
        file.write_text(json.dumps(content))
        return file

    def __call__(self, story: Story[T], **user: str) -> T:
        clock = MovedClock()
        stage = Stage(f"story-{next(self._numbers)}", clock.later, self._forget)

        async def told() -> T:
            async with HttpKubernetes(
                endpoint_from_kubeconfig(self.kubeconfig(**user)), clock
            ) as kubernetes:
                if not user:
                    namespace = {"metadata": {"name": stage.namespace}}
                    await kubernetes.create(NAMESPACES, namespace)
                return await story(kubernetes, stage)

        return asyncio.run(told())

    def _forget(self, version: str) -> None:
        subprocess.run([*self._etcdctl, "compact", version], check=True, capture_output=True)


@pytest.fixture(scope="module")
def door(real_tool: RealTool) -> Iterator[RealDoor]:
    with (
        TemporaryDirectory() as temporary_directory,
        api_server(Path(temporary_directory), real_tool) as server,
    ):
        yield RealDoor(Path(temporary_directory), real_tool("etcdctl"), server.etcd)


@pytest.mark.parametrize("story", EVERY)
def test_it_holds_that(door: RealDoor, story: str) -> None:
    door(EVERY[story])


def test_rights_are_told_and_a_token_has_those_of_its_account(door: RealDoor) -> None:
    async def given(kubernetes: KubernetesClient, stage: Stage) -> tuple[Secret, str]:
        assert (await kubernetes.may(Permission(verb="delete", resource="nodes"))).allowed
        account = {"metadata": {"name": "shepherd", "namespace": stage.namespace}}
        await kubernetes.create(SERVICE_ACCOUNTS, account)
        token_request = TokenRequest(namespace=stage.namespace, account="shepherd", seconds=600)
        token = await kubernetes.token(token_request)
        assert timedelta(minutes=9) < token.expires - SystemClock().now() < timedelta(minutes=11)
        return token.value, stage.namespace

    async def used(kubernetes: KubernetesClient, stage: Stage) -> None:
        del stage
        right = Permission(verb="create", resource="pods/eviction", namespace=namespace)
        assert not (await kubernetes.may(right)).allowed
        with pytest.raises(Forbidden) as caught:
            await kubernetes.objects(PODS, Selection(namespace=namespace))
        permission = Permission(verb="list", resource="pods", namespace=namespace)
        assert caught.value.permission == permission

    token, namespace = door(given)
    door(used, token=token.reveal())


def test_a_wrong_token_is_not_let_in(door: RealDoor) -> None:
    async def asked(kubernetes: KubernetesClient, stage: Stage) -> None:
        del stage
        with pytest.raises(Denied) as caught:
            await kubernetes.nodes()
        assert caught.value.problem.code == "kubernetes.not-let-in"

    door(asked, token="nobodys")


def test_a_server_that_nobody_vouches_for_gets_no_token(door: RealDoor, tmp_path: Path) -> None:
    content = json.loads(door.kubeconfig().read_text())
    del content["clusters"][0]["cluster"]["certificate-authority"]
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(content))

    async def asked() -> None:
        async with HttpKubernetes(endpoint_from_kubeconfig(file), SystemClock()) as kubernetes:
            await kubernetes.nodes()

    with pytest.raises(Refused) as caught:
        asyncio.run(asked())
    assert caught.value.problem.code == "kubernetes.certificate"


def test_nobody_at_home_is_unreachable(door: RealDoor) -> None:
    file = door.kubeconfig()
    server = json.loads(file.read_text())["clusters"][0]["cluster"]["server"]
    nowhere = {server.removeprefix("https://"): "127.255.255.254:1"}

    async def asked() -> None:
        endpoint = endpoint_from_kubeconfig(file, connect=nowhere)
        async with HttpKubernetes(endpoint, SystemClock()) as kubernetes:
            await kubernetes.nodes()

    with pytest.raises(Unreachable):
        asyncio.run(asked())
