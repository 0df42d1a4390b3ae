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


@pytest.mark.parametrize("content", [rb"crt: \S+", rb"key: \S+"])
def test_an_authority_that_is_none_is_taken_and_signs_nothing(content: bytes) -> None:
    world = staged()
    result = machine(world)
    text = re.sub(content, content[:5] + b"d29vbA==", result.state.config)
    result.take_config(text)
    with pytest.raises(Refusal, match="failed to parse PEM block"):
        Asking(world, result).call("GenerateClientConfiguration", roles=["os:reader"], crt_ttl=60.0)
    with pytest.raises(Refusal, match="failed to parse PEM block"):
        Asking(world, result).stream("Kubeconfig")


def test_a_certificate_for_longer_than_time_itself_is_issued_for_very_long() -> None:
    world = staged()
    result = Asking(world, machine(world)).call(
        "GenerateClientConfiguration", roles=["os:reader"], crt_ttl=9e9
    )
    assert result.crt
    with pytest.raises(Refusal, match="should be positive"):
        Asking(world, machine(world)).call(
            "GenerateClientConfiguration", roles=["os:reader"], crt_ttl=-9e9
        )


@pytest.fixture(scope="module")
def snapshot() -> bytes:
    world = staged()
    return b"".join(value.bytes for value in Asking(world, machine(world)).stream("EtcdSnapshot"))


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
    result = switched_on(world)
    ask = Asking(world, result)
    ask.upload("EtcdRecover", DAMAGES[damage](snapshot))
    ask.call("Bootstrap", recover_etcd=True, recover_skip_hash_check=skips)
    world.settle()
    etcd = result.service("etcd")
    assert etcd is not None
    if etcd.state == "Failed":
        assert "error restoring etcd snapshot" in etcd.events[-1].message
    else:
        assert skips
        assert damage in ("a changed byte", "without its end")
