"""The same story in both clusters, and in what they differ."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from stockman.adapters.system import SystemClock
from tests.real.kubectl.clusters import Said, Side, Watch
from tests.real.kubectl.explained import EXPLAINED
from tests.real.kubectl.plain import plain, with_sorted_managers
from tests.real.kubectl.story import Command, Story
from tests.real.waiting import rest

PATIENCE = timedelta(seconds=20)
"""How long the controllers of both clusters may take to come to the same."""
_BREATH, _LONG_BREATH = 0.3, 1.0
CLOCK = SystemClock()


@dataclass
class Difference:
    """A command that is answered otherwise by the lab."""

    command: str
    lines: list[str]

    def __str__(self) -> str:
        return "\n".join([f"$ kubectl {self.command}", *self.lines])


@dataclass
class Telling:
    """A story while it is told."""

    story: Story
    sides: tuple[Side, Side]
    pool: ThreadPoolExecutor
    found: list[Difference] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    count: int = 0
    _watching: list[tuple[Command, list[Watch]]] = field(default_factory=list)

    def tell(self) -> None:
        """All of it."""
        for command in self.story.commands:
            self.count += 1
            if "watched" in command.marks:
                self._watched()
            elif "watch" in command.marks:
                begun = [side.begin(self.count, *command.words) for side in self.sides]
                self._watching.append((command, begun))
                rest(_LONG_BREATH)
            else:
                self._compare(command)

    def _compare(self, command: Command) -> None:
        ask = _awaited if "then" in command.marks else _asked
        end, sides = CLOCK.now() + PATIENCE, self.sides
        while True:
            real, lab = self.pool.map(lambda side: ask(command, side, self.story), sides)
            lines = self._differences(command, real, lab)
            if not lines or not command.is_asked_again or CLOCK.now() > end:
                break
            rest(_BREATH)
            sides = self.sides[0].forgetful(), self.sides[1].forgetful()
        if lines:
            self.found.append(Difference(command.line, lines))

    def _watched(self) -> None:
        command, watches = self._watching.pop()
        end = CLOCK.now() + PATIENCE
        rest(_LONG_BREATH)
        while True:
            real, lab = (one.so_far() for one in watches)
            lines = self._differences(command, real, lab)
            if not lines or CLOCK.now() > end:
                break
            rest(_BREATH)
        for watch in watches:
            watch.end()
        if lines:
            self.found.append(Difference(command.line, lines))

    def _differences(self, command: Command, real: Said, lab: Said) -> list[str]:
        if "then" in command.marks:
            real, lab = Said(real.code, "", ""), Said(lab.code, "", "")
        without, other = self._shown(command, real), self._shown(command, lab)
        for reason in EXPLAINED:
            if without == other:
                return []
            if reason.fits(command.line):
                before = without, other
                without, other = reason.without(without), reason.without(other)
                if before != (without, other):
                    self.used.add(reason.name)
        if without == other:
            return []
        unified_diff = difflib.unified_diff(
            without.splitlines(), other.splitlines(), "real", "lab", "", "", 1
        )
        return [line.rstrip("\n") for line in unified_diff]

    def _shown(self, command: Command, said: Said) -> str:
        is_sorted = "sorted" in command.marks
        text = said.output
        if "--show-managed-fields" in command.words:
            text = with_sorted_managers(text)
        output = plain(text, anywhere=self.story.anywhere, is_sorted=is_sorted)
        errors = plain(said.errors, anywhere=self.story.anywhere, is_sorted=is_sorted)
        return f"{output}\n-- errors\n{errors}\n-- {said.code}"


def _asked(command: Command, side: Side, story: Story) -> Said:
    script = command.marks.get("editor")
    editor = f"sed -i {script}" if script else ""
    name = command.marks.get("stdin")
    return side.ask(*command.words, text=story.files[name] if name else "", editor=editor)


def _awaited(command: Command, side: Side, story: Story) -> Said:
    end = CLOCK.now() + PATIENCE
    while True:
        found = _asked(command, side, story)
        if not found.code or CLOCK.now() > end:
            return found
        rest(_BREATH)


NETWORK = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: network, namespace: kube-system}
spec:
  selector: {matchLabels: {app: network}}
  template:
    metadata: {labels: {app: network}}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: "example/siderolabs/flannel:v0.27.2"}]
"""


def begin(stories: Sequence[Story], sides: tuple[Side, Side]) -> None:
    """Give both clusters a network, so that nodes are ready, and make namespaces for stories."""
    made = [
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {story.name}}}\n" for story in stories
    ]
    for side in sides:
        said = side.ask("create", "-f", "-", text="---\n".join([NETWORK, *made]))
        assert said.code == 0, said.errors
    last = stories[-1].name
    for side in sides:
        for wish in (
            ("--for=create", "sa/default", "-n", last),
            ("--for=condition=Ready", "nodes", "--all"),
            ("--for=condition=Ready", "pods", "--all", "-n", "kube-system"),
        ):
            said = side.ask("wait", "--timeout=20s", *wish)
            assert said.code == 0, said.errors


def tell(story: Story, sides: tuple[Side, Side], place: Path) -> Telling:
    """Tell a story; its files lie in a directory of its own."""
    own = place / story.name
    for name, text in story.files.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text)
    own.mkdir(exist_ok=True)
    within = sides[0].within(story.name, own), sides[1].within(story.name, own)
    with ThreadPoolExecutor(2) as pool:
        telling = Telling(story, within, pool)
        telling.tell()
    return telling
