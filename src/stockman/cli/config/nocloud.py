"""`stockman config nocloud`: what a node reads at its first boot."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_nodes
from stockman.cli.exit import Exit
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.first_boot import FirstBoot
    from stockman.talos.nocloud.network import UnsupportedSetting

_MASKED = "*** (the machine configuration; --show-secrets prints it)"


@command(
    name="nocloud",
    examples={
        "stockman config nocloud k8s-work-4": "the files, and the keys of the VM that say the same",
        "stockman config nocloud k8s-work-4 --iso ~/work-4.iso": "an image to attach to the VM",
        "stockman config nocloud k8s-work-4 -o json": "the same for programs",
    },
)
@click.argument("node", shell_complete=complete_nodes)
@click.option(
    "--iso",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an ISO image with the files; it holds secrets, and only you can read it.",
)
@click.option(
    "--network-version", "form", type=Choice(("1", "2")), help="Version of network-config."
)
@click.option(
    "--snippet", metavar="VOLUME", default="", help="Volume with the machine configuration."
)
@click.option("--show-secrets", is_flag=True, help="Print the machine configuration too.")
@options.output
def config_nocloud(node: str, iso: Path | None, output: Output, **given: Any) -> int:
    """Show what a node reads at its first boot, or write it as an ISO image.

    Nodes of the nocloud platform read user-data, which is their machine configuration, meta-data
    and network-config. Proxmox makes the last two from keys of the VM, where these suffice; what
    they cannot say is listed, and then an image is needed.
    """
    from stockman.app.machine_config.first_boot import (
        FirstBootOptions,
        first_boot_files,
        machine_text,
        write_image,
    )

    directory = options.directory(click.get_current_context())
    form = given["form"]
    asked = FirstBootOptions(
        form=None if form is None else (1 if form == "1" else 2),
        snippet=given["snippet"],
        first_boot=iso is not None,
    )
    opened = iso is not None or given["show_secrets"]
    text = (lambda name: machine_text(directory, os.environ, name)) if opened else None
    made = first_boot_files(directory, node, asked, text)
    if iso is not None:
        from stockman.adapters.system import SystemClock, SystemEntropy

        size = write_image(iso, made, SystemClock(), SystemEntropy())
        current_screen().note(f"wrote {iso}, {size} bytes")
    data: dict[str, Any] = {
        "node": made.node,
        "meta-data": made.meta_data,
        "network-config": made.network_config,
        "user-data": made.user_data.reveal() if given["show_secrets"] else made.user_data,
        "way": made.way,
        "keys": made.keys,
        "wishes": made.wishes,
        "unsaid": made.unsaid,
    }
    shown = made.user_data.reveal() if given["show_secrets"] else _MASKED
    show(
        data,
        kind="FirstBoot",
        output=output,
        human=lambda _, screen: _lines(made, shown, screen),
    )
    return Exit.DONE


def _lines(made: FirstBoot, user_data: str, screen: Screen) -> Iterator[str]:
    for name, text in (
        ("meta-data", made.meta_data),
        ("network-config", made.network_config),
        ("user-data", user_data),
    ):
        yield screen.paint(name, "name")
        yield from (f"  {line}" for line in text.splitlines())
    if made.keys:
        yield screen.paint("keys of the VM", "name")
        yield from (f"  {key}: {value}" for key, value in made.keys.items())
    needed = [wish for wish in made.wishes if wish.needed]
    later = [wish for wish in made.wishes if not wish.needed]
    yield from _nocloud_requests("why an image is needed", needed, screen)
    yield from _nocloud_requests("said by the machine configuration alone", later, screen)
    yield from _nocloud_requests("not in network-config", made.unsaid, screen)


def _nocloud_requests(
    title: str, wishes: Sequence[UnsupportedSetting], screen: Screen
) -> Iterator[str]:
    if wishes:
        yield screen.paint(title, "name")
    for wish in wishes:
        yield f"  {wish.what}"
        yield f"    {wish.why}"
