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
