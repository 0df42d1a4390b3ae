"""Serving a lab: load or make its world, open the doors, and keep the state on the way out."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from glob import escape
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeAlias

from stockman.adapters.files import replace_private_file
from stockman.model.errors import Conflict
from stockman.model.record import record
from stockman.ports.system import Clock, Entropy
from stockman_lab.commands.runtime import problems
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.core.saved import Unreadable
from stockman_lab.servers.control import ControlServer
from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.ssh.listener import SSH_PORT
from stockman_lab.world.world import World

_TOKEN_BYTES = 24
_STAGING = 1800.0
"""Seconds that a cluster gets to come up in, so that its clock shows the time of day then."""
_IMAGES_PORT = 8080
HOSTS = "hosts"
CLUSTER = "cluster"
Told: TypeAlias = Callable[[str, str], None]
"""Of a machine and its stage, while a cluster is made."""
_OBJECTS_PORT = 9000
_GIT_PORT = 3000


@record
class LabOptions:
    """What a new lab should be, and how it is served."""

    preset: str
    network: IPv4Network
    profile: str
    speed: float | None
    """Seconds inside for one outside. None: as fast as possible."""
    seed: int = 1
    slow_refusals: bool = False
    repositories: dict[str, str] = field(default_factory=dict)
    """Where repositories really are, by the URLs that files name; kept for clusters in the lab."""
    stage: str = HOSTS
    """How far a new lab is: `hosts`, or `cluster` with the machines of its preset running."""
    talos_version: str | None = None
    """Of the machines, `1.13.9`. None: as the preset has it."""


@record
class SystemAccess:
    """What serving needs from the system."""

    clock: Clock
    entropy: Entropy


def serve(
    files: LabFiles,
    options: LabOptions,
    doors: SystemAccess,
    ready: Callable[[], None],
    answer: Told | None = None,
) -> None:
    """Serve a lab until it is told to stop; its state is kept then."""
    prepare(files)
    with locked(files):
        world = _world(files, options, doors, answer)
        world.state.repositories |= options.repositories
        tag = doors.entropy.random_bytes(4).hex()
        try:
            asyncio.run(_serve_world(world, files, options, doors, ready))
            _keep(files, world, tag)
        except PortTaken as taken:
            raise problems.port_taken(taken.address, taken.port) from None
        finally:
            files.run.unlink(missing_ok=True)  # who waits for the end finds the state kept


async def _serve_world(
    world: World,
    files: LabFiles,
    options: LabOptions,
    doors: SystemAccess,
    ready: Callable[[], None],
) -> None:
    with _scratch(files) as scratch:
        manner = ServingOptions(
            speed=options.speed,
            ssh_port=SSH_PORT,
            images_port=_IMAGES_PORT,
            objects_port=_OBJECTS_PORT,
            git_port=_GIT_PORT,
            slow_refusals=options.slow_refusals,
        )
        serving = Serving(world, manner, scratch, doors.clock.now())
        await serving.start()
        control: ControlServer | None = None
        try:
            token = doors.entropy.random_bytes(_TOKEN_BYTES).hex()
            control = ControlServer(
                serving, token, partial(_environment, serving, files, token[:8])
            )
            port = await control.start()
            content = {"pid": os.getpid(), "port": port, "token": token}
            replace_private_file(files.run, json.dumps(content).encode(), tag=token[:8])
            _listen_for_the_end(control)
            ready()
            await control.ending
        finally:
            if control is not None:
                await control.stop()
            await serving.stop()


def _environment(serving: Serving, files: LabFiles, tag: str) -> dict[str, str]:
    from stockman_lab.commands.runtime.environment import environment

    return environment(serving, files, tag=tag)


def _listen_for_the_end(control: ControlServer) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        if not control.ending.done():
            control.ending.set_result(None)

    if threading.current_thread() is not threading.main_thread():
        return  # signals reach the main thread only
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)


def prepare(files: LabFiles) -> None:
    """See to it that the files of a lab have a place."""
    try:
        files.state.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise problems.unwritable(files.state, error.strerror or "") from None


@contextmanager
def _scratch(files: LabFiles) -> Iterator[Path]:
    """A directory for what is in between; nobody else looks into it."""
    for left in files.state.parent.glob(f"{escape(files.state.name)}.*.scratch"):
        _remove(left)  # of one that was killed: nobody else serves this state
    made = files.state.with_name(f"{files.state.name}.{os.getpid()}.scratch")
    made.mkdir(mode=0o700)
    try:
        yield made
    finally:
        _remove(made)


def _remove(scratch: Path) -> None:
    for left in scratch.iterdir():
        left.unlink(missing_ok=True)
    scratch.rmdir()


@contextmanager
def locked(files: LabFiles) -> Iterator[None]:
    """Keep others from serving a state; refuses where somebody does already."""
    try:
        descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise problems.unwritable(files.state, error.strerror or "") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise problems.served_already(files.state) from None
        yield
    finally:
        os.close(descriptor)


def is_locked(files: LabFiles) -> bool:
    """Whether somebody serves a state."""
    try:
        with locked(files):
            return False
    except Conflict:
        return True


def _world(files: LabFiles, options: LabOptions, doors: SystemAccess, answer: Told | None) -> World:
    try:
        content = files.state.read_bytes()
    except FileNotFoundError:
        return _new_world(options, doors, answer)
    except OSError as error:
        raise problems.damaged(files.state, f"the system says: {error.strerror}") from None
    from stockman_lab.pve.storages.receiving import interrupted
    from stockman_lab.world.file import read_world

    try:
        world = World(read_world(content))
    except Unreadable as error:
        raise problems.damaged(files.state, str(error)) from None
    for cluster in world.clusters.values():
        interrupted(cluster)
    if options.stage == CLUSTER and not world.talos.machines:
        raise problems.not_staged(files.state)
    return world


def _new_world(options: LabOptions, doors: SystemAccess, answer: Told | None) -> World:
    from stockman_lab.world.preset import PresetOptions, preset_world

    now = doors.clock.now()
    moment = float(int(now.timestamp()))
    begin = moment - _STAGING if options.stage == CLUSTER else moment
    world = preset_world(
        PresetOptions(
            preset=options.preset,
            network=options.network,
            profile=options.profile,
            seed=options.seed,
            now=begin,
        )
    )
    if options.stage == CLUSTER:
        from stockman_lab.world.staging import Staging, stage_cluster

        staging = Staging(
            preset=options.preset,
            network=options.network,
            talos_version=options.talos_version,
            real_now=now,
            flux=True,
            told=answer,
        )
        stage_cluster(world, staging)
        world.advance(max(moment - world.now, 0.0))
    return world


def _keep(files: LabFiles, world: World, tag: str) -> None:
    from stockman_lab.world.file import world_file

    try:
        replace_private_file(files.state, world_file(world.state), tag=tag)
    except OSError as error:
        raise problems.unwritable(files.state, error.strerror or "") from None
