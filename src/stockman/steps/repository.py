"""Writes the rendered files of the repository, commits and pushes them."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from stockman.config.load import CONFIG_FILES
from stockman.model.errors import NotFound, StockmanError, Unreachable
from stockman.model.git_address import git_host
from stockman.model.record import record
from stockman.ports.repository import RemoteBranch, RepositoryState
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.kubernetes import problems
from stockman.steps.ports import Ports


@record
class WriteRenderedFiles(Action):
    """Write rendered files that differ from those on disk.

    It comes after the access stage, because rendered files contain tokens of Proxmox VE.
    """

    kind: ClassVar[str] = "tree.render"
    cluster: str

    @property
    def summary(self) -> str:
        return f"render the repository of {self.cluster}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"tree/{self.cluster}",)

    async def done(self, ports: Ports) -> bool:
        return not await ports.to_tree().changed_files()

    async def run(self, ports: Ports) -> None:
        await ports.to_tree().render()


FOLLOWED_PATHS = ("kubernetes", "bootstrap", ".sops.yaml")
"""Paths that the cluster follows."""
MANAGED_PATHS = (*FOLLOWED_PATHS, "talos", ".stockman/secrets.lock", ".stockman/rendered.lock")
"""Paths that are committed: those that the cluster follows, and files about secrets."""
REPOSITORY_PATHS = (*MANAGED_PATHS, *CONFIG_FILES, "templates", ".gitignore")
"""Paths that are committed, and the files that they are rendered from."""
_NAMED, _SHOWN = 3, 12


def files_to_commit(
    state: RepositoryState, paths: Collection[str] = FOLLOWED_PATHS
) -> tuple[str, ...]:
    """Return uncommitted files below some paths."""
    return tuple(
        path
        for path in state.dirty
        if any(path == followed or path.startswith(f"{followed}/") for followed in paths)
    )


@record
class CommitPushed(Gate):
    """The pushed commit matches the rendered tree.

    `STOP` means that the user has to commit and push.
    """

    kind: ClassVar[str] = "kube.pushed"
    branch: str
    """The branch that the cluster follows."""
    places: tuple[str, ...] = FOLLOWED_PATHS
    pull_request: str = ""
    """The branch with the commit that is to be merged. Empty: the commit is pushed directly."""

    @property
    def summary(self) -> str:
        return f"branch {self.branch} is pushed as it was rendered"

    async def check(self, ports: Ports) -> Verdict:
        why = await self.difference(ports)
        if why:
            problem = problems.missing_push(self.branch, why, self.pull_request)
            return Verdict(answer=GateAnswer.STOP, because=f"{why}; {problem.fix}")
        return Verdict(
            answer=GateAnswer.GO, because="the remote has the commit that is checked out"
        )

    async def difference(self, ports: Ports) -> str:
        """Return how the pushed commit differs. Empty: it does not."""
        repo = ports.to_repo()
        state = await repo.state()
        if state.branch != self.branch:
            return (
                f"{state.branch or 'no branch'} is checked out, the cluster follows {self.branch}"
            )
        if left := files_to_commit(state, self.places):
            named = ", ".join(left[:_NAMED])
            more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            return f"not committed: {named}{more}"
        remote = await repo.fetch()
        if remote == state.commit:
            return ""
        local = state.commit[:_SHOWN] if state.commit else "no commit"
        pushed = remote[:_SHOWN] if remote else "no such branch"
        return f"the remote has {pushed}, here is {local}"


@record
class RepositoryReadable(Gate):
    """Flux can read the branch: its deploy key is registered, and the branch exists."""

    kind: ClassVar[str] = "kube.readable"
    remote: RemoteBranch

    @property
    def summary(self) -> str:
        return f"{self.remote.url} can be read with the deploy key"

    async def check(self, ports: Ports) -> Verdict:
        repo = ports.to_repo()
        pushed = (await repo.push_target()).remote
        if pushed is None or _is_local(pushed):
            return Verdict(answer=GateAnswer.GO, because="not checked: the remote is local")
        try:
            commit = await repo.read_remote(self.remote)
        except NotFound as error:
            if error.problem.code == "repo.no-key":
                return Verdict(answer=GateAnswer.GO, because=f"not checked: {error.problem.what}")
            return self._stop(error.problem.why)
        except Unreachable as error:
            because = f"not checked, no answer to this machine: {error.problem.why}"
            return Verdict(answer=GateAnswer.GO, because=because)
        except StockmanError as error:
            return self._stop(error.problem.why)
        if commit is None:
            return self._stop(f"it has no branch {self.remote.branch}")
        return Verdict(answer=GateAnswer.GO, because=f"it has commit {commit[:_SHOWN]}")

    def _stop(self, why: str) -> Verdict:
        url = self.remote.url
        key = "check the address"
        if self.remote.key_files:
            key = "register the public part of the deploy key there, with read access"
        return Verdict(
            answer=GateAnswer.STOP, because=f"Flux could not fetch {url}: {why}", fix=key
        )


def _is_local(remote: str) -> bool:
    """Return whether a remote is a path on this machine."""
    return remote.startswith("file://") or not ("://" in remote or git_host(remote))


@record
class PushRepository(Action):
    """Commit rendered files, and push them."""

    kind: ClassVar[str] = "kube.push"
    branch: str
    message: str = "Render the cluster"
    places: tuple[str, ...] = MANAGED_PATHS
    pull_request: str = ""
    """The branch that gets the commit instead, to be merged by somebody. Empty: none."""

    @property
    def summary(self) -> str:
        if self.pull_request:
            return f"commit what was rendered, and push it as branch {self.pull_request}"
        return f"commit what was rendered, and push branch {self.branch}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"repo/{self.branch}",)

    async def done(self, ports: Ports) -> bool:
        if not await CommitPushed(branch=self.branch, places=self.places).difference(ports):
            return True
        if not self.pull_request:
            return False
        repo = ports.to_repo()
        state = await repo.state()
        is_committed = state.commit is not None and not files_to_commit(state, self.places)
        return is_committed and await repo.fetch(self.pull_request) == state.commit

    async def run(self, ports: Ports) -> None:
        repo = ports.to_repo()
        if left := files_to_commit(await repo.state(), self.places):
            await repo.commit(left, self.message)
        await repo.push(self.pull_request)
