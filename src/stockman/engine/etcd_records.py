"""What recorded runs know of an earlier etcd of the cluster."""

from __future__ import annotations

from stockman.engine.journal import open_journal
from stockman.engine.runs import RunStore
from stockman.engine.signing import RunSigner
from stockman.engine.state import RunResult, RunState, fold_entries
from stockman.planning.talos.step_ids import BOOTSTRAP_STEP, ETCD_STEPS
from stockman.ports.system import Clock
from stockman.steps.etcd.bootstrap import BootstrapEtcd
from stockman.steps.plan import parse_plan


class EtcdRecords:
    """The runs of a cluster, back to its last completed `destroy`."""

    def __init__(self, runs: RunStore, clock: Clock, signer: RunSigner | None = None) -> None:
        """Without `signer` runs are not signed."""
        self._runs = runs
        self._clock = clock
        self._signer = signer

    async def find_earlier_etcd(self, controllers: tuple[str, ...], without: str = "") -> str:
        """Return which run, other than `without`, knows an etcd. Empty: none.

        A bootstrap that was started and never finished counts only if it had other controllers:
        those that are checked show themselves whether they have data. Raises `Refused` if a run
        cannot be read.
        """
        for run in reversed(await self._runs.list_runs()):
            if run == without:
                continue
            text = await self._runs.plan(run)
            if self._signer is not None and self._signer.is_of_another_key(text):
                continue  # Other secrets: another cluster.
            lines = await self._runs.lines(run)
            journal = await open_journal(lines, self._clock)
            state = fold_entries(run, journal.entries)
            if state.ends_cluster and state.result is RunResult.DONE:
                # An etcd is believed as it is; that it ended has to be signed.
                if self._signer is not None:
                    await open_journal(lines, self._clock, self._signer.check_run(run, text))
                return ""
            if known := await self._etcd_of_run(state, controllers):
                return f"run {run} {known}"
        return ""

    async def _etcd_of_run(self, state: RunState, controllers: tuple[str, ...]) -> str:
        for step in state.steps:
            if step.startswith(ETCD_STEPS) and state.is_done(step):
                return f"finished step {step}"
        if not state.step(BOOTSTRAP_STEP).attempts:
            return ""
        action = parse_plan(await self._runs.plan(state.run), state.run).step(BOOTSTRAP_STEP).action
        if isinstance(action, BootstrapEtcd):
            names = {machine.node for machine in action.controllers}
            if others := sorted(names - set(controllers)):
                return f"started to bootstrap it with {', '.join(others)}, which cannot be checked"
        return ""
