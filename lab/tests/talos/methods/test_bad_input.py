"""Configurations and snapshots that make no sense are refused in words, and change nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.invariants import broken
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.struck import switched_on
from stockman.talos.api.transport import GrpcCode

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (now, now, b", ".join([b"*%c" % before] * 9))
    for before, now in zip(b"abcdefgh", b"bcdefghi", strict=True)
)
DEEP = b"a: " + b"[" * 5_000 + b"]" * 5_000
PYTHON = re.compile("Error|Traceback|object|recursion|stockman")


def texts(good: bytes) -> dict[str, bytes]:
    """Configurations that nobody should send."""
    return {
        "nothing": b"",
        "spaces": b"  \n\n",
        "a zero": b"\0",
        "not text": bytes(range(256)),
        "half a key": good.partition(b"cluster:")[0] + b"clus\n",
        "a tab": b"version:\tv1alpha1\n\tmachine: {}\n",
        "a list": b"- version: v1alpha1\n",
        "a word": b"wool\n",
        "an unknown key": good.replace(b"machine:\n", b"machine:\n    wool: true\n", 1),
        "a key twice": good + b"\n---\n" + good.partition(b"\n---\n")[0],
        "an unknown kind": good + b"\n---\napiVersion: v1alpha1\nkind: WoolConfig\nname: a\n",
        "no kind": good + b"\n---\napiVersion: v1alpha1\nname: a\n",
        "no type of machine": good.replace(b"    type: controlplane\n", b"", 1),
        "laughs": LAUGHS,
        "deep": DEEP,
        "large": b"# " + b"wool " * (1 << 20),
    }


NAMES = tuple(texts(b"machine:\n"))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_running_machine_refuses_what_makes_no_sense(version: str, name: str) -> None:
    world = staged("single", version)
    found = machine(world)
    before = found.state.config
    with pytest.raises(Refusal) as caught:
        Asking(world, found).call("ApplyConfiguration", data=texts(before)[name], mode="NO_REBOOT")
    assert caught.value.code is GrpcCode.INVALID_ARGUMENT
    assert not PYTHON.search(caught.value.message)
    assert (found.state.config, found.state.stage) == (before, Stage.RUNNING)
    assert list(broken(world.talos)) == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_machine_in_maintenance_refuses_what_makes_no_sense(version: str, name: str) -> None:
    good = machine(staged("single", version)).state.config
    world = staged("single", version, bootstrap=False)
    found = switched_on(world, keeps_seed=False)
    with pytest.raises(Refusal) as caught:
        Asking(world, found, "os:reader").call("ApplyConfiguration", data=texts(good)[name])
    assert caught.value.code in (GrpcCode.INVALID_ARGUMENT, GrpcCode.UNKNOWN)
    assert not PYTHON.search(caught.value.message)
    assert (found.state.config, found.state.stage) == (b"", Stage.MAINTENANCE)


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
    assert list(broken(world.talos)) == []
