"""Stories by chance: random faults at random moments, kills in between, and a healthy end.

    PYTHONPATH=src:. python -m tests.acceptance.seeds [--long] SEED

tells what happens under one seed; `--long` as `make soak` tells it.
"""

from __future__ import annotations

import random  # noqa: TID251  # a seed tells a whole story
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.host_power import give_power

from stockman.app.runs.plans import PlanOptions
from stockman.steps.step import Stage
from tests.acceptance.fault_scenes import VMS, one_less, one_more
from tests.acceptance.invariants import Watch
from tests.acceptance.process import Process
from tests.acceptance.reference import Reference
from tests.acceptance.scene import PUSHING, Life, Scene, fresh
from tests.acceptance.troubles import taken_back

SHORT = (("machines", 94), ("one more", 3), ("one less", 3))
"""What stories are about, and how often: VMs made from images, a worker that comes or goes."""
LONG = (("machines", 40), ("one more", 30), ("one less", 30))
_LIVES = 2
"""With trouble."""
_FINAL = 3
"""Without any: others may have to be waited for, and a plan may have to be made anew."""
_HALF_MADE = "makes it any more"
"""What is said of guests that a host left half made when it died; only root can remove them."""


@dataclass
class Story:
    """What happened under a seed."""

    seed: int
    is_long: bool = False
    about: str = ""
    told: list[str] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)

    @property
    def replay(self) -> str:
        option = "--long " if self.is_long else ""
        return f"PYTHONPATH=src:. python -m tests.acceptance.seeds {option}{self.seed}"


@cache
def with_access() -> Reference:
    """Hosts that know stockman, and nothing else."""
    scene = Scene.made(fresh() / "access")
    life = scene.apply(wish=PlanOptions(only=(Stage.ACCESS,)))
    assert life.is_done, life.why
    return Reference(life, scene.snapshot())


def story(seed: int, root: Path, *, is_long: bool = False) -> Story:
    """Live through whatever a seed has in store."""
    dice, kinds = random.Random(seed), LONG if is_long else SHORT
    about = dice.choices([name for name, _ in kinds], [weight for _, weight in kinds])[0]
    story = Story(seed, is_long, about)
    scene, wish = _scene(about, root)
    watch = Watch(scene, is_broken=True)
    for _ in range(dice.randint(1, _LIVES)):
        for _ in range(dice.randint(0, 2)):
            fault = _fault(dice, scene)
            scene.world.faults.add(fault)
            story.told.append(f"{fault.point.value} {fault.effect.value} {fault.match}")
        scene.world.strike()
        process = Process(dies_at=dice.randint(1, 600) if dice.random() < 0.6 else 0)
        life = _live_once(scene, wish, process, resumes=dice.random() < 0.5, watch=watch)
        story.told.append(_told(life))
        scene.world.advance(dice.choice((0.0, 1.0, 30.0, 300.0)))
    _calm(scene)
    life = _heal(scene, wish, watch, story)
    if life.is_done:
        left = _left(scene, wish)
        if left and life.planned is None:
            # A plan that was made in trouble was finished, and had told what it leaves.
            life = scene.apply(None, wish, watchers=(watch,))
            story.told.append(f"then {_told(life)}")
            left = _left(scene, wish)
        story.flaws += [f"{left} is left"] if left else []
    elif not _needs_a_hand(life):
        story.flaws.append(f"it does not end: {life.why} {life.refused} {life.outcome}")
    story.flaws += watch.over(life)
    return story


def _left(scene: Scene, wish: PlanOptions) -> list[str]:
    return [step.id for step in scene.plan(wish).plan.steps]


def _needs_a_hand(life: Life) -> bool:
    told = life.outcome.problems if life.outcome is not None else ()
    return any(_HALF_MADE in one.why for one in (*life.refused, *told))


def _scene(about: str, root: Path) -> tuple[Scene, PlanOptions]:
    if about == "one more":
        return one_more(root), PUSHING
    if about == "one less":
        return one_less(root), PUSHING
    return with_access().scene(root), VMS


def _live_once(
    scene: Scene, wish: PlanOptions, process: Process, *, resumes: bool, watch: Watch
) -> Life:
    if resumes and scene.kept.plans:
        life = scene.resume(process, watchers=(watch,))
        if life.why != ["run.over"]:
            return life
    return scene.apply(process, wish, watchers=(watch,))


def _heal(scene: Scene, wish: PlanOptions, watch: Watch, told: Story) -> Life:
    """Go on without trouble until it is done, or stays refused."""
    life = _live_once(scene, wish, Process(), resumes=True, watch=watch)
    for _ in range(_FINAL):
        told.told.append(_told(life))
        if life.is_done:
            break
        scene.world.advance(900.0)
        life = scene.apply(None, wish, watchers=(watch,))
    return life


def _calm(scene: Scene) -> None:
    taken_back(scene)
    for cluster in scene.world.clusters.values():
        for host in cluster.state.hosts.values():
            if not host.has_power:
                give_power(cluster, host)
                scene.world.advance(900.0)


def _told(life: Life) -> str:
    if life.was_killed:
        return f"killed at {life.process.passed}: {life.process.points[-1][1]}"
    return "done" if life.is_done else f"stopped: {life.why}"


def _fault(dice: random.Random, scene: Scene) -> Fault:
    """Something that goes wrong."""
    now = scene.world.now
    times, skip = dice.randint(1, 3), dice.randint(0, 40)
    api = {"method": dice.choice(("GET", "POST", "PUT")), "path": "/nodes/*"}
    kinds = (
        Fault(Point.REQUEST, Effect.FAIL, api, status=596, times=times, skip=skip),
        Fault(Point.REQUEST, Effect.FAIL, api, status=500, times=1, skip=skip),
        Fault(Point.REQUEST, Effect.CUT, api, times=times, skip=skip),
        Fault(Point.REQUEST, Effect.DO_THEN_CUT, api, times=times, skip=skip),
        Fault(Point.REQUEST, Effect.DELAY, api, seconds=20.0, times=times, skip=skip),
        Fault(Point.TASK, Effect.FAIL, times=1, skip=dice.randint(0, 8)),
        Fault(Point.TASK, Effect.DO_THEN_FAIL, times=1, skip=dice.randint(0, 8)),
        Fault(Point.TASK, Effect.DELAY, seconds=dice.choice((5.0, 120.0)), times=times),
        Fault(Point.DOWNLOAD, Effect.CORRUPT, message="truncated"),
        Fault(Point.DOWNLOAD, Effect.FAIL),
        Fault(Point.ALLOCATE, Effect.FAIL, times=1, skip=dice.randint(0, 6)),
        Fault(Point.RESOURCES, Effect.LIE, seconds=30.0, until=now + 120.0, times=None),
        Fault(Point.QUORUM, Effect.FAIL, since=now + 2.0, until=now + 60.0, times=None),
        Fault(Point.HOST, Effect.KILL, {"node": dice.choice(("neo", "niobe"))},
              since=now + dice.choice((1.0, 5.0, 60.0))),
        Fault(Point.BOOT, Effect.DELAY, seconds=200.0, times=times),
        Fault(Point.TALOS_CALL, Effect.CUT, times=times, skip=skip),
        Fault(Point.TALOS_CALL, Effect.FAIL, times=times, skip=skip),
        Fault(Point.KUBERNETES, Effect.FAIL, status=500, times=times, skip=skip),
        Fault(Point.KUBERNETES, Effect.FAIL, status=429, seconds=2.0, times=times, skip=skip),
        Fault(Point.KUBERNETES, Effect.DO_THEN_CUT, times=times, skip=skip),
        Fault(Point.AUTHENTICATE, Effect.FAIL, times=times, skip=skip),
    )  # fmt: skip
    return dice.choice(kinds)


def main() -> int:
    """Tell the stories of seeds that are named."""
    failed = 0
    is_long = "--long" in sys.argv
    for word in (one for one in sys.argv[1:] if one.isdigit()):
        root = Path(tempfile.mkdtemp())
        found = story(int(word), root / "scene", is_long=is_long)
        shutil.rmtree(root, ignore_errors=True)
        failed += bool(found.flaws)
        lines = [f"seed {found.seed}: {found.about}", *found.told, *found.flaws]
        sys.stdout.write("\n  ".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
