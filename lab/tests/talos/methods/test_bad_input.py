"""Authorities, lifetimes and snapshots that make no sense are refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from stockman_lab.talos.api.call import Refusal
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.struck import switched_on


@pytest.mark.parametrize("what", [rb"crt: \S+", rb"key: \S+"])
def test_an_authority_that_is_none_is_taken_and_signs_nothing(what: bytes) -> None:
    world = staged()
    found = machine(world)
    text = re.sub(what, what[:5] + b"d29vbA==", found.state.config)
    found.take_config(text)
    with pytest.raises(Refusal, match="failed to parse PEM block"):
        Asking(world, found).call("GenerateClientConfiguration", roles=["os:reader"], crt_ttl=60.0)
    with pytest.raises(Refusal, match="failed to parse PEM block"):
        Asking(world, found).stream("Kubeconfig")


def test_a_certificate_for_longer_than_time_itself_is_issued_for_very_long() -> None:
    world = staged()
    found = Asking(world, machine(world)).call(
        "GenerateClientConfiguration", roles=["os:reader"], crt_ttl=9e9
    )
    assert found.crt
    with pytest.raises(Refusal, match="should be positive"):
        Asking(world, machine(world)).call(
            "GenerateClientConfiguration", roles=["os:reader"], crt_ttl=-9e9
        )


@pytest.fixture(scope="module")
def snapshot() -> bytes:
    world = staged()
    return b"".join(one.bytes for one in Asking(world, machine(world)).stream("EtcdSnapshot"))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda content: b"",
    "a word": lambda content: b"wool",
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-64],
    "a changed byte": lambda content: content[:9000] + b"\xff" + content[9001:],
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("skips", [False, True])
def test_a_damaged_snapshot_is_not_restored(snapshot: bytes, damage: str, skips: bool) -> None:
    world: World = staged(bootstrap=False)
    found = switched_on(world)
    ask = Asking(world, found)
    ask.upload("EtcdRecover", DAMAGES[damage](snapshot))
    ask.call("Bootstrap", recover_etcd=True, recover_skip_hash_check=skips)
    world.settle()
    etcd = found.service("etcd")
    assert etcd is not None
    if etcd.state == "Failed":
        assert "error restoring etcd snapshot" in etcd.events[-1].message
    else:
        assert skips
        assert damage in ("a changed byte", "without its end")
