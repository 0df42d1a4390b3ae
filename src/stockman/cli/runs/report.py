"""The beginning of a run on the screen: its plan, or why there is no run.

For programs everything is lines of JSON from here on, see `plan_events.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from stockman.cli.output import Output
from stockman.cli.terminal.screen import current_screen
from stockman.model.errors import StockmanError

if TYPE_CHECKING:
    from stockman.cli.plans.data import PlanView
    from stockman.planning.planned import Planned
    from stockman.ports.system import Clock
from typing import Any

from stockman.app.runs.apply import waits_for_push, waits_for_window
from stockman.cli.live.progress import Counts, count_results
from stockman.cli.output import envelope, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.terminal.durations import format_duration
from stockman.cli.terminal.layout import MAX_HELP_WIDTH, examples
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import wrap
from stockman.engine.executor import RunOutcome
from stockman.engine.holds import hold_summary
from stockman.engine.state import RunResult as Result
from stockman.engine.state import StepProgress
from stockman.model.record import record
from stockman.steps.plan import Plan


def show_run_plan(view: PlanView, at: datetime, output: Output) -> None:
    """Print what is going to be carried out, with its warnings."""
    if output is Output.JSON:
        from stockman.cli.plans.data import plan_events

        _print(plan_events(view, at))
        return
    from stockman.cli.plans.view import show_plan

    show_plan(view, output)


def show_refused_plan(found: Planned, at: datetime, output: Output) -> None:
    """Print why nothing is carried out."""
    from stockman.cli.plans.view import show_refusal

    if output is Output.JSON:
        from stockman.cli.plans.data import problem_events

        _print(problem_events(found.problems, at))
    show_refusal(found.plan, found.problems, Output.TABLE if output is Output.JSON else output)


@contextmanager
def report_problems_as_events(output: Output, clock: Clock) -> Iterator[None]:
    """Programs that read lines get what stopped a command as the last of them."""
    try:
        yield
    except StockmanError as error:
        if output is Output.JSON:
            from stockman.cli.plans.data import problem_events

            _print(problem_events([error.problem], clock.now()))
        raise


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        current_screen().data(line)


_COMMIT = 'git add --all && git commit -m "Render" && git push'
_STYLES = {
    Result.DONE: "good",
    Result.FAILED: "error",
    Result.REFUSED: "error",
    Result.PAUSED: "warning",
}

_UNCERTAIN = (StepProgress.RUNNING, StepProgress.UNKNOWN)


@record
class RunResult:
    """A run that this process carried out, or a part of it."""

    outcome: RunOutcome
    plan: Plan
    seconds: float
    """How long it took here."""

    @property
    def counts(self) -> Counts:
        return count_results(self.plan, self.outcome.state)

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


def show_result(ended: RunResult, output: Output) -> None:
    """Print problems to stderr, and the summary to stdout; `-o json` is the last of many lines."""
    screen = current_screen()
    if output is Output.JSON:
        import json

        document = envelope("RunOutcome", run_result_data(ended))
        screen.data(json.dumps(document, ensure_ascii=not screen.takes_unicode))
        return
    if ended.outcome.problems:
        lines = problem_lines(
            ended.outcome.problems, paint=screen.notes_paint, width=screen.notes_width
        )
        screen.complain([*lines, ""])
    human = result_lines(ended, screen)
    show(run_result_data(ended), kind="RunOutcome", output=output, human=lambda _, __: human)


def result_lines(ended: RunResult, screen: Screen) -> Iterator[str]:
    """The summary for people."""
    outcome, found = ended.outcome, ended.counts
    head = f"run {outcome.state.run}: {outcome.result.value} after {format_duration(ended.seconds)}"
    yield from _fit(head, screen, _STYLES.get(outcome.result, ""))
    told = [f"{found.done} done", f"{found.already} true already", f"{found.failed} failed"]
    if left := found.steps - found.finished - found.failed:
        told.append(f"{left} not finished")
    count = "1 step" if found.steps == 1 else f"{found.steps} steps"
    yield from _fit(f"{count}: {', '.join(told)}", screen)
    for text in _uncertain_steps(ended):
        yield from _fit(f"stopped in the middle of: {text}", screen, "warning")
    for held in outcome.state.held.values():
        yield from _fit(f"still held: {hold_summary(held)}", screen, "warning")
    if ended.next:
        yield ""
        yield from examples(ended.next, screen.width or MAX_HELP_WIDTH)


def _uncertain_steps(ended: RunResult) -> list[str]:
    """Steps that may have had their effect or not; whoever goes on looks first."""
    steps = ended.outcome.state.steps
    return [
        f"{step.action.summary} ({step.id})"
        for step in ended.plan.steps
        if step.id in steps and steps[step.id].progress in _UNCERTAIN
    ]


def _fit(text: str, screen: Screen, style: str = "") -> Iterator[str]:
    shown = escape_control(text)
    lines = [shown] if screen.width is None else wrap(shown, screen.width)
    return (screen.paint(line, style) for line in lines)


def run_result_data(ended: RunResult) -> dict[str, Any]:
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
        "in_the_middle": _uncertain_steps(ended),
        "held": [hold_summary(one) for one in state.held.values()],
        "next": list(ended.next),
        "state": state,
    }
