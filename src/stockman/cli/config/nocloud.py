"""`stockman config nocloud` and `schematic`: what a node boots with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_nodes
from stockman.cli.options import Choice
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import show_problems
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.first_boot import FirstBoot, NodesImage
    from stockman.talos.nocloud.network import UnsupportedSetting

_MASKED = "*** (machine configuration; use --show-secrets to print it)"


@command(
    name="nocloud",
    examples={
        "stockman config nocloud k8s-work-4": (
            "show the NoCloud files and the equivalent VM settings"
        ),
        "stockman config nocloud k8s-work-4 --iso ~/work-4.iso": (
            "write an ISO image to attach to the VM"
        ),
        "stockman config nocloud k8s-work-4 -o json": "print them as JSON",
    },
)
@click.argument("node", shell_complete=complete_nodes)
@click.option(
    "--iso",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an ISO image, readable by you only because it contains secrets.",
)
@click.option(
    "--network-version",
    "form",
    type=Choice(("1", "2")),
    help="Version of the network-config format.",
)
@click.option(
    "--snippet",
    metavar="VOLUME",
    default="",
    help="Proxmox VE volume with the machine configuration.",
)
@click.option(
    "--show-secrets", is_flag=True, help="Also print the machine configuration, with its secrets."
)
@options.output
def config_nocloud(node: str, iso: Path | None, output: Output, **values: Any) -> int:
    """Show the NoCloud data of a node, or write it as an ISO image.

    Nodes of the nocloud platform read user-data (the machine configuration), meta-data and
    network-config at their first boot. Proxmox VE generates meta-data and network-config from VM
    settings where these are sufficient. Settings that they cannot express are listed; an ISO image
    is needed for those.
    """
    from stockman.app.machine_config.first_boot import (
        FirstBootOptions,
        first_boot_files,
        machine_text,
        write_image,
    )

    directory = options.directory(click.get_current_context())
    form = values["form"]
    request = FirstBootOptions(
        form=None if form is None else (1 if form == "1" else 2),
        snippet=values["snippet"],
        first_boot=iso is not None,
    )
    opened = iso is not None or values["show_secrets"]
    text = (lambda name: machine_text(directory, os.environ, name)) if opened else None
    boot_data = first_boot_files(directory, node, request, text)
    if iso is not None:
        from stockman.adapters.system import SystemClock, SystemEntropy

        size = write_image(iso, boot_data, SystemClock(), SystemEntropy())
        current_screen().note(f"Wrote {iso}, {size} bytes")
    data: dict[str, Any] = {
        "node": boot_data.node,
        "meta-data": boot_data.meta_data,
        "network-config": boot_data.network_config,
        "user-data": boot_data.user_data.reveal()
        if values["show_secrets"]
        else boot_data.user_data,
        "delivery": boot_data.delivery,
        "keys": boot_data.keys,
        "unsupported_by_keys": boot_data.unsupported_by_keys,
        "unsupported": boot_data.unsupported,
    }
    shown = boot_data.user_data.reveal() if values["show_secrets"] else _MASKED
    show(
        data,
        kind="FirstBoot",
        output=output,
        human=lambda _, screen: _lines(boot_data, shown, screen),
    )
    return Exit.DONE


def _lines(data: FirstBoot, user_data: str, screen: Screen) -> Iterator[str]:
    for name, text in (
        ("meta-data", data.meta_data),
        ("network-config", data.network_config),
        ("user-data", user_data),
    ):
        yield screen.paint(name, "name")
        yield from (f"  {line}" for line in text.splitlines())
    if data.keys:
        yield screen.paint("VM settings", "name")
        yield from (f"  {key}: {value}" for key, value in data.keys.items())
    needed = [need for need in data.unsupported_by_keys if need.needed]
    later = [need for need in data.unsupported_by_keys if not need.needed]
    yield from _unsupported_lines("Image needed because of", needed, screen)
    yield from _unsupported_lines("Set by the machine configuration only", later, screen)
    yield from _unsupported_lines("Not in network-config", data.unsupported, screen)


def _unsupported_lines(
    title: str, needs: Sequence[UnsupportedSetting], screen: Screen
) -> Iterator[str]:
    if needs:
        yield screen.paint(title, "name")
    for need in needs:
        yield f"  {need.what}"
        yield f"    {need.why}"


@command(
    name="schematic",
    examples={
        "stockman config schematic": "list every image and the nodes that boot it",
        "stockman config schematic worker-gpu": "show the image of one class and its contents",
        "stockman config schematic -o name": "print the schematic IDs only",
    },
)
@click.argument("name", required=False, shell_complete=complete_nodes)
@options.output_or_name
@click.pass_context
def config_schematic(ctx: click.Context, name: str | None, output: Output) -> int:
    """Show the boot images of nodes and their schematic IDs.

    NAME is a node or a class. IDs are computed locally. Register a schematic with the Image Factory
    once before requesting images of it.
    """
    from stockman.app.machine_config.first_boot import list_images

    answer = list_images(options.directory(ctx), name)
    show_problems(answer.warnings)
    show(
        answer.images,
        kind="Schematics",
        output=output,
        human=_image_lines,
        names=lambda shown: [image.schematic for image in shown],
    )
    return Exit.DONE


def _image_lines(images: tuple[NodesImage, ...], screen: Screen) -> Iterator[str]:
    for number, image in enumerate(images):
        if number:
            yield ""
        yield screen.paint(image.schematic, "name")
        yield f"  nodes:      {', '.join(image.nodes)}"
        if image.classes:
            yield f"  classes:    {', '.join(image.classes)}"
        yield f"  installer:  {image.installer}"
        yield f"  disk image: {image.image_url}"
        if image.text:
            yield "  schematic:"
            yield from (f"    {line}" for line in image.text.splitlines())
        else:
            yield "  schematic:  only its ID is known"
