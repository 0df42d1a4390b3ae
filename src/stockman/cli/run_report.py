"""The end of a run: what came of it, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stockman.app.applying import waits_for_push, waits_for_window
from stockman.cli.durations import duration
from stockman.cli.layout import WIDEST_HELP, examples
from stockman.cli.live_progress import Counts, counts
from stockman.cli.output import Output, envelope, show
from stockman.cli.paint import visible
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.screen import Screen, current
from stockman.cli.tables import wrapped
from stockman.engine.executor import Outcome
from stockman.engine.holding import hold_name
from stockman.engine.state import Progress, Result
from stockman.model.record import record
from stockman.steps.plan import Plan

_COMMIT = 'git add --all && git commit -m "Render" && git push'
_STYLES = {
    Result.DONE: "good",
    Result.FAILED: "error",
    Result.REFUSED: "error",
    Result.PAUSED: "warning",
}

_MIDDLE = (Progress.RUNNING, Progress.UNKNOWN)


@record
class Ended:
    """A run that this process carried out, or a part of it."""

    outcome: Outcome
    plan: Plan
    seconds: float
    """How long it took here."""

    @property
    def counts(self) -> Counts:
        return counts(self.plan, self.outcome.state)

    @property
    def next(self) -> dict[str, str]:
        """Command lines that make sense now, and what each does."""
        run = self.outcome.state.run
        on = f"stockman runs resume {run}"
        if waits_for_push(self.outcome):
            return {
                _COMMIT: "commit and push what was rendered: the cluster follows it",
                on: "then go on",
                "stockman apply --push": "or have both done for you",
            }
        if waits_for_window(self.outcome):
            return {
                on: "go on, once the window is open",
                "stockman apply --any-time": "or restart machines now",
            }
        match self.outcome.result:
            case Result.FAILED | Result.REFUSED:
                first = "go on, once what is said above is put right"
            case Result.PAUSED:
                first = "go on where it stopped"
            case Result.ABORTED | Result.DONE:
                return {}
        return {on: first, f"stockman runs abort {run}": "give it up, and give back what it holds"}


def show_end(ended: Ended, output: Output) -> None:
    """Print problems to stderr, and the summary to stdout; `-o json` is the last of many lines."""
    screen = current()
    if output is Output.JSON:
        import json

        document = envelope("RunOutcome", ended_data(ended))
        screen.data(json.dumps(document, ensure_ascii=not screen.takes_unicode))
        return
    if ended.outcome.problems:
        lines = problem_lines(
            ended.outcome.problems, paint=screen.notes_paint, width=screen.notes_width
        )
        screen.complain([*lines, ""])
    human = end_lines(ended, screen)
    show(ended_data(ended), kind="RunOutcome", output=output, human=lambda _, __: human)


def end_lines(ended: Ended, screen: Screen) -> Iterator[str]:
    """The summary for people."""
    outcome, found = ended.outcome, ended.counts
    head = f"run {outcome.state.run}: {outcome.result.value} after {duration(ended.seconds)}"
    yield from _fitted(head, screen, _STYLES.get(outcome.result, ""))
    told = [f"{found.done} done", f"{found.already} true already", f"{found.failed} failed"]
    if left := found.steps - found.finished - found.failed:
        told.append(f"{left} not finished")
    count = "1 step" if found.steps == 1 else f"{found.steps} steps"
    yield from _fitted(f"{count}: {', '.join(told)}", screen)
    for text in _in_the_middle(ended):
        yield from _fitted(f"stopped in the middle of: {text}", screen, "warning")
    for held in outcome.state.held.values():
        yield from _fitted(f"still held: {hold_name(held)}", screen, "warning")
    if ended.next:
        yield ""
        yield from examples(ended.next, screen.width or WIDEST_HELP)


def _in_the_middle(ended: Ended) -> list[str]:
    """Steps that may have had their effect or not; whoever goes on looks first."""
    steps = ended.outcome.state.steps
    return [
        f"{step.action.summary} ({step.id})"
        for step in ended.plan.steps
        if step.id in steps and steps[step.id].progress in _MIDDLE
    ]


def _fitted(text: str, screen: Screen, style: str = "") -> Iterator[str]:
    shown = visible(text)
    lines = [shown] if screen.width is None else wrapped(shown, screen.width)
    return (screen.paint(line, style) for line in lines)


def ended_data(ended: Ended) -> dict[str, Any]:
    """The same for programs."""
    found, state = ended.counts, ended.outcome.state
    return {
        "run": state.run,
        "cluster": ended.plan.cluster,
        "result": ended.outcome.result,
        "seconds": round(ended.seconds, 3),
        "counts": {
            "steps": found.steps,
            "done": found.done,
            "already": found.already,
            "failed": found.failed,
        },
        "problems": [problem_data(one) for one in ended.outcome.problems],
        "in_the_middle": _in_the_middle(ended),
        "held": [hold_name(one) for one in state.held.values()],
        "next": list(ended.next),
        "state": state,
    }
