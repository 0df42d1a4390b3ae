"""Methods that only machines of the control plane answer."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import ApiMachine, Refusal

_APIS = {
    "/cluster.ClusterService/HealthCheck": "cluster health check",
    "/machine.MachineService/EtcdAlarmDisarm": "etcd alarm disarm",
    "/machine.MachineService/EtcdAlarmList": "etcd alarm list",
    "/machine.MachineService/EtcdDefragment": "etcd defragment",
    "/machine.MachineService/EtcdForfeitLeadership": "etcd forfeit leadership",
    "/machine.MachineService/EtcdLeaveCluster": "etcd leave",
    "/machine.MachineService/EtcdMemberList": "member list",
    "/machine.MachineService/EtcdRecover": "etcd recover",
    "/machine.MachineService/EtcdRemoveMemberByID": "etcd remove member",
    "/machine.MachineService/EtcdSnapshot": "etcd snapshot",
    "/machine.MachineService/EtcdStatus": "etcd status",
    "/machine.MachineService/GenerateClientConfiguration": "generate client configuration",
    "/machine.MachineService/Kubeconfig": "kubeconfig",
}
"""What refusals call them. Bootstrap is not here: it looks at other things first."""

_OLDER = {
    "/cluster.ClusterService/HealthCheck": "",
    "/machine.MachineService/EtcdAlarmDisarm": "etcd alarm list",
    "/machine.MachineService/GenerateClientConfiguration": "",
}
"""What 1.11 and 1.12 call them, or nothing where those look by themselves."""
_OLDER_MINORS = ("1.11", "1.12")


def check(machine: ApiMachine, path: str, *, configured: bool) -> None:
    """Refuse what a machine cannot do that is not of the control plane."""
    api = _APIS.get(path, "")
    if machine.minor in _OLDER_MINORS:
        api = _OLDER.get(path, api)
    if api and not machine.is_controlplane:
        raise not_here(api, configured=configured)


def not_here(api: str, *, configured: bool) -> Refusal:
    """The refusal of a machine that is not of the control plane, or not known to be."""
    if not configured:
        return Refusal(GrpcCode.UNIMPLEMENTED, f"machine type is not set, cannot use {api} API")
    return Refusal(GrpcCode.UNIMPLEMENTED, f"{api} is only available on control plane nodes")
