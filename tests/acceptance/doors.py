"""Doors that are no wires: files of a directory, journals, the lock. They are counted as well."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from stockman.adapters.git.repository import LocalGitRepository
from stockman.engine.lock import LockHolder
from stockman.model.errors import Locked, NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.ports.repository import (
    Commit,
    PushTarget,
    RemoteBranch,
    RenderedTree,
    RepositoryState,
    TreeFile,
)
from stockman.steps.secret_ref import SecretRef, Secrets
from tests.acceptance.loop import WorldLoop
from tests.acceptance.process import Call, Process

T = TypeVar("T")


async def count_call(
    process: Process, system: str, what: str, work: Callable[[], Awaitable[T]], *, is_write: bool
) -> T:
    """A call, counted before and after."""
    call = Call(system, what, is_write=is_write)
    process.before(call)
    result = await work()
    process.after(call)
    return result


class CountedRepo:
    """`ports.repo.Repo` by the real git, which takes real time and none of the world's."""

    def __init__(self, inner: LocalGitRepository, process: Process) -> None:
        self._inner = inner
        self._process = process

    async def _count(
        self, what: str, work: Callable[[], Awaitable[T]], *, is_write: bool = False
    ) -> T:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, WorldLoop):
            return await count_call(self._process, "repo", what, work, is_write=is_write)
        with loop.asking_outside():
            return await count_call(self._process, "repo", what, work, is_write=is_write)

    async def state(self) -> RepositoryState:
        return await self._count("state", self._inner.state)

    async def push_target(self) -> PushTarget:
        return await self._count("push_target", self._inner.push_target)

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        work = lambda: self._inner.commit(paths, message)  # noqa: E731
        return await self._count("commit", work, is_write=True)

    async def push(self, branch: str = "") -> None:
        await self._count("push", lambda: self._inner.push(branch), is_write=True)

    async def read_remote(self, remote: RemoteBranch) -> str | None:
        return await self._count("read_remote", lambda: self._inner.read_remote(remote))

    async def fetch(self, branch: str = "") -> str | None:
        return await self._count("fetch", lambda: self._inner.fetch(branch))

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        return await self._count("tree", lambda: self._inner.tree(commit, folder))

    async def read(self, commit: str, path: str) -> bytes:
        return await self._count("read", lambda: self._inner.read(commit, path))

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        work = lambda: self._inner.commits(until, since=since, path=path, most=most)  # noqa: E731
        return await self._count("commits", work)


class CountedSecrets:
    """`steps.secret_ref.Secrets`; only what is written is a call."""

    def __init__(self, inner: Secrets, process: Process) -> None:
        self._inner = inner
        self._process = process

    async def read(self, ref: SecretRef) -> Secret:
        return await self._inner.read(ref)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        work = lambda: self._inner.write(ref, secret)  # noqa: E731
        await count_call(self._process, "secrets", ref.place, work, is_write=True)


class CountedTree:
    """`ports.tree.Tree`."""

    def __init__(self, inner: RenderedTree, process: Process) -> None:
        self._inner = inner
        self._process = process

    async def changed_files(self) -> tuple[str, ...]:
        return await self._inner.changed_files()

    async def render(self) -> None:
        await count_call(self._process, "tree", "render", self._inner.render, is_write=True)


@dataclass
class Kept:
    """What outlives a process: plans and journals by run, and who holds the lock."""

    plans: dict[str, str] = field(default_factory=dict)
    journals: dict[str, bytes] = field(default_factory=dict)
    token: int = 0
    holder: Process | None = None

    def copy(self) -> Kept:
        """The same, as another process finds it: who held the lock is dead."""
        return Kept(plans=dict(self.plans), journals=dict(self.journals), token=self.token)


class KeptLines:
    """`engine.journal.Lines` of one run."""

    def __init__(self, kept: Kept, run: str, process: Process) -> None:
        self._kept = kept
        self._run = run
        self._process = process

    @property
    def location(self) -> str:
        return f"runs/{self._run}/journal.jsonl"

    async def read(self) -> bytes:
        found = self._kept.journals.get(self._run, b"")
        return found[: found.rfind(b"\n") + 1]

    async def append(self, first: int, lines: bytes) -> None:
        for number, line in enumerate(lines.splitlines(keepends=True), first):
            said, name = _said(line)
            call = Call("journal", f"{number} {said}", is_write=True, about=name)
            self._process.before(call)
            read = await self.read()  # what was torn is overwritten
            if read.count(b"\n") != number - 1:
                raise Refused(_problem("journal.taken", "somebody else wrote"))
            self._kept.journals[self._run] = read + line
            self._process.after(call)


def _said(line: bytes) -> tuple[str, str]:
    """What an entry says in short, and with what tells it from others of the same step."""
    body = json.loads(line)[0]
    short, data = f"{body['event']} {body.get('step', '')}".strip(), body.get("data", {})
    more = [str(data[name]) for name in ("gate", "answer", "key", "result") if name in data]
    return short, " ".join([short, *more])


class KeptRuns:
    """`engine.runs.Runs` that outlive a process."""

    def __init__(self, kept: Kept, process: Process) -> None:
        self._kept = kept
        self._process = process

    @property
    def location(self) -> str:
        return "runs"

    async def create(self, run: str, plan: str) -> KeptLines:
        call = Call("journal", "plan", is_write=True)
        self._process.before(call)
        self._kept.plans[run] = plan
        self._process.after(call)
        return await self.lines(run)

    async def list_runs(self) -> tuple[str, ...]:
        return tuple(sorted(self._kept.plans))

    async def lines(self, run: str) -> KeptLines:
        await self.plan(run)
        return KeptLines(self._kept, run, self._process)

    async def plan(self, run: str) -> str:
        if run not in self._kept.plans:
            raise NotFound(_problem("run.unknown", run))
        return self._kept.plans[run]


class KeptLock:
    """`engine.lock.LockHome`: free when the process that had it is dead, as the kernel has it."""

    def __init__(self, kept: Kept, process: Process) -> None:
        self._kept = kept
        self._process = process

    async def acquire(self, holder: LockHolder) -> KeptTenure:
        call = Call("lock", "acquire", is_write=True)
        self._process.before(call)
        before = self._kept.holder
        if before is not None and not before.is_dead:
            raise Locked(_problem("lock.held", holder.name))
        self._kept.holder = self._process
        self._kept.token += 1
        self._process.after(call)
        return KeptTenure(self._kept, self._process, self._kept.token)

    async def held_by(self) -> str:
        holder = self._kept.holder
        return "" if holder is None or holder.is_dead else "another process"


class KeptTenure:
    """`engine.lock.Tenure`."""

    def __init__(self, kept: Kept, process: Process, token: int) -> None:
        self._kept = kept
        self._process = process
        self._token = token

    @property
    def token(self) -> int:
        return self._token

    async def check(self) -> None:
        if self._kept.token != self._token:
            raise Refused(_problem("lock.lost", "somebody else has it"))

    async def renew(self) -> None:
        await self.check()

    async def release(self) -> None:
        call = Call("lock", "release", is_write=True)
        self._process.before(call)
        if self._kept.token == self._token:
            self._kept.holder = None
        self._process.after(call)


def _problem(code: str, why: str) -> Problem:
    return Problem(code=code, what=code, why=why, fix="look")
