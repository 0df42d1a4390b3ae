"""The doors of what machines need from outside: images, object storage, git repositories."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from stockman_lab.doors.opening import opened
from stockman_lab.doors.premises import Premises

if TYPE_CHECKING:
    from stockman_lab.doors.git_door import GitDoor
    from stockman_lab.doors.images_door import ImagesDoor
    from stockman_lab.doors.objects_door import ObjectsDoor
    from stockman_lab.objects.state import AccessKey


class ServiceDoors:
    """Each answers where the world has an address for it."""

    def __init__(self, premises: Premises) -> None:
        self._premises = premises
        self._began = 0.0
        self._images: ImagesDoor | None = None
        self.images_place: tuple[str, int] | None = None
        """Where Image Factory and registry answer. None: nowhere."""
        self._objects: ObjectsDoor | None = None
        self.objects_place: tuple[str, int] | None = None
        """Where object storage answers. None: nowhere."""
        self._git: GitDoor | None = None
        self.git_place: tuple[str, int] | None = None
        """Where git repositories are served. None: nowhere, or there is none."""

    async def open(self) -> None:
        """Open those that are asked for; raises `PortTaken`."""
        self._began = asyncio.get_running_loop().time()
        await self._open_images()
        await self._open_objects()
        await self._open_git()

    async def stop(self) -> None:
        for door in (self._images, self._objects, self._git):
            if door is not None:
                await door.stop()
        self._images = self._objects = self._git = None

    async def _open_images(self) -> None:
        premises = self._premises
        address, port = premises.world.state.images_address, premises.manner.images_port
        if port is None or not address:
            return
        from stockman_lab.doors.images_door import ImagesDoor

        door = self._images = ImagesDoor(premises.world, premises.pace, premises.note)
        self.images_place = await opened(door.start, address, port)

    async def _open_objects(self) -> None:
        premises = self._premises
        address, port = premises.world.state.objects_address, premises.manner.objects_port
        if port is None or not address:
            return
        from stockman_lab.doors.objects_door import ObjectsDoor

        door = self._objects = ObjectsDoor(
            premises.world, premises.pace, self._real_now, premises.note
        )
        self.objects_place = await opened(door.start, address, port)

    async def _open_git(self) -> None:
        premises = self._premises
        state, port = premises.world.state, premises.manner.git_port
        if port is None or not state.objects_address or not state.repositories:
            return
        from stockman_lab.doors.git_door import GitDoor

        door = self._git = GitDoor(state.repositories, lambda: premises.world.now, premises.note)
        self.git_place = await opened(door.start, state.objects_address, port)

    def _real_now(self) -> datetime:
        """What clients take for the time, at whatever pace the world goes."""
        passed = asyncio.get_running_loop().time() - self._began
        return self._premises.now + timedelta(seconds=passed)

    def objects_key(self) -> AccessKey:
        """What opens object storage; made when first asked for."""
        from stockman_lab.objects.state import first_key

        return first_key(self._premises.world.state.objects, self._premises.world.state.dice.seed)
