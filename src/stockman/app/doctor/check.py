"""One Proxmox cluster that can be asked, and the tokens to ask it with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from pathlib import Path

from stockman.app.doctor.finding import CheckResult
from stockman.app.doctor.servers import Endpoint, servers
from stockman.config.language.configuration import Configuration
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, CONFIG_FILES, NODES_YAML
from stockman.model.desired import Desired
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import GitProbe, Machine, Network, NoAnswer, WorkTree
from stockman.ports.system import Clock
from stockman.proxmox.client import ProxmoxClient

OpenProxmox = Callable[[str, Secret], AbstractAsyncContextManager[ProxmoxClient]]
"""Opens the door with a token's id and its secret."""


@record
class ConfiguredToken:
    """A token that the configuration names."""

    owner: str
    """`stockman`, or the name of a component."""
    id: str
    secret: Secret | None
    """None: it is not at hand."""
    reason: str = ""
    """Why it is not at hand, as a clause."""


@record
class ProxmoxAccess:
    """One Proxmox cluster."""

    cluster: ProxmoxCluster
    open: OpenProxmox
    token: ConfiguredToken
    """That of stockman."""
    component_tokens: tuple[ConfiguredToken, ...] = ()
    """Those of components."""

    @property
    def subject(self) -> str:
        return f"region {self.cluster.region}"


@record
class CheckInput:
    """What checks look at: what the user wrote, and the machine it is on."""

    directory: Path
    estate: Configuration
    """As far as it could be read."""
    secrets: tuple[Secret, ...]
    """All that it names, each once."""
    problems: tuple[Problem, ...]
    """All that `validate` finds."""
    complete: bool
    """Whether every configuration file could be read; if not, the estate says little."""
    machine: Machine
    repo: GitProbe
    clock: Clock
    desired: Desired | None = None
    """What should be. None: the files have mistakes, or nothing asks for it."""
    regions: tuple[ProxmoxAccess, ...] = ()
    """Proxmox clusters that the configuration gives an endpoint and a token for."""

    @property
    def files(self) -> tuple[str, ...]:
        """The configuration files that should be here; none where there is no configuration."""
        present = [name for name in CONFIG_FILES if self.machine.file(self.directory / name)]
        if not present:
            return ()
        return (CLUSTER_TOML,) if CLUSTER_TOML in present else (CLUSTER_YAML, NODES_YAML)

    @cached_property
    def tree(self) -> WorkTree | None:
        """The git repository around; None: there is none, or git cannot tell."""
        try:
            return self.repo.work_tree()
        except NoAnswer:
            return None

    @cached_property
    def servers(self) -> tuple[Endpoint, ...]:
        """All servers that are dialled over TCP."""
        return servers(self.estate, self.tree.remotes if self.tree else ())


@record
class Question:
    """Something that only the network can tell; all questions are asked at once."""

    subject: str
    ask: Callable[[Network], Awaitable[Iterable[CheckResult]]]


CheckFunction = Callable[[CheckInput], Iterable[CheckResult | Question]]


@record
class Check:
    """One check. It writes nothing, and what it cannot know it does not call good."""

    name: str
    """`area.thing`, for ever."""
    about: str
    """What holds when all is well, in one sentence."""
    look: CheckFunction


def check(name: str) -> Callable[[CheckFunction], Check]:
    """Make a function a check; the first line of its docstring says what holds."""
    return lambda look: Check(
        name=name, about=(look.__doc__ or "").strip().partition("\n")[0], look=look
    )
