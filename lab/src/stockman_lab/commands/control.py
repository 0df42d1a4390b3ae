"""`stockman lab down|power|clock|fault`: what is done with a lab that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import CompletionItem

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import matching_values
from stockman.cli.options import directory
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import table
from stockman_lab.commands import options as lab_options

_SOURCE = "stockman_lab.commands.control"


def complete_lab_hosts(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with the hosts of the lab that the command line means."""
    del param
    state = ctx.params.get("state")
    return matching_values(f"{_SOURCE}:lab_host_names", incomplete, directory(ctx), state)


def lab_host_names(directory: Path, state: str | None) -> tuple[str, ...]:
    """Names of the hosts of a lab that runs."""
    from stockman_lab.commands.runtime.directories import DEFAULT, LabFiles
    from stockman_lab.commands.runtime.power import host_names

    return tuple(host_names(LabFiles(state=directory / (state or DEFAULT))))


_POINTS = (
    "request", "task", "allocate", "download", "boot", "shutdown", "agent", "resources",
    "authenticate", "host", "quorum", "ssh", "registry", "factory", "talos-call", "talos-step",
    "network", "lease", "etcd", "clock", "objects", "kubernetes", "pod", "node",
)  # fmt: skip
_EFFECTS = (
    "fail", "do-then-fail", "claim", "delay", "hang", "cut", "do-then-cut", "lie", "corrupt",
    "kill",
)  # fmt: skip


@command(
    name="down",
    examples={
        "stockman lab down --state .stockman/lab.state": "stop the one of a state, and keep it"
    },
)
@lab_options.state
@click.pass_context
def lab_down(ctx: click.Context, state: str | None) -> None:
    """Stop a running lab; its state is kept."""
    from stockman_lab.commands.runtime.background import ended
    from stockman_lab.commands.runtime.remote import tell

    files = lab_options.places(ctx, state)
    tell(files, "down", {})
    ended(files)
    current_screen().note(f"the lab is kept in {files.state}")


@command(
    name="power",
    examples={
        "stockman lab power neo off": "take the power from a host, and from all that runs on it",
        "stockman lab power neo on": "let it boot again",
    },
)
@click.argument("host", shell_complete=complete_lab_hosts)
@click.argument("power", metavar="on|off", type=options.Choice(("on", "off")))
@options.output
@lab_options.state
@click.pass_context
def lab_power(ctx: click.Context, host: str, power: str, output: Output, state: str | None) -> None:
    """Switch a host of a running lab on or off.

    Off is what a power cut does: nothing is shut down in order. A host that is switched on starts
    the guests that are to start with it.
    """
    from stockman_lab.commands.runtime.power import switched

    rows = switched(lab_options.places(ctx, state), host, on=power == "on")
    show(rows, kind="LabHosts", output=output, human=_host_lines)


def _host_lines(found: list[dict[str, Any]], screen: Screen) -> Iterator[str]:
    rows = [[one["name"], one["address"], "on" if one["power"] else "off"] for one in found]
    yield from table(["HOST", "ADDRESS", "POWER"], rows, width=screen.width)


@command(
    name="clock",
    examples={
        "stockman lab clock": "what time it is inside",
        "stockman lab clock --advance 7200": "let two hours pass at once",
        "stockman lab clock --speed 60": "a minute for every second from now on",
    },
)
@click.option("--advance", type=click.FloatRange(0), metavar="SECONDS", help="Let time pass.")
@click.option("--speed", metavar="1|60|max", help="Go on at another speed.")
@options.output
@lab_options.state
@click.pass_context
def lab_clock(
    ctx: click.Context,
    advance: float | None,
    speed: str | None,
    output: Output,
    state: str | None,
) -> None:
    """Show the time of a running lab, let some of it pass, or change its speed."""
    from stockman_lab.commands.runtime.remote import tell
    from stockman_lab.commands.runtime.world_options import speed_of

    clock: dict[str, object] = {}
    if advance is not None:
        clock["advance"] = advance
    if speed is not None:
        clock["speed"] = speed_of(speed)
    found = cast("dict[str, Any]", tell(lab_options.places(ctx, state), "clock", clock))
    show(found, kind="LabClock", output=output, human=_clock_lines)


def _clock_lines(clock: dict[str, Any], screen: Screen) -> Iterator[str]:
    from datetime import UTC, datetime

    del screen
    speed = "max" if clock["speed"] is None else f"{clock['speed']:g}"
    yield f"{datetime.fromtimestamp(clock['now'], UTC):%Y-%m-%d %H:%M:%S} UTC, speed {speed}"


@command(
    name="fault",
    examples={
        "stockman lab fault": "list what goes wrong",
        "stockman lab fault task fail --match type=qmclone": "let the next clone fail",
        "stockman lab fault request fail --status 596 --times 3 --match method=POST": (
            "let three requests end without an answer of the host"
        ),
        "stockman lab fault request lie --match vmid=100 --times always": (
            "let reads of a guest show what is true now, whatever becomes of it"
        ),
        "stockman lab fault host kill --match node=neo": "take the power from a host",
        "stockman lab fault --file faults.yaml": "all that a file lists",
        "stockman lab fault --remove 2": "take one back",
    },
)
@click.argument("point", required=False, type=options.Choice(_POINTS))
@click.argument("effect", required=False, type=options.Choice(_EFFECTS))
@click.option("--match", multiple=True, metavar="FACT=PATTERN", help="Only where this fits.")
@click.option("--message", default="", help="Text of the error.")
@click.option("--status", type=click.IntRange(1, 599), default=None,
              help="Status of the error: of HTTP, or a gRPC code at talos-call.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0), default=0.0, help="Length of a delay or lie.")
@click.option("--after", type=click.FloatRange(0), default=None, metavar="SECONDS",
              help="Not before so much time has passed inside.")  # fmt: skip
@click.option("--for", "lasting", type=click.FloatRange(0), default=None, metavar="SECONDS",
              help="No longer than that.")  # fmt: skip
@click.option("--skip", type=click.IntRange(0), default=0, help="Occasions to spare first.")
@click.option("--times", default="1", metavar="N|always", show_default=True, help="How often.")
@click.option("--file", type=click.Path(exists=True, dir_okay=False), help="Faults of a YAML file.")
@click.option("--remove", type=int, default=None, metavar="NUMBER", help="Take one back.")
@options.output
@lab_options.state
@click.pass_context
def lab_fault(  # noqa: PLR0913  # one for each option
    ctx: click.Context,
    /,
    point: str | None,
    effect: str | None,
    output: Output,
    state: str | None,
    file: str | None,
    remove: int | None,
    **how: Any,
) -> None:
    """Make something go wrong in a running lab, or list what does.

    A fault strikes at a point (a request, a task, the boot of a guest) when all that is asked for
    with --match fits, and does one thing: fail, delay, hang and so on. Patterns know * and ?. What
    makes no sense is refused, with a sentence on what does.
    """
    from stockman_lab.commands.runtime.faults import Wanted, faults_of, wanted_fault
    from stockman_lab.commands.runtime.remote import ask, tell

    files = lab_options.places(ctx, state)
    faults = faults_of(file) if file else []
    if point is not None:
        now = cast("dict[str, Any]", ask(files, "status"))["now"]
        faults.append(wanted_fault(Wanted(point=point, effect=effect, **how), now))
    if remove is not None:
        tell(files, "forget", {"number": remove})
    for fault in faults:
        tell(files, "faults", fault)
    found = cast("list[dict[str, Any]]", ask(files, "faults"))
    show(found, kind="LabFaults", output=output, human=_fault_lines)


def _fault_lines(found: list[dict[str, Any]], screen: Screen) -> Iterator[str]:
    rows = [
        [
            str(one["number"]),
            one["point"],
            one["effect"],
            " ".join(f"{name}={text}" for name, text in one["match"].items()) or "-",
            f"{one['struck']} of {one['times'] if one['times'] is not None else 'always'}",
        ]
        for one in found
    ]
    yield from table(["NUMBER", "POINT", "EFFECT", "WHERE", "STRUCK"], rows, width=screen.width)
