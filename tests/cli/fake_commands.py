"""Commands that exist only to be run by tests: each shows one thing that a command can do."""

import logging
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_in_directory, complete_with
from stockman.cli.group import group
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.registry import (
    CHANGE,
    INSPECT,
    LEARN,
    SECRETS,
    SIMULATE,
    START,
    CommandEntry,
    Registry,
)
from stockman.cli.terminal.prompts import ask as answer
from stockman.cli.terminal.prompts import confirm
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman.model.errors import Refused, StockmanError, WrongUsage
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret

PLANTED = "planted-5ecret-value"

PROBLEM = Problem(
    code="fake.problem",
    what="node work-16 has an address outside the cluster network",
    where=Position("nodes.yaml", 2, 14),
    why="10.20.68.16 is not inside 10.20.66.0/23",
    fix="give the node an address from 10.20.66.1 to 10.20.67.254",
)


@record
class Pet:
    """An animal with a name."""

    name: str
    kind: str
    token: Secret


PETS = (
    Pet(name="Bella", kind="dog that guards the gate and sleeps all day", token=Secret(PLANTED)),
    Pet(name="Zoë", kind="猫", token=Secret("${ZOE}")),
)


@group(examples={"stockman pets list": "see them all"})
def pets() -> None:
    """Look after animals that have names."""


@command(examples={"stockman pets list -o json": "see them all"}, name="list")
@options.output_or_name
def list_pets(output: Output) -> int:
    """List every pet."""
    show(PETS, kind="Pets", output=output, human=_pet_table, names=_pet_names)
    return Exit.DONE


@command(examples={"stockman pets feed Bella": "feed one"})
@click.argument("name", shell_complete=complete_with("tests.cli.fake_values:pet_names"))
@click.option("--place", shell_complete=complete_in_directory("tests.cli.fake_values:places"))
@click.option("--broken", shell_complete=complete_with("tests.cli.fake_values:broken"))
@click.option("--missing", shell_complete=complete_with("tests.cli.no_such_module:names"))
@click.option("--buggy", shell_complete=complete_with("tests.cli.fake_values:buggy"))
def feed(name: str, **options: str | None) -> None:
    """Feed one pet."""
    current_screen().data(f"fed {name} {len(options)}")


def _pet_table(pets: Iterable[Pet], screen: Screen) -> Iterator[str]:
    rows = [(Cell(pet.name, "name"), pet.kind, str(pet.token)) for pet in pets]
    return table(("NAME", "KIND", "TOKEN"), rows, width=screen.width, paint=screen.paint)


def _pet_names(pets: Iterable[Pet]) -> list[str]:
    return [pet.name for pet in pets]


@command(examples={"stockman status 2": "return a status"})
@click.argument("status", type=int)
def status(status: int) -> int:
    """Return the status given."""
    return status


@command(examples={"stockman raise bug": "meet a bug"}, name="raise")
@click.argument("kind")
def raise_(kind: str) -> None:
    """Raise an exception."""
    errors = {
        "failed": StockmanError(PROBLEM),
        "refused": Refused(PROBLEM),
        "usage": WrongUsage(PROBLEM),
        "bug": RuntimeError(f"password={PLANTED}", Secret(PLANTED)),
        "secret": RuntimeError(Secret(PLANTED)),
        "pipe": BrokenPipeError("of a socket"),
    }
    raise errors[kind]


@command(examples={"stockman flood": "print much"})
def flood() -> None:
    """Print more than a pipe holds."""
    for number in range(100_000):
        current_screen().data(f"line {number}")


@command(examples={"stockman wait": "wait for Ctrl-C"})
def wait() -> None:
    """Work until somebody interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    current_screen().data("ready")
    while True:
        pass


@command(examples={"stockman where": "see it"})
def where() -> None:
    """Print the directory the command works in."""
    current_screen().data(str(Path.cwd()))


@command(examples={"stockman tell -v": "hear more"})
def tell() -> None:
    """Print one line of every kind."""
    screen = current_screen()
    screen.data("data")
    screen.note("note")
    screen.detail("detail")
    screen.detail("everything", level=2)
    requests = logging.getLogger("stockman.requests")
    requests.info("POST https://pve:8006/b: 200, 0.010 s")
    requests.debug("GET https://pve:8006/a: 200, 0.010 s")


@command(examples={"stockman unicode": "see it"})
def unicode() -> None:
    """Print characters that not every terminal has."""
    current_screen().data("Zoë 猫 ─")
    current_screen().note("Zoë 猫 ─")


@command(examples={"stockman ask --yes": "agree beforehand"})
@options.yes_option
@click.option("--name")
@click.option("--color")
def ask(yes: bool, name: str | None, color: str | None) -> int:
    """Ask three questions."""
    if not confirm("Go on?", yes=yes):
        return Exit.FAILED
    name = name or answer("Cluster name", option="--name", check=_one_word)
    color = color or answer("Colour", option="--color", default="red", choices=("red", "green"))
    current_screen().data(f"{name} {color}")
    return Exit.DONE


def _one_word(text: str) -> str:
    return "one word, please" if " " in text else ""


@command(examples={"stockman problem": "see it"})
def problem() -> None:
    """Print a problem as data."""
    screen = current_screen()
    texts = {"nodes.yaml": "nodes:\n    address: 10.20.68.16\n"}
    lines = problem_lines([PROBLEM], texts, paint=screen.paint, width=screen.width)
    screen.data("\n".join(lines))


_HERE = "tests.cli.fake_commands"

REGISTRY: Registry = {
    "completion": CommandEntry(
        "stockman.cli.completion:completion",
        "Print a shell completion script.",
        LEARN,
    ),
    "pets": CommandEntry(f"{_HERE}:pets", "Look after animals that have names.", INSPECT),
    "pets list": CommandEntry(f"{_HERE}:list_pets", "List every pet.", INSPECT),
    "pets feed": CommandEntry(f"{_HERE}:feed", "Feed one pet.", INSPECT),
    "status": CommandEntry(f"{_HERE}:status", "Return the status given.", INSPECT),
    "raise": CommandEntry(f"{_HERE}:raise_", "Raise an exception.", CHANGE),
    "flood": CommandEntry(f"{_HERE}:flood", "Print more than a pipe holds.", SIMULATE),
    "wait": CommandEntry(f"{_HERE}:wait", "Work until somebody interrupts.", START),
    "where": CommandEntry(f"{_HERE}:where", "Print the directory the command works in.", START),
    "tell": CommandEntry(f"{_HERE}:tell", "Print one line of every kind.", START),
    "unicode": CommandEntry(
        f"{_HERE}:unicode", "Print characters that not every terminal has.", START
    ),
    "ask": CommandEntry(f"{_HERE}:ask", "Ask three questions.", SECRETS),
    "problem": CommandEntry(f"{_HERE}:problem", "Print a problem as data.", START),
    "absent": CommandEntry("tests.cli.no_such_module:absent", "Have no code.", START),
}
