"""One call of every method that `ports.Talos` has, and a wire that only writes down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.machines import ServiceLogRequest
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyMode,
    ImageStore,
    MaintenanceMachine,
    ResetRequest,
    UpgradeRequest,
)
from tests.talos.api.scripted import NODE

AT = MaintenanceMachine(address=NODE)
CONFIG = ApplyConfigurationRequest(text=Secret("version: v1alpha1"), mode=ApplyMode.AUTO)


class Heard(StockmanError):
    """A call was written down; there is no reply."""


class Notebook:
    """Writes down what is asked."""

    def __init__(self) -> None:
        self.asked: list[TalosRequest] = []

    async def unary(self, request: TalosRequest) -> bytes:
        raise self._heard(request)

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        for trouble in [self._heard(request)]:
            raise trouble
        yield b""

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        del messages
        raise self._heard(request)

    def _heard(self, request: TalosRequest) -> Heard:
        self.asked.append(request)
        return Heard(Problem(code="test.heard", what="heard", why="it is a test", fix="none"))


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


EVERY: dict[str, Callable[[TalosClient], object]] = {
    "version": lambda talos: talos.version(NODE),
    "machine_status": lambda talos: talos.machine_status(NODE),
    "services": lambda talos: talos.services(NODE),
    "boot_id": lambda talos: talos.boot_id(NODE),
    "extensions": lambda talos: talos.extensions(NODE),
    "schematic": lambda talos: talos.schematic(NODE),
    "clock_reading": lambda talos: talos.clock_reading(NODE),
    "time_sync": lambda talos: talos.time_sync(NODE),
    "neighbours": lambda talos: talos.neighbours(NODE),
    "hostname": lambda talos: talos.hostname(NODE),
    "system_uuid": lambda talos: talos.system_uuid(NODE),
    "addresses": lambda talos: talos.addresses(NODE),
    "links": lambda talos: talos.links(NODE),
    "disks": lambda talos: talos.disks(NODE),
    "system_disk": lambda talos: talos.system_disk(NODE),
    "static_pods": lambda talos: talos.static_pods(NODE),
    "kubelet": lambda talos: talos.kubelet(NODE),
    "kubernetes_node": lambda talos: talos.kubernetes_node(NODE),
    "machine_configuration": lambda talos: talos.machine_configuration(NODE),
    "apply_configuration": lambda talos: talos.apply_configuration(NODE, CONFIG),
    "kubeconfig": lambda talos: talos.kubeconfig(NODE),
    "bootstrap": lambda talos: talos.bootstrap(NODE, recover=True),
    "etcd_members": lambda talos: talos.etcd_members(NODE),
    "etcd_status": lambda talos: talos.etcd_status(NODE),
    "has_etcd_data": lambda talos: talos.has_etcd_data(NODE),
    "etcd_alarms": lambda talos: talos.etcd_alarms(NODE),
    "disarm_etcd": lambda talos: talos.disarm_etcd(NODE),
    "defragment_etcd": lambda talos: talos.defragment_etcd(NODE),
    "forfeit_etcd_leadership": lambda talos: talos.forfeit_etcd_leadership(NODE),
    "leave_etcd": lambda talos: talos.leave_etcd(NODE),
    "remove_etcd_member": lambda talos: talos.remove_etcd_member(NODE, 1),
    "etcd_snapshot": lambda talos: talos.etcd_snapshot(NODE),
    "send_etcd_snapshot": lambda talos: talos.send_etcd_snapshot(NODE, _nothing()),
    "reboot": lambda talos: talos.reboot(NODE),
    "shut_down": lambda talos: talos.shut_down(NODE),
    "reset": lambda talos: talos.reset(NODE, ResetRequest(graceful=True, reboot=False)),
    "roll_back": lambda talos: talos.roll_back(NODE),
    "upgrade_api": lambda talos: talos.upgrade_api(NODE),
    "upgrade": lambda talos: talos.upgrade(NODE, UpgradeRequest(image="installer")),
    "run_installer": lambda talos: talos.run_installer(NODE, "installer"),
    "images": lambda talos: talos.images(NODE, ImageStore.KUBERNETES),
    "pull_image": lambda talos: talos.pull_image(NODE, "installer", ImageStore.SYSTEM),
    "events": lambda talos: talos.events(NODE),
    "service_log": lambda talos: talos.service_log(NODE, ServiceLogRequest(service="etcd")),
    "kernel_log": lambda talos: talos.kernel_log(NODE),
    "read_file": lambda talos: talos.read_file(NODE, "/etc/os-release"),
    "write_meta": lambda talos: talos.write_meta(NODE, 12, Secret("mine")),
    "is_in_maintenance": lambda talos: talos.is_in_maintenance(AT),
}

IN_MAINTENANCE: dict[str, Callable[[TalosClient], object]] = {
    "version": lambda talos: talos.version(AT),
    "machine_status": lambda talos: talos.machine_status(AT),
    "is_in_maintenance": lambda talos: talos.is_in_maintenance(AT),
    "system_uuid": lambda talos: talos.system_uuid(AT),
    "disks": lambda talos: talos.disks(AT),
    "links": lambda talos: talos.links(AT),
    "apply_configuration": lambda talos: talos.apply_configuration(AT, CONFIG),
}
