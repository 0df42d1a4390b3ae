"""The file that a world is kept in: a ZIP archive of its state and of the bytes in it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

from stockman_lab.core.saved import Unreadable, plain, restored
from stockman_lab.images.blobs import Blobs
from stockman_lab.world.state import VERSION, WorldState

_STATE = "world.json"
_BLOBS = "blobs/"
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def world_file(state: WorldState) -> bytes:
    """The bytes of the file; the same world gives the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        bare = replace(state, blobs=Blobs(holders=state.blobs.holders))
        text = json.dumps(plain(bare), separators=(",", ":"))
        archive.writestr(zipfile.ZipInfo(_STATE, _NO_TIME), text)
        for name, blob in sorted(state.blobs.contents.items()):
            archive.writestr(zipfile.ZipInfo(f"{_BLOBS}{name}", _NO_TIME), blob)
    return content.getvalue()


def read_world(content: bytes) -> WorldState:
    """The world of a file; raises `Unreadable` where it is damaged or of another version."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            data = json.loads(archive.read(_STATE))
            blobs = {
                name.removeprefix(_BLOBS): archive.read(name)
                for name in archive.namelist()
                if name.startswith(_BLOBS)
            }
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        raise Unreadable(f"it is damaged ({error})") from None
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise Unreadable(f"its version is {version}, and this stockman knows {VERSION}")
    state = restored(WorldState, data)
    state.blobs.contents = blobs
    return state
