"""What has to hold in a world after every step of every run, whatever goes wrong.

Each function returns what is broken, in words; nothing: it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stockman_lab.talos.etcd_member import alive

from stockman.engine.journal import EntryType, JournalEntry, parse_journal
from stockman.engine.state import RunResult, fold_entries
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.scene import Life, Scene

Check = Callable[["Watch"], Iterator[str]]


@dataclass
class Watch:
    """What is remembered from the beginning of a scene, to be compared with."""

    scene: Scene
    secrets: tuple[str, ...] = ()
    """Texts that must be nowhere."""
    had_quorum: bool = False
    """Whether etcd ever had a quorum, so that it may not lose it."""
    answered: bool = False
    is_broken: bool = False
    """Whether a fault takes machines or hosts away, so that etcd and the API may suffer."""
    foreign: dict[int, str] = field(default_factory=dict)
    """Guests that are not ours, by number, with their names."""
    flaws: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.foreign |= dict(_foreign(self.scene))

    def __call__(self, entry: JournalEntry) -> None:
        """Look at everything after an entry of the journal."""
        for check in AFTER_EACH_STEP:
            name = check.__name__
            self.flaws += [
                f"{name} after {entry.event.value} {entry.step}: {flaw}" for flaw in check(self)
            ]

    def over(self, life: Life) -> list[str]:
        """Look at everything after a run."""
        last = (nothing_is_left_over,) if life.is_done else ()
        for check in (*AFTER_EACH_STEP, *AFTER_A_RUN, *last):
            name = check.__name__
            self.flaws += [f"{name} in the end: {flaw}" for flaw in check(self)]
        return self.flaws


def i1_etcd_keeps_its_quorum(watch: Watch) -> Iterator[str]:
    """Voting members that are well are at least a quorum, once they were."""
    for etcd in watch.scene.world.state.talos.etcd.values():
        voters = {name for name, member in etcd.members.items() if not member.is_learner}
        count = len(voters & alive(watch.scene.world.talos, etcd))
        if count >= len(voters) // 2 + 1:
            watch.had_quorum = True
        elif watch.had_quorum and not watch.is_broken:
            yield f"{count} of {len(voters)} voters are well"


def i2_the_api_answers(watch: Watch) -> Iterator[str]:
    """A controller serves the API, once one did."""
    from stockman_lab.talos.status import has_static_pods

    serving = any(
        has_static_pods(machine) and machine.runs("kubelet")
        for machine in watch.scene.world.talos.on()
        if machine.is_controlplane
    )
    if watch.answered and not serving and not watch.is_broken:
        yield "no controller serves the API"
    watch.answered = watch.answered or serving


def i3_no_more_workers_are_away_than_may_be(watch: Watch) -> Iterator[str]:
    """`apply` takes down one machine at a time; new ones do not count before they are ready."""
    if watch.is_broken:
        return
    down = [
        machine.hostname
        for machine in watch.scene.world.talos.machines
        if not machine.is_on and machine.state.boot > 0 and machine.state.config
    ]
    if len(down) > 1:
        yield f"{', '.join(down)} are away at the same time"


def i4_no_budget_is_broken(watch: Watch) -> Iterator[str]:
    """Pods are evicted, and never deleted, by us: the API server itself refuses what breaks a
    budget."""
    for process in watch.scene.processes:
        for call in process.writes:
            if (
                call.system == "kubernetes"
                and call.what.startswith("DELETE")
                and "/pods/" in call.what
            ):
                yield f"{call} goes round disruption budgets"


def i5_nothing_foreign_is_destroyed(watch: Watch) -> Iterator[str]:
    """Guests that are not ours are there, with their names."""
    current = dict(_foreign(watch.scene))
    for vmid, name in watch.foreign.items():
        if current.get(vmid) != name:
            yield f"guest {vmid} ({name}) is {current.get(vmid, 'gone')}"


def i6_everything_is_given_back(watch: Watch) -> Iterator[str]:
    """Runs that ended hold nothing."""
    for run, content in watch.scene.kept.journals.items():
        state = fold_entries(run, parse_journal(content, run)[0])
        if state.result in (RunResult.DONE, RunResult.ABORTED) and state.held:
            yield f"run {run} holds {list(state.held)}"


def i7_nothing_is_done_twice(watch: Watch) -> Iterator[str]:
    """Guests are made once, and etcd begins once."""
    once: Counter[str] = done_with_effect(watch.scene.world)
    for name, count in once.items():
        startswith = name.startswith(
            ("task qmcreate", "etcd began", "created secrets/", "created names")
        )
        if startswith and count > 1 + watch.scene.allowed[name]:
            yield f"{name} {count} times"


def i8_one_holder_at_a_time(watch: Watch) -> Iterator[str]:
    """Tokens of journals grow: nobody acted with an older one after a newer was given out."""
    last = 0
    for run in sorted(watch.scene.kept.journals):
        for entry in parse_journal(watch.scene.kept.journals[run], run)[0]:
            token = entry.data.get("token")
            if entry.event is EntryType.STARTED and isinstance(token, int):
                if token < last:
                    yield f"run {run} acted with token {token} after {last}"
                last = max(last, token)


def i10_whoever_stops_says_why(watch: Watch) -> Iterator[str]:
    """Runs that did not end well tell a problem, with what to do about it."""
    for run, content in watch.scene.kept.journals.items():
        state = fold_entries(run, parse_journal(content, run)[0])
        if state.result not in (RunResult.FAILED, RunResult.REFUSED):
            continue
        reasons = [step.problem for step in state.steps.values() if step.problem is not None]
        if not reasons and not any(step.gate for step in state.steps.values()):
            yield f"run {run} ended as {state.result.value} and says nothing"


def i11_no_secret_is_told(watch: Watch) -> Iterator[str]:
    """Journals and plans hold no secret."""
    kept = watch.scene.kept
    output = b"".join(kept.journals.values()).decode() + "".join(kept.plans.values())
    yield from (f"{secret[:4]}... is told" for secret in watch.secrets if secret in output)


def nothing_is_left_over(watch: Watch) -> Iterator[str]:
    """Guests of ours refer to all volumes with their number: nothing half copied lies about, and no
    image with a configuration."""
    for cluster in watch.scene.world.clusters.values():
        for volume in cluster.state.volumes.values():
            if volume.content == "iso" and volume.id.partition(":iso/")[2].startswith("stockman"):
                yield f"{volume.id} holds secrets"
            guest = cluster.state.guests.get(volume.vmid)
            ours = guest is not None and "stockman" in guest.config.values.get("tags", "")
            if guest is not None and ours and volume.content == "images":
                volumes = [value.split(",")[0] for value in guest.config.values.values()]
                if volume.id not in volumes:
                    yield f"nobody knows of {volume.id}"


NOT_HERE = {
    "I9": "snapshots before changes of controllers belong to `upgrade` and `backup`",
    "I12": "fallback slots belong to `upgrade`: `apply` installs no other version",
}
"""Invariants that nothing of `apply` can break, and why."""

AFTER_EACH_STEP: tuple[Check, ...] = (
    i1_etcd_keeps_its_quorum,
    i2_the_api_answers,
    i3_no_more_workers_are_away_than_may_be,
    i5_nothing_foreign_is_destroyed,
)
AFTER_A_RUN: tuple[Check, ...] = (
    i4_no_budget_is_broken,
    i6_everything_is_given_back,
    i7_nothing_is_done_twice,
    i8_one_holder_at_a_time,
    i10_whoever_stops_says_why,
    i11_no_secret_is_told,
)


def _foreign(scene: Scene) -> Iterator[tuple[int, str]]:
    for cluster in scene.world.clusters.values():
        for vmid, guest in cluster.state.guests.items():
            values = guest.config.values
            if "stockman" not in values.get("tags", "") and values.get("name"):
                yield vmid, values["name"]
