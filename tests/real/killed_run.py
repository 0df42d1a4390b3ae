"""A process that carries out a small plan on files, until somebody kills it.

Each effect appends a line to a file of its own, so that one too many would be seen.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from stockman.adapters.system import SystemEntropy, SystemTimekeeper
from stockman.app.runs.history import local_run_store
from stockman.engine.context import RunSettings
from stockman.engine.journal import open_journal
from stockman.engine.lifecycle import RunHome, resume_run, start_run
from stockman.engine.state import fold_entries
from stockman.steps.ports import Ports
from tests.engine.storage import Storage, Stored
from tests.engine.toys import Exists, Flag, make, plan_of, way

PLAN = plan_of(
    *(make(f"s{number}", holds=(Flag(name="red"),)) for number in range(6)),
    make("last", *(f"s{number}" for number in range(6)), gates=(Exists(key="s0"),)),
)


class Files(Stored):
    """`Objects` in a directory; every call takes a moment."""

    def __init__(self, directory: Path) -> None:
        super().__init__(Storage())
        self._directory = directory
        self._clock = SystemTimekeeper()

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        content = b"".join([piece async for piece in pieces])
        await self._clock.sleep(0.004)
        file = self._directory / key.replace("/", "-")
        if key.startswith("flag/"):
            file.write_bytes(content)
        else:
            with file.open("ab") as there:
                there.write(content + b"\n")
        await self._clock.sleep(0.004)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        await self._clock.sleep(0.002)
        file = self._directory / key.replace("/", "-")
        yield file.read_bytes() if file.exists() else b""


async def carry_out(directory: Path) -> None:
    clock = SystemTimekeeper()
    home = local_run_store(directory, clock)
    ports = Ports(clock=clock, entropy=SystemEntropy(), objects=Files(directory))
    how = way(settings=RunSettings(max_parallel=3))
    open_run = await _open_run(home, clock)
    if open_run is None:
        await start_run(home, PLAN, ports, how)
    else:
        await resume_run(home, open_run, ports, how)


async def _open_run(home: RunHome, clock: SystemTimekeeper) -> str | None:
    for run in reversed(await home.runs.list_runs()):
        state = fold_entries(run, (await open_journal(await home.runs.lines(run), clock)).entries)
        return None if state.result is not None and state.result.is_final else run
    return None


if __name__ == "__main__":
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    asyncio.run(carry_out(Path(sys.argv[1])))
