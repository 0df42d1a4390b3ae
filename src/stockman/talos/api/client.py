"""The client of the Talos API, with calls about configurations, events and client files."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import tarfile
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.model.names import MachineAddress
from stockman.model.pattern import pattern
from stockman.model.secret import Secret, clean_text
from stockman.talos.api.calls import (
    MACHINE,
    READ_SECONDS,
    AnyMachine,
    ApiCalls,
    InvalidAnswer,
    ResourceKind,
    Row,
    chunk_bytes,
    decode_message,
    get_bytes,
    get_optional_text,
    get_required_flag,
    get_rows,
    get_text,
    get_texts,
    invalid_answer,
)
from stockman.talos.api.etcd import EtcdCalls
from stockman.talos.api.machines import DiskCalls, NetworkCalls
from stockman.talos.api.upgrades import UpgradeCalls
from stockman.talos.records.machines import (
    Event,
    EventsRequest,
    KubeletState,
    KubernetesNode,
    ServiceLogRequest,
    StaticPod,
)
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyConfigurationResult,
    ApplyMode,
    MaintenanceMachine,
)

_KUBECONFIG = f"{MACHINE}/Kubeconfig"
_LARGEST_KUBECONFIG = 1 << 20
_PODS = ResourceKind(namespace="k8s", type="StaticPodStatuses.kubernetes.talos.dev")
_KUBELET = ResourceKind(namespace="k8s", type="KubeletSpecs.kubernetes.talos.dev")
_NODE = ResourceKind(namespace="k8s", type="NodeStatuses.kubernetes.talos.dev")
_NODENAME = ResourceKind(namespace="k8s", type="Nodenames.kubernetes.talos.dev")


class KubernetesCalls(ApiCalls):
    """Kubernetes as a machine sees it, and its credentials."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        """Return an administrator's kubeconfig; only controllers issue one."""
        packed = await self._read_stream(_KUBECONFIG, node, {}, _LARGEST_KUBECONFIG)
        try:
            return Secret(_unpack_archive(packed), resolved=True)
        except InvalidAnswer as error:
            raise invalid_answer(_KUBECONFIG, node, str(error)) from None

    async def static_pods(self, node: MachineAddress) -> tuple[StaticPod, ...]:
        """Return the pods of the control plane; workers have none."""
        return await self._resources(node, _PODS, _static_pod)

    async def kubelet(self, node: MachineAddress) -> KubeletState:
        """Return image and node name of the kubelet; raises NotFound before it is configured."""
        return await self._resource(node, _KUBELET, "kubelet", _kubelet_state)

    async def kubernetes_node(self, node: MachineAddress) -> KubernetesNode:
        """Return the machine as Kubernetes sees it; raises NotFound before it is registered."""
        name = await self._resource(
            node, _NODENAME, "nodename", lambda row: get_text(row, "nodename")
        )
        return await self._resource(node, _NODE, name, _kubernetes_node)


def _unpack_archive(packed: bytes) -> str:
    """Return the only file of a compressed archive, whose size is limited."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as zipped:
            plain = zipped.read(_LARGEST_KUBECONFIG + 1)
        if len(plain) > _LARGEST_KUBECONFIG:
            raise InvalidAnswer("it is too large to be a kubeconfig")
        # Talos pads neither the file nor the archive.
        padded = plain + bytes(-len(plain) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)
        with tarfile.open(fileobj=io.BytesIO(padded), mode="r:") as archive:
            file = archive.extractfile("kubeconfig")
            content = b"" if file is None else file.read()
    except (OSError, EOFError, zlib.error, tarfile.TarError, KeyError):
        raise InvalidAnswer("there is no kubeconfig in its answer") from None
    if not content:
        raise InvalidAnswer("the kubeconfig is empty")
    return content.decode("utf-8", "replace")


def _static_pod(name: str, row: Row) -> StaticPod:
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in get_rows(row, "conditions")
    )
    return StaticPod(id=name, ready=ready, phase=get_optional_text(row, "phase"))


def _kubelet_state(row: Row) -> KubeletState:
    return KubeletState(image=get_text(row, "image"), nodename=get_text(row, "expectedNodename"))


def _kubernetes_node(row: Row) -> KubernetesNode:
    return KubernetesNode(
        name=get_text(row, "nodename"),
        ready=get_required_flag(row, "nodeReady"),
        unschedulable=get_required_flag(row, "unschedulable"),
    )


_CONFIGS = ResourceKind(namespace="config", type="MachineConfigs.config.talos.dev")
_ACTIVE = "v1alpha1"
_CONFIG = "resource.config.MachineConfigSpec"
_APPLY = f"{MACHINE}/ApplyConfiguration"
_APPLY_SECONDS = 120.0
_SECRET_LINE = pattern(
    r"""^[\s-]*["']?[A-Za-z]*(?:key|token|secret|password|auth|id)["']?:[ ]*["']?"""
    r"""(?P<value>[^\s"'|>]{8,})["']?\s*$""",
    re.MULTILINE | re.IGNORECASE,
)


class ConfigurationCalls(ApiCalls):
    """Machine configurations."""

    async def machine_configuration(self, node: MachineAddress) -> Secret:
        """Return the active configuration with all its documents, as it was applied."""
        spec = await self._encoded_resource(node, _CONFIGS, _ACTIVE)
        try:
            text = get_bytes(decode_message(_CONFIG, spec), "yaml_marshalled").decode()
        except (InvalidAnswer, UnicodeDecodeError) as error:
            why = f"the configuration cannot be read: {error}"
            raise invalid_answer("cosi.resource.State/Get", node, why) from None
        return Secret(text, resolved=True)

    async def apply_configuration(
        self, at: AnyMachine, application: ApplyConfigurationRequest
    ) -> ApplyConfigurationResult:
        """Apply a configuration; raises Rejected with Talos' own message if it is invalid.

        It contains all secrets of the cluster: a machine in maintenance that is identified only by
        its address could be any machine.
        """
        content = application.text.reveal()
        fields: dict[str, object] = {
            "data": content.encode(),
            "mode": application.mode.name,
            "dry_run": application.dry_run,
            "try_mode_timeout": application.try_seconds,
        }
        secrets = secret_values(content)
        row = await self._change(_APPLY, at, fields, seconds=_APPLY_SECONDS, secrets=secrets)
        is_new = isinstance(at, MaintenanceMachine)
        try:
            return ApplyConfigurationResult(
                mode=_applied_mode(row, application.mode, in_maintenance=is_new),
                details=Secret(get_optional_text(row, "mode_details"), resolved=True),
                warnings=tuple(clean_text(text, secrets) for text in get_texts(row, "warnings")),
            )
        except InvalidAnswer as error:
            raise invalid_answer(_APPLY, at, str(error)) from None


def secret_values(config: str) -> tuple[str, ...]:
    """Return texts of a configuration that must not be shown, even if it is not valid YAML."""
    values = {match["value"] for match in _SECRET_LINE.finditer(config)}
    return tuple(sorted(values, key=len, reverse=True))


def _applied_mode(row: Row, requested: ApplyMode, *, in_maintenance: bool) -> ApplyMode | None:
    """Return the mode that Talos used; an answer without a mode also decodes as a reboot."""
    name = str(row.get("mode", ApplyMode.REBOOT.name))
    if name not in ApplyMode.__members__:
        raise InvalidAnswer(f"mode is {name}")
    mode = ApplyMode[name]
    if mode is not ApplyMode.REBOOT:
        return mode
    if in_maintenance:
        return None
    if requested not in (ApplyMode.REBOOT, ApplyMode.AUTO):
        raise InvalidAnswer(f"it reports a reboot, but {requested.value} was requested")
    return mode


_EVENTS, _LOGS, _DMESG = f"{MACHINE}/Events", f"{MACHINE}/Logs", f"{MACHINE}/Dmesg"
_FOLLOW_SECONDS = 300.0
"""Silence after which a stream ends: a machine that died does not close it."""
_EVENT_PREFIX = "talos/runtime/machine."


class EventCalls(ApiCalls):
    """Events and logs of a machine, as they happen."""

    async def events(
        self, node: MachineAddress, query: EventsRequest | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yield events, complete after the first one; ends when the machine goes down."""
        query = query or EventsRequest()
        fields = {
            "tail_events": query.last,
            "tail_id": query.after,
            "with_actor_id": query.actor,
        }
        events = self._each(_EVENTS, node, _event, fields, seconds=_FOLLOW_SECONDS)
        async with aclosing(events):
            async for event in events:
                yield event

    async def service_log(
        self, node: MachineAddress, query: ServiceLogRequest
    ) -> AsyncGenerator[str, None]:
        """Yield the lines of a service's log."""
        fields = {
            "namespace": "system",
            "id": query.service,
            "follow": query.follow,
            "tail_lines": query.last,
        }
        async with aclosing(self._lines(_LOGS, node, fields)) as lines:
            async for line in lines:
                yield line

    async def kernel_log(
        self, node: MachineAddress, *, follow: bool = False
    ) -> AsyncGenerator[str, None]:
        """Yield the lines of the kernel log."""
        async with aclosing(self._lines(_DMESG, node, {"follow": follow})) as lines:
            async for line in lines:
                yield line

    async def _lines(
        self, method: str, node: MachineAddress, fields: dict[str, object]
    ) -> AsyncGenerator[str, None]:
        """Yield the lines of a stream of bytes, also a last one without a line break."""
        seconds = _FOLLOW_SECONDS if fields["follow"] else READ_SECONDS
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        remainder = ""
        async with aclosing(
            self._each(method, node, chunk_bytes, fields, seconds=seconds)
        ) as chunks:
            async for chunk in chunks:
                *lines, remainder = (remainder + decoder.decode(chunk)).split("\n")
                for line in lines:
                    yield line
        if remainder:
            yield remainder


def _event(row: Row) -> Event:
    data = row.get("data")
    kind, content = data if isinstance(data, tuple) else ("", {})
    if not isinstance(kind, str) or not isinstance(content, dict):
        raise InvalidAnswer("data is not an event")
    return Event(
        id=get_optional_text(row, "id"),
        actor=get_optional_text(row, "actor_id"),
        kind=kind.removeprefix(_EVENT_PREFIX),
        content=content,
    )


class TalosClient(
    UpgradeCalls,
    NetworkCalls,
    DiskCalls,
    ConfigurationCalls,
    KubernetesCalls,
    EtcdCalls,
    EventCalls,
):
    """The client of the machines of one cluster, and of machines in maintenance.

    `node` is the address of the machine that a call is for; the endpoint that accepts the call
    passes it on. Each call is made once; only a read on a dead connection is repeated, once.
    Errors are `NotFound`, `Conflict` (`Locked`: another sequence runs), `Denied`, `Rejected`
    (`Unsupported`: this Talos does not know the call), `Unreachable`, `Refused` and, if the
    outcome of a change is unknown, `Uncertain`. An answer without a required field, or with
    contradicting ones, is `Rejected`.
    """
