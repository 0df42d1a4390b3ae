"""One session with a cluster: its files, its doors, its plans and its runs, all at hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.plans import Planned, Planner, PlanWish
from stockman.app.run_doors import opened_doors
from stockman.app.run_home import opened_home
from stockman.app.workspace_plan import Workspace
from stockman.engine.carrying_out import Home
from stockman.model.record import record
from stockman.ports.clock import Timekeeper
from stockman.ports.entropy import Entropy
from stockman.steps.ports import Ports

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import Login


@record
class Place:
    """Where a session takes place."""

    directory: Path
    environment: Mapping[str, str] = field(repr=False)
    clock: Timekeeper
    entropy: Entropy


@record
class Session:
    """Everything that plans and runs need."""

    workspace: Workspace
    planner: Planner
    ports: Ports
    home: Home

    async def plan(self, wish: PlanWish = PlanWish()) -> Planned:  # noqa: B008  # never changes
        """Look at everything, and say what is to be done."""
        return await self.planner.plan(self.ports, wish)


@asynccontextmanager
async def opened_session(place: Place, admin: Login | None = None) -> AsyncIterator[Session]:
    """A session that is closed after use. `admin` grants access to Proxmox VE."""
    from stockman.adapters.network import SocketNetwork

    workspace = Workspace(place.directory, place.environment, place.clock, place.entropy)
    planner = Planner(workspace, SocketNetwork())
    async with (
        opened_home(place.directory, place.environment, place.clock) as home,
        opened_doors(workspace, place.clock, admin) as ports,
    ):
        yield Session(workspace=workspace, planner=planner, ports=ports, home=home)
