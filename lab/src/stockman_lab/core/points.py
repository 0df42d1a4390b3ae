"""Where something can go wrong, and what."""

from __future__ import annotations

from enum import Enum


class Effect(Enum):
    """What a fault does."""

    FAIL = "fail"
    """Refuse with an error, and do nothing."""
    DO_THEN_FAIL = "do-then-fail"
    """Do what was asked for, and then claim that it failed."""
    CLAIM = "claim"
    """Do nothing, and claim that it worked."""
    DELAY = "delay"
    """Do it, or answer, so many seconds later."""
    HANG = "hang"
    """Never come to an end."""
    CUT = "cut"
    """Close the connection before the answer."""
    DO_THEN_CUT = "do-then-cut"
    """Do what was asked for, and close the connection before the answer."""
    LIE = "lie"
    """Answer with what was true some time ago."""
    CORRUPT = "corrupt"
    """Damage what is delivered."""
    KILL = "kill"
    """Take the power from a host."""


class Point(Enum):
    """Where faults can strike; `OFFERED` tells what can go wrong there, `FACTS` who is meant."""

    REQUEST = "request"
    """An API request. `host` is who got it, `node` and `vmid` what it names.

    `lie` answers reads with what was true when the first request came after the fault began, rights
    included; with `seconds`, nothing that it says is older than that. Who asks is looked up in the
    present. `kill` takes the power of `host`.
    """
    TASK = "task"
    """A worker. `kill` takes the power of its host, `seconds` after it began."""
    ALLOCATE = "allocate"
    """New space on a storage. `delay` keeps its lock that long."""
    DOWNLOAD = "download"
    """A download into a storage.

    `corrupt` changes a byte, and with the message `truncated` leaves half away; `lie` delivers what
    the URL led to when it was fetched first; `delay` is a slow server.
    """
    BOOT = "boot"
    """A guest that powers on. `hang`: it runs, and nothing comes up in it."""
    SHUTDOWN = "shutdown"
    """A guest that is asked to shut down. `hang`: it does not care."""
    AGENT = "agent"
    """A question to a guest agent."""
    RESOURCES = "resources"
    """Rows of /cluster/resources: what of guests changed is seen `seconds` later."""
    AUTHENTICATE = "authenticate"
    """Credentials in a request."""
    HOST = "host"
    """A host itself, whose power ends at the time that is set."""
    QUORUM = "quorum"
    """Agreement of a cluster, which is read-only without it."""
    SSH = "ssh"
    """A command over SSH, or `sftp ACTION PATH`."""
    REGISTRY = "registry"
    """A request to the registry: method, path, repository, reference, client (machine or `http`).

    `fail` answers 503 or its status, 429 with `seconds` as Retry-After; `kill`: nobody listens;
    `claim` takes what is pushed for show;
    `lie` serves another build under a tag, or the version that its message names; `corrupt` changes
    a byte, with the message `truncated` leaves half away, with `arch` offers only another one.
    """
    FACTORY = "factory"
    """A request to the Image Factory: method, path. As above; `claim` takes schematics for show,
    `lie` delivers an image of the version before, or of the one that its message names."""
    TALOS_CALL = "talos-call"
    """A call of a Talos machine's API: cluster, machine, vmid, address, service, method, role.

    `status` is a gRPC code (0: 14, unavailable); `lie` answers reads as on the first such occasion.
    `corrupt` changes a byte of each piece; with the message `truncated` half of a stream is gone.
    """
    TALOS_STEP = "talos-step"
    """A step of a Talos machine: cluster, vmid, name, machine, version, step, sequence.

    Steps are `firmware`, `kernel`, `network`, `time`, `pull`, phases of sequences (`install`),
    `service/etcd`, `promote`, `static-pods`, `node-ready`. `fail` ends what is under way with an
    error, `hang` never ends, `delay` takes longer.
    """
    NETWORK = "network"
    """Whether a machine can be reached: cluster, vmid, machine, address. `fail` cuts it off."""
    LEASE = "lease"
    """An address from DHCP: cluster, vmid, machine, mac. `fail` gives none, `lie` another one."""
    ETCD = "etcd"
    """A member of etcd: cluster, vmid, machine, action (`run`, `join`, `promote`).

    `fail` makes it ill, or refuses: it tries again as long as `times` are counted. `hang` makes it
    ill, or lets it never come to an end.
    """
    CLOCK = "clock"
    """The clock of a machine: cluster, vmid, machine. `lie` sets it off by so many seconds."""
    OBJECTS = "objects"
    """A request to the object storage: method, bucket, key, operation (`put`, `get`, `list`,
    `put-part`, `complete`, `begin`, `list-uploads`).

    `corrupt` changes a byte of what is stored or read, with the message `truncated` leaves half
    away; `lie` lets its clock be wrong by so many seconds; `do-then-cut` dies after storing.
    """
    KUBERNETES = "kubernetes"
    """A request to an API server: machine, method, path, resource (`deployments.apps`), namespace,
    object, verb, user.

    `fail` answers 500 or its status: 429 as a server that has too much to do, with `seconds` to
    wait, 410 as one that has forgotten. Of a watch, `cut` breaks the stream, `seconds` after it
    began; `lie` answers reads with what was there on the first such occasion.
    """
    POD = "pod"
    """A pod on its machine: cluster, vmid, machine, namespace, pod, image, action.

    Actions are `pull`, `start`, `ready`, `run`, `stop`. `fail` lets an image not come, a container
    crash or a job fail; `hang` never ends: a pod that is never ready, or stays `Terminating`.
    """
    NODE = "node"
    """The kubelet of a machine: cluster, vmid, machine.

    While it lasts, `fail` lets it say that it is not ready, with `seconds` for so long and then for
    as long not, by turns; `hang` lets it fall silent, so that its Node is lost after a while.
    """
