"""What the demo shows, in order."""

from __future__ import annotations

from typing import NamedTuple


class Say(NamedTuple):
    """A sentence between two commands."""

    text: str


class Enter(NamedTuple):
    """A change into a directory."""

    directory: str


class Run(NamedTuple):
    """A command line of stockman."""

    arguments: str
    status: int = 0
    """The exit status that it has to end with."""
    pictured: int = 100
    """Lines of its output that the picture has room for."""

    @property
    def line(self) -> str:
        return f"stockman {self.arguments}"


class Edit(NamedTuple):
    """A change of a few words in one line of a file, as somebody with an editor would make it."""

    file: str
    before: str
    after: str

    @property
    def reversed(self) -> Edit:
        return Edit(self.file, self.after, self.before)


Scene = Say | Enter | Run | Edit

SAME_VMID = Edit("nodes.yaml", "{vmid: 6622, host: heimdall}", "{vmid: 6621, host: heimdall}")
OTHER_NETWORK = Edit("nodes.yaml", "address: 127.66.0.36", "address: 127.76.0.36")

STORY: tuple[Scene, ...] = (
    Say("Fifteen nodes on four Proxmox hosts, in a network that exists on this machine only"),
    Run("init lab --preset fifteen-node --network 127.66.0.0/16"),
    Enter("lab"),
    Run("validate"),
    Say("Two slips: a VMID copied from the node above, and a digit"),
    SAME_VMID,
    OTHER_NETWORK,
    Run("validate", status=1),
    Run("explain vm.vmid-taken", pictured=3),
    Say("Put both right"),
    SAME_VMID.reversed,
    OTHER_NETWORK.reversed,
    Run("validate"),
    Say("One node with a GPU in full: every value, and where it came from"),
    Run("config show nodes.k8s-work-4 --origin", pictured=19),
)


def command_lines() -> list[str]:
    """What somebody who follows the demo would type, in order."""
    lines = []
    for scene in STORY:
        if isinstance(scene, Run):
            lines.append(scene.line)
        elif isinstance(scene, Enter):
            lines.append(f"cd {scene.directory}")
    return lines
