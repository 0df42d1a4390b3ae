"""Show how a run starts and ends, and what to do next.

For programs, everything is printed as JSON lines, see `stockman.cli.plans.data`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from stockman.app.runs.apply import waits_for_push, waits_for_window
from stockman.cli.live.progress import Counts, count_results
from stockman.cli.output import Exit, Output, envelope, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.layout import MAX_HELP_WIDTH, examples
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control, format_duration
from stockman.cli.terminal.tables import wrap
from stockman.engine.executor import RunOutcome
from stockman.engine.holds import hold_summary
from stockman.engine.state import RunResult as Result
from stockman.engine.state import StepProgress
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.steps.plan import Plan

if TYPE_CHECKING:
    from stockman.cli.plans.data import PlanView
    from stockman.planning.planned import Planned
    from stockman.ports.system import Clock


def show_run_plan(view: PlanView, at: datetime, output: Output) -> None:
    """Print the plan that is going to be executed, with its warnings."""
    if output is Output.JSON:
        from stockman.cli.plans.data import plan_events

        _print(plan_events(view, at))
        return
    from stockman.cli.plans.view import show_plan

    show_plan(view, output)


def show_refused_plan(planned: Planned, at: datetime, output: Output) -> None:
    """Print why nothing is executed."""
    from stockman.cli.plans.view import show_refusal

    if output is Output.JSON:
        from stockman.cli.plans.data import problem_events

        _print(problem_events(planned.problems, at))
    show_refusal(planned.plan, planned.problems, Output.TABLE if output is Output.JSON else output)


@contextmanager
def report_problems_as_events(output: Output, clock: Clock) -> Iterator[None]:
    """Print the error that ends a command as the last JSON line, for programs."""
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
    """The result of a run, or of the part that this process executed."""

    outcome: RunOutcome
    plan: Plan
    seconds: float
    """Duration in this process."""

    @property
    def counts(self) -> Counts:
        return count_results(self.plan, self.outcome.state)

    @property
    def next(self) -> dict[str, str]:
        """Return suggested command lines with descriptions."""
        run = self.outcome.state.run
        on = f"stockman runs resume {run}"
        if waits_for_push(self.outcome):
            return {
                _COMMIT: "commit and push the rendered files for Flux",
                on: "then resume the run",
                "stockman apply --push": "or let stockman commit and push",
            }
        if waits_for_window(self.outcome):
            return {
                on: "resume when the upgrade window is open",
                "stockman apply --any-time": "or restart machines now",
            }
        match self.outcome.result:
            case Result.FAILED | Result.REFUSED:
                first = "resume after fixing the problems above"
            case Result.PAUSED:
                first = "resume the newest run"
            case Result.ABORTED | Result.DONE:
                return {}
        return {on: first, f"stockman runs abort {run}": "abort the run and release its holds"}


def show_result(ended: RunResult, output: Output) -> None:
    """Print problems to stderr and the summary to stdout; `-o json` prints it as the last line."""
    screen = current_screen()
    if output is Output.JSON:
        import json

        document = envelope("RunOutcome", run_result_data(ended))
        screen.data(json.dumps(document, ensure_ascii=not screen.supports_unicode))
        return
    if ended.outcome.problems:
        show_problems(ended.outcome.problems)
        screen.print_problems([""])
    human = result_lines(ended, screen)
    show(run_result_data(ended), kind="RunOutcome", output=output, human=lambda _, __: human)


def result_lines(ended: RunResult, screen: Screen) -> Iterator[str]:
    """Return the summary as lines."""
    outcome, counts = ended.outcome, ended.counts
    head = f"run {outcome.state.run}: {outcome.result.value} after {format_duration(ended.seconds)}"
    yield from _fit(head, screen, _STYLES.get(outcome.result, ""))
    texts = [f"{counts.done} done", f"{counts.already} unchanged", f"{counts.failed} failed"]
    if left := counts.steps - counts.finished - counts.failed:
        texts.append(f"{left} not finished")
    count = "1 step" if counts.steps == 1 else f"{counts.steps} steps"
    yield from _fit(f"{count}: {', '.join(texts)}", screen)
    for text in _uncertain_steps(ended):
        yield from _fit(f"interrupted during: {text}", screen, "warning")
    for held in outcome.state.held.values():
        yield from _fit(f"hold not released: {hold_summary(held)}", screen, "warning")
    if ended.next:
        yield ""
        yield from examples(ended.next, screen.width or MAX_HELP_WIDTH)


def _uncertain_steps(ended: RunResult) -> list[str]:
    """Return steps whose effect is unknown; a resumed run checks them first."""
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
    """Return the summary as data."""
    counts, state = ended.counts, ended.outcome.state
    return {
        "run": state.run,
        "cluster": ended.plan.cluster,
        "result": ended.outcome.result,
        "seconds": round(ended.seconds, 3),
        "counts": {
            "steps": counts.steps,
            "done": counts.done,
            "already": counts.already,
            "failed": counts.failed,
        },
        "problems": [problem_data(problem) for problem in ended.outcome.problems],
        "in_the_middle": _uncertain_steps(ended),
        "held": [hold_summary(hold) for hold in state.held.values()],
        "next": list(ended.next),
        "state": state,
    }


def exit_status(outcome: RunOutcome) -> Exit:
    """Return the exit status of the result of a run."""
    if waits_for_push(outcome) or waits_for_window(outcome):
        return Exit.CHANGES
    match outcome.result:
        case Result.DONE | Result.ABORTED:
            return Exit.DONE
        case Result.REFUSED:
            return Exit.REFUSED
        case Result.PAUSED:
            return Exit.INTERRUPTED
        case Result.FAILED:
            steps = outcome.state.steps.values()
            changed = any(step.progress is StepProgress.DONE and not step.already for step in steps)
            return Exit.PARTLY if changed else Exit.FAILED
