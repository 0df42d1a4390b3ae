"""`stockman lab up`: start a lab."""

from __future__ import annotations

import click

from stockman.cli.command import command
from stockman.cli.options import Choice
from stockman.cli.terminal.screen import current_screen
from stockman_lab.commands import options

_PRESETS = ("three-node", "fifteen-node", "home", "single", "empty")


@command(
    name="up",
    examples={
        "stockman lab up": "three hosts, until Ctrl-C",
        "stockman lab up --preset fifteen-node --pve 8.4 --detach": "another preset, in background",
        "stockman lab up --stage cluster --talos 1.13.9": "Talos machines, bootstrapped and ready",
        "stockman lab up --speed 60": "a minute inside for every second outside",
        "stockman lab up --state rehearsal.state": "one of several labs, with a file of its own",
    },
)
@click.option(
    "--preset",
    type=Choice(_PRESETS),
    default="three-node",
    show_default=True,
    help="Which hosts a new lab has.",
)
@click.option(
    "--network",
    metavar="CIDR",
    default="127.66.0.0/16",
    show_default=True,
    help="Loopback network that the hosts of a new lab answer in.",
)
@click.option(
    "--stage",
    type=Choice(("hosts", "cluster")),
    default="hosts",
    show_default=True,
    help="How far a new lab is: hosts without machines of a cluster, or the preset's Talos"
    " cluster running.",
)
@click.option(
    "--talos",
    metavar="VERSION",
    default=None,
    help="Which Talos the machines of `--stage cluster` run. Default: as the preset has it.",
)
@click.option(
    "--pve",
    type=Choice(("8.4", "9.1")),
    default="9.1",
    show_default=True,
    help="Release of Proxmox VE that a new lab is.",
)
@click.option(
    "--speed",
    metavar="1|60|max",
    default="max",
    show_default=True,
    help="Seconds that pass inside for one outside; `max` never waits.",
)
@click.option(
    "--repo",
    "repositories",
    multiple=True,
    metavar="URL=PATH",
    help="Where a Git repository that files name by URL really is; kept for clusters in the lab.",
)
@click.option("--slow-refusals", is_flag=True, help="Answer failed logins 3 seconds late.")
@click.option("--detach", is_flag=True, help="Serve in the background; stop with `lab down`.")
@options.state
@click.pass_context
def lab_up(  # noqa: PLR0913  # one for each option
    ctx: click.Context,
    preset: str,
    network: str,
    stage: str,
    talos: str | None,
    pve: str,
    speed: str,
    repositories: tuple[str, ...],
    slow_refusals: bool,
    detach: bool,
    state: str | None,
) -> None:
    """Start a lab: hosts of a simulated Proxmox VE that answer on loopback addresses.

    A state that is there is gone on with, and its preset, network and release hold; otherwise a
    new one is made. The state is written when the lab stops. Every host serves the API on port
    8006 of its own 127.x address with a certificate of the lab's own authority, every Talos machine
    its own on port 50000, and an Image Factory with a registry is there too; `stockman lab env`
    tells clients where. Nothing outside of this machine is ever dialled.
    """
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman_lab.commands.runtime.background import MACHINE, detached
    from stockman_lab.commands.runtime.serve import SystemAccess, serve
    from stockman_lab.commands.runtime.world_options import Manners, wish

    if talos is not None and stage == "hosts":
        raise click.UsageError("--talos needs --stage cluster: hosts alone run no Talos", ctx)
    files = options.places(ctx, state)
    how = Manners(repositories=repositories, slow_refusals=slow_refusals, stage=stage, talos=talos)
    wanted = wish(preset, network, pve, speed, how)
    screen = current_screen()
    if detach:
        detached(files, wanted, screen.note)
        screen.note(f"the lab runs; stop it with `stockman lab down{options.named(state)}`")
        return
    doors = SystemAccess(clock=SystemClock(), entropy=SystemEntropy())
    serve(
        files,
        wanted,
        doors,
        lambda: screen.note("the lab is ready; stop it with Ctrl-C"),
        lambda name, how_far: screen.note(f"{MACHINE}{name}: {how_far}"),
    )
    screen.note(f"the lab is kept in {files.state}")
