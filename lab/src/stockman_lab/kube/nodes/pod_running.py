"""Pods on their machines: images come, containers start, are ready, end and are stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from stockman_lab.core.faults import Effect
from stockman_lab.kube.controllers.attaching import is_attachable
from stockman_lab.kube.controllers.client import Client
from stockman_lab.kube.controllers.controller import ControllerContext
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.controllers.recorder import Recorder
from stockman_lab.kube.controllers.volume_binding import claims_of
from stockman_lab.kube.nodes.host import Host, PullFailed
from stockman_lab.kube.nodes.memory import Memories, Memory
from stockman_lab.kube.nodes.pod_sources import missing_mount, missing_variable
from stockman_lab.kube.nodes.pod_status import Standing, pod_status
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time
from stockman_lab.kube.programs import program

NETWORK_NOT_READY = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
    " message:Network plugin returns error: cni plugin not initialized"
)
_SANDBOX, _START = 0.9, 0.4
"""Seconds until a pod has its place, and until its containers run."""
_STOP = 1.5
_FIRST_BACKOFF, _MOST_BACKOFF = 10.0, 300.0
_FIRST_MOUNT, _MOST_MOUNT = 0.5, 122.0
"""Seconds until a volume is tried again."""
_SYNC = 12.0
"""Seconds until a kubelet tries again to create a container that lacked something."""
_HOPEFUL = 3
"""So often a world hurries for what fails again and again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ends that ends."""

    seconds: float
    exit_code: int = 0
    message: str = ""
    is_decided: bool = False
    """Whether it was said how it ends: faults have had their turn."""


Outcomes = Callable[[Object], Outcome | None]


class Again(Protocol):
    """Has a pod looked at once more."""

    def __call__(self, key: str, moment: float, *, patient: bool) -> None:
        """At a moment; nobody hurries for a patient look."""
        ...


@dataclass(slots=True)
class Runner:
    """Runs the pods of machines, one look at a time."""

    context: ControllerContext
    client: Client
    recorder: Callable[[str], Recorder]
    """Writes events in the name of the kubelet of a node."""
    memories: Memories
    outcomes: Outcomes
    again: Again

    @property
    def now(self) -> float:
        return self.context.clock()

    def look(self, key: str, pod: Object, host: Host, *, has_network: bool) -> None:
        """Bring a pod one step further, if it is time."""
        memory = self.memories.of(pod)
        if metadata_of(pod).get("deletionTimestamp"):
            self._stop(key, pod, host, memory)
            return
        if memory.stage == "ended" or part_of(pod, "status").get("phase") in _ENDED:
            return
        if memory.boot != host.boot:
            self._begin(key, pod, host, memory)
        if memory.due > self.now:
            self.again(key, memory.due, patient=_is_hopeless(memory))
            return
        if memory.stage == "creating":
            if not has_network and not part_of(pod, "spec").get("hostNetwork"):
                text = f"network is not ready: {NETWORK_NOT_READY}"
                self._events(pod).warning(pod, "NetworkNotReady", text)
                return
            if is_waiting(self.context.objects, pod):
                return
            if why := missing_mount(self.context.objects, pod):
                self._retry_mount(key, pod, memory, why)
                return
            self._pull(key, pod, host, memory)
        elif memory.stage == "starting":
            self._run(key, pod, host, memory)
        elif memory.stage == "running":
            self._become_ready(key, pod, host, memory)
        elif memory.stage == "ready" and (memory.due or self._is_over(pod)):
            self._end(key, pod, host, memory)
        elif memory.stage == "backing-off":
            self._start_again(key, pod, host, memory)

    def _events(self, pod: Object) -> Recorder:
        return self.recorder(str(part_of(pod, "spec").get("nodeName", "")))

    def _begin(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        """A pod is new on its machine, or the machine is: it booted since."""
        was_running = memory.running_since is not None
        if was_running:
            if _never_restarts(pod):
                memory.ended = {"exitCode": 137, "reason": "ContainerStatusUnknown"}
                memory.stage = "ended"
                memory.boot, memory.running_since = host.boot, None
                self._write(pod, host, memory)
                self.memories.keep(pod, memory)
                return
            text = "Pod sandbox changed, it will be killed and re-created."
            self._events(pod).normal(pod, "SandboxChanged", text)
            memory.last = self._container_end(pod, memory, 255, "Unknown")
            memory.restarts += 1
        memory.boot, memory.stage, memory.running_since = host.boot, "creating", None
        memory.address, memory.waiting, memory.waiting_message = "", "ContainerCreating", ""
        self._plan(key, pod, memory, _SANDBOX)
        self._write(pod, host, memory)

    def _pull(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        seconds = 0.0
        events = self._events(pod)
        for container in _containers(pod):
            image = str(container.get("image", ""))
            fault = host.trouble("pull", pod, image)
            if fault is not None and fault.effect is Effect.HANG:
                return
            try:
                if fault is not None and fault.effect is Effect.FAIL:
                    raise PullFailed(fault.message or f'failed to pull image "{image}"')
                took = host.pulled(image) + (fault.seconds if fault is not None else 0.0)
            except PullFailed as failed:
                self._note_pull_failure(pod, memory, image, str(failed))
                self._plan(key, pod, memory, _backoff(memory.tries))
                self._write(pod, host, memory)
                return
            seconds += took
            if took:
                events.normal(_within(pod, container), "Pulling", f'Pulling image "{image}"')
        memory.stage, memory.tries = "starting", 0
        init = len(entries_of(pod, "spec", "initContainers"))
        self._plan(key, pod, memory, seconds + _START * (1 + 2 * init))

    def _retry_mount(self, key: str, pod: Object, memory: Memory, why: str) -> None:
        """A volume is not there to be mounted: containers are not created before it is."""
        self._events(pod).warning(pod, "FailedMount", why)
        memory.tries += 1
        self._plan(key, pod, memory, min(_FIRST_MOUNT * 2.0 ** (memory.tries - 1), _MOST_MOUNT))

    def _retry_configuration(
        self, key: str, pod: Object, host: Host, memory: Memory, why: str
    ) -> None:
        """A container lacks its environment, and is not created before it is there."""
        memory.waiting, memory.waiting_message = "CreateContainerConfigError", why
        memory.stage, memory.tries = "starting", memory.tries + 1
        self._plan(key, pod, memory, _SYNC)
        self._write(pod, host, memory)

    def _note_pull_failure(self, pod: Object, memory: Memory, image: str, why: str) -> None:
        events = self._events(pod)
        container = next(one for one in _containers(pod) if one.get("image") == image)
        about = _within(pod, container)
        events.warning(about, "Failed", f'Failed to pull image "{image}": {why}')
        events.warning(about, "Failed", "Error: ErrImagePull")
        memory.waiting, memory.waiting_message = "ErrImagePull", why
        if memory.tries:
            memory.waiting = "ImagePullBackOff"
            memory.waiting_message = f'Back-off pulling image "{image}": ErrImagePull: {why}'
            events.normal(about, "BackOff", f'Back-off pulling image "{image}"')
        memory.tries += 1

    def _run(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        events = self._events(pod)
        for container in _containers(pod):
            if why := missing_variable(self.context.objects, pod, container):
                events.warning(_within(pod, container), "Failed", f"Error: {why}")
                self._retry_configuration(key, pod, host, memory, why)
                return
        for container in _containers(pod):
            image = container.get("image", "")
            about = _within(pod, container)
            present = f'Container image "{image}" already present on machine'
            events.normal(about, "Pulled", present)
            events.normal(about, "Created", "Container created")
            events.normal(about, "Started", "Container started")
        memory.running_since, memory.stage = self.now, "running"
        memory.waiting = memory.waiting_message = ""
        if not memory.address:
            memory.address = self._address(pod, host)
        fault = host.trouble("start", pod, _first_image(pod))
        if fault is not None and fault.effect is Effect.FAIL:
            self._crash(key, pod, host, memory, fault.message or "Error")
            return
        seconds = max(program(str(one.get("image", ""))).ready for one in _containers(pod))
        if not any("readinessProbe" in one for one in _containers(pod)):
            seconds = min(seconds, 1.0)
        late = host.trouble("ready", pod, _first_image(pod))
        if late is not None and late.effect is Effect.HANG:
            memory.due = 0.0
            memory.stage = "never-ready"
            self.memories.keep(pod, memory)
        else:
            self._plan(key, pod, memory, seconds + (late.seconds if late is not None else 0.0))
        self._write(pod, host, memory)

    def _become_ready(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        memory.stage, memory.due, memory.tries = "ready", 0.0, 0
        outcome = self.outcomes(pod) if _ends(pod) else None
        if outcome is not None:
            self._plan(key, pod, memory, outcome.seconds)
        else:
            self.memories.keep(pod, memory)
        self._write(pod, host, memory)

    def _is_over(self, pod: Object) -> bool:
        outcome = self.outcomes(pod) if _ends(pod) else None
        return outcome is not None and outcome.is_decided

    def _end(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        outcome = self.outcomes(pod)
        is_decided = outcome is not None and outcome.is_decided
        fault = None if is_decided else host.trouble("run", pod, _first_image(pod))
        code = outcome.exit_code if outcome is not None else 0
        message = outcome.message if outcome is not None else ""
        if fault is not None and fault.effect is Effect.FAIL:
            code, message = 1, fault.message
        reason = "Error" if code else "Completed"
        if code and part_of(pod, "spec").get("restartPolicy") == "OnFailure":
            self._crash(key, pod, host, memory, message)
            return
        memory.ended = {"exitCode": code, "reason": reason}
        if message:
            memory.ended["message"] = message
        memory.stage, memory.due = "ended", 0.0
        self.memories.keep(pod, memory)
        self._write(pod, host, memory)

    def _crash(self, key: str, pod: Object, host: Host, memory: Memory, message: str) -> None:
        del message
        name = metadata_of(pod)["name"]
        memory.last = self._container_end(pod, memory, 1, "Error")
        memory.tries += 1
        memory.restarts += 1
        seconds = _backoff(memory.tries)
        container = entries_of(pod, "spec", "containers")[0]["name"]
        space, uid = metadata_of(pod).get("namespace", ""), metadata_of(pod).get("uid", "")
        memory.waiting = "CrashLoopBackOff"
        memory.waiting_message = (
            f"back-off {_shown(seconds)} restarting failed container={container}"
            f" pod={name}_{space}({uid})"
        )
        self._events(pod).warning(
            pod,
            "BackOff",
            f"Back-off restarting failed container {container} in pod {name}_{space}({uid})",
        )
        memory.stage, memory.running_since = "backing-off", None
        self._plan(key, pod, memory, seconds)
        self._write(pod, host, memory)

    def _start_again(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        memory.stage = "starting"
        self._run(key, pod, host, memory)

    def _stop(self, key: str, pod: Object, host: Host, memory: Memory) -> None:
        grace = int(metadata_of(pod).get("deletionGracePeriodSeconds") or 0)
        if memory.stage == "stopping" and memory.boot != host.boot:
            memory.boot, memory.due, memory.running_since = host.boot, self.now, None
        if memory.stage != "stopping" or (not grace and memory.due > self.now):
            if memory.running_since is not None and memory.stage != "stopping":
                for container in entries_of(pod, "spec", "containers"):
                    text = f"Stopping container {container['name']}"
                    self._events(pod).normal(_within(pod, container), "Killing", text)
            fault = host.trouble("stop", pod, _first_image(pod))
            memory.stage = "stopping"
            if fault is not None and fault.effect is Effect.HANG:
                memory.due = float("1e18")
                self.memories.keep(pod, memory)
                return
            seconds = min(_STOP, float(grace)) if memory.running_since is not None else 0.1
            if fault is not None:
                seconds += fault.seconds
            memory.due = self.now + seconds
            self.memories.keep(pod, memory)
        if memory.due > self.now:
            if memory.due < 1e17:
                self.again(key, memory.due, patient=False)
            return
        if memory.running_since is not None:
            memory.ended = {"exitCode": 0, "reason": "Completed"}
            self._write(pod, host, memory)
            memory.running_since = None
            self.memories.keep(pod, memory)
        self.client.delete(pod, grace=0)

    # -- writing -------------------------------------------------------------------------------

    def _address(self, pod: Object, host: Host) -> str:
        if part_of(pod, "spec").get("hostNetwork"):
            return host.address
        return free_address(
            self.context.objects, host.name, self.context.objects.pods_on(host.name)
        )

    def _container_end(
        self, pod: Object, memory: Memory, code: int, reason: str
    ) -> dict[str, object]:
        del pod
        return {
            "exitCode": code,
            "reason": reason,
            "startedAt": written_time(memory.running_since or self.now),
            "finishedAt": written_time(self.now),
        }

    def _plan(self, key: str, pod: Object, memory: Memory, seconds: float) -> None:
        memory.due = self.now + seconds
        self.memories.keep(pod, memory)
        self.again(key, memory.due, patient=_is_hopeless(memory))

    def _write(self, pod: Object, host: Host, memory: Memory) -> None:
        space = metadata_of(pod).get("namespace", "")
        fresh = self.context.objects.get("pods", f"{space}/{metadata_of(pod)['name']}")
        if fresh is None or metadata_of(fresh).get("uid") != memory.uid:
            return
        standing = Standing(
            now=self.now,
            host_address=host.address,
            pod_address=memory.address,
            running_since=memory.running_since,
            is_ready=memory.stage == "ready",
            waiting=memory.waiting,
            waiting_message=memory.waiting_message,
            ended=memory.ended,
            restarts=memory.restarts,
            last=memory.last,
            boot=memory.boot,
        )
        status = pod_status(fresh, standing)
        if status != part_of(fresh, "status"):
            self.client.update_status(fresh, status)


_ENDED = frozenset({"Succeeded", "Failed"})


def _is_hopeless(memory: Memory) -> bool:
    """Whether it failed so often that a world does not hurry for the next time."""
    return memory.tries > _HOPEFUL


def _containers(pod: Object) -> list[Object]:
    return [*entries_of(pod, "spec", "initContainers"), *entries_of(pod, "spec", "containers")]


def _within(pod: Object, container: Object) -> Object:
    """A pod as events name one of its containers."""
    is_first = container in entries_of(pod, "spec", "initContainers")
    kind = "initContainers" if is_first else "containers"
    return {**pod, "fieldPath": f"spec.{kind}{{{container['name']}}}"}


def _first_image(pod: Object) -> str:
    return str(next(iter(entries_of(pod, "spec", "containers")), {}).get("image", ""))


def _never_restarts(pod: Object) -> bool:
    return bool(part_of(pod, "spec").get("restartPolicy") == "Never")


def _ends(pod: Object) -> bool:
    return bool(part_of(pod, "spec").get("restartPolicy", "Always") != "Always")


def _backoff(tries: int) -> float:
    return float(min(_FIRST_BACKOFF * 2.0 ** (tries - 1), _MOST_BACKOFF))


def _shown(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def volumes_of(objects: Objects, pod: Object) -> list[str]:
    """Names of the volumes behind the claims of a pod."""
    claims = (objects.get("persistentvolumeclaims", claim) for claim in claims_of(pod))
    volume_names = (part_of(claim or {}, "spec").get("volumeName") for claim in claims)
    return [str(volume_name) for volume_name in volume_names if volume_name]


def is_waiting(objects: Objects, pod: Object) -> bool:
    """Whether a pod waits for a volume to be attached to its node."""
    volumes = {volume for volume in volumes_of(objects, pod) if _needs_driver(objects, volume)}
    if not volumes:
        return False
    node = part_of(pod, "spec").get("nodeName")
    attached = {
        part_of(attachment, "spec", "source").get("persistentVolumeName")
        for attachment in objects.listed("volumeattachments")
        if part_of(attachment, "spec").get("nodeName") == node
        and part_of(attachment, "status").get("attached")
    }
    return not volumes <= attached


def _needs_driver(objects: Objects, name: str) -> bool:
    volume = objects.get("persistentvolumes", name)
    return volume is not None and is_attachable(objects, volume)


_FIRST = 2
_PART = 24
_DEFAULT = "10.244.0.0/24"


def free_address(objects: Objects, node_name: str, pods: Iterable[Object]) -> str:
    """The lowest address of a node that no pod on it has."""
    node = objects.get("nodes", node_name)
    network = ip_network(part_of(node or {}, "spec").get("podCIDR") or _DEFAULT)
    taken = {part_of(pod, "status").get("podIP") for pod in pods}
    number = int(network.network_address) + _FIRST
    while str(ip_address(number)) in taken:
        number += 1
    return str(ip_address(number))


def free_network(nodes: list[Object], subnets: tuple[str, ...]) -> str:
    """The first part of the pod network that no node has. Empty: there is none."""
    taken = {part_of(node, "spec").get("podCIDR") for node in nodes if metadata_of(node)}
    whole = next((one for one in map(ip_network, subnets) if one.version == 4), None)
    if whole is None or whole.prefixlen > _PART:
        return ""
    for subnet in whole.subnets(new_prefix=_PART):
        if str(subnet) not in taken:
            return str(subnet)
    return ""
