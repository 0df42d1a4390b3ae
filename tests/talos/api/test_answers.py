"""Answers that miss something or contradict themselves are told as such, and never guessed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import pytest

from stockman.model.errors import Rejected, Uncertain
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.records.operations import ApplyConfigurationRequest, ApplyMode, ImageStore
from tests.talos.api.scripted import NODE, Answer, resource, told

APPLY = ApplyConfigurationRequest(text=Secret("version: v1alpha1"), mode=ApplyMode.STAGED)

ODD: dict[
    str, tuple[Callable[[TalosClient], Awaitable[object]], Mapping[str, Sequence[Answer]]]
] = {
    "no version": (lambda talos: talos.version(NODE), {"Version": [{"messages": [{}]}]}),
    "a version that is none": (
        lambda talos: talos.version(NODE),
        {
            "Version": [
                {
                    "messages": [
                        {
                            "version": {"tag": "newest"},
                            "platform": {"name": "metal", "mode": "metal"},
                        }
                    ]
                }
            ]
        },
    ),
    "nobody's version": (lambda talos: talos.version(NODE), {"Version": [{}]}),
    "two versions": (lambda talos: talos.version(NODE), {"Version": [{"messages": [{}, {}]}]}),
    "an error in place of a version": (
        lambda talos: talos.version(NODE),
        {"Version": [{"messages": [{"metadata": {"error": "not now"}}]}]},
    ),
    "no message": (lambda talos: talos.version(NODE), {"Version": [b"\xff\xff"]}),
    "no stage": (
        lambda talos: talos.machine_status(NODE),
        {"Get": [resource("status:\n    ready: true\n")]},
    ),
    "not told whether ready": (
        lambda talos: talos.machine_status(NODE),
        {"Get": [resource("stage: running\nstatus:\n    unmetConditions: []\n")]},
    ),
    "ready and not": (
        lambda talos: talos.machine_status(NODE),
        {
            "Get": [
                resource(
                    "stage: running\nstatus:\n    ready: true\n    unmetConditions:\n"
                    "        - name: services\n          reason: etcd\n"
                )
            ]
        },
    ),
    "no YAML": (lambda talos: talos.machine_status(NODE), {"Get": [resource("a: [")]}),
    "a list": (lambda talos: talos.machine_status(NODE), {"Get": [resource("- a\n")]}),
    "no health": (
        lambda talos: talos.services(NODE),
        {
            "ServiceList": [
                {"messages": [{"services": [{"id": "etcd", "state": "Running", "events": {}}]}]}
            ]
        },
    ),
    "no members": (
        lambda talos: talos.etcd_members(NODE),
        {"EtcdMemberList": [{"messages": [{}]}]},
    ),
    "a member without a number": (
        lambda talos: talos.etcd_members(NODE),
        {"EtcdMemberList": [{"messages": [{"members": [{"hostname": "cp-1"}]}]}]},
    ),
    "no status of a member": (
        lambda talos: talos.etcd_status(NODE),
        {"EtcdStatus": [{"messages": [{}]}]},
    ),
    "no actor": (lambda talos: talos.reboot(NODE), {"Reboot": [{"messages": [{}]}]}),
    "a reboot where none was asked for": (
        lambda talos: talos.apply_configuration(NODE, APPLY),
        {"ApplyConfiguration": [{"messages": [{}]}]},
    ),
    "no kubeconfig": (lambda talos: talos.kubeconfig(NODE), {"Kubeconfig": [{"bytes": b"x"}]}),
    "nothing as kubeconfig": (lambda talos: talos.kubeconfig(NODE), {"Kubeconfig": []}),
    "no configuration": (
        lambda talos: talos.machine_configuration(NODE),
        {"Get": [resource("x: y")]},
    ),
    "no clock": (lambda talos: talos.clock_reading(NODE), {"Time": [{"messages": [{}]}]}),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_is_rejected(name: str) -> None:
    ask, answers = ODD[name]

    async def asked() -> None:
        await ask(told(**answers))

    with pytest.raises(Rejected) as caught:
        asyncio.run(asked())

    assert caught.value.problem.code == "talos.answer"


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [{"bytes": b"x" * 512}],
        [{"bytes": b"x" * 512}, {"bytes": bytes(32)}],
        [{"metadata": {"error": "disk"}}],
    ],
)
def test_a_snapshot_without_its_checksum_is_none(pieces: Sequence[Answer]) -> None:
    async def taken() -> list[bytes]:
        return [piece async for piece in told(EtcdSnapshot=pieces).etcd_snapshot(NODE)]

    with pytest.raises(Rejected):
        asyncio.run(taken())


def test_an_installer_without_an_exit_code_has_not_succeeded() -> None:
    talos = told(Upgrade=[{"progress": {"message": "installation complete"}}])

    with pytest.raises(Uncertain):
        asyncio.run(talos.run_installer(NODE, "installer"))


def test_an_installer_that_ends_with_zero_has_succeeded() -> None:
    talos = told(Upgrade=[{"progress": {"message": "done"}}, {"progress": {"exit_code": 0}}])

    assert asyncio.run(talos.run_installer(NODE, "installer")) == ("done",)


def test_an_exit_code_is_not_taken_back() -> None:
    talos = told(Upgrade=[{"progress": {"exit_code": 7}}, {"progress": {"exit_code": 0}}])

    with pytest.raises(Rejected) as caught:
        asyncio.run(talos.run_installer(NODE, "installer"))

    assert caught.value.problem.why == "exit code 7: no output"


def test_a_pull_that_does_not_end_with_a_name_is_uncertain() -> None:
    talos = told(Pull=[{"pull_progress": {"layer_id": "sha256:1"}}])

    with pytest.raises(Uncertain):
        asyncio.run(talos.pull_image(NODE, "installer", ImageStore.SYSTEM))


def test_a_pod_that_does_not_tell_of_being_ready_is_not() -> None:
    talos = told(List=[resource("phase: Running\n", "kube-system/kube-apiserver-cp-1")])

    (pod,) = asyncio.run(talos.static_pods(NODE))

    assert pod.ready is False


def test_a_service_that_does_not_know_is_not_healthy() -> None:
    service = {"id": "kubelet", "state": "Running", "events": {}, "health": {"unknown": True}}
    talos = told(ServiceList=[{"messages": [{"services": [service]}]}])

    (found,) = asyncio.run(talos.services(NODE))

    assert found.healthy is None


@pytest.mark.parametrize(
    ("permanent", "mac"),
    [
        ("permanentAddr: bc:24:11:00:01:31\n", "bc:24:11:00:01:31"),
        ("permanentAddr: 00:00:00:00:00:00\n", "bc:24:11:00:00:31"),
        ("", "bc:24:11:00:00:31"),
    ],
)
def test_a_card_in_a_bond_is_known_by_the_address_it_was_made_with(
    permanent: str, mac: str
) -> None:
    card = (
        'type: ether\nkind: ""\nhardwareAddr: bc:24:11:00:00:31\nmtu: 1500\n'
        f"operationalState: up\nlinkState: true\ndriver: virtio_net\n{permanent}"
    )
    talos = told(List=[resource(card, "eth1")])

    (found,) = asyncio.run(talos.links(NODE))

    assert found.mac == mac
