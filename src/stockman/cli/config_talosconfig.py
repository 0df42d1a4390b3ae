"""`stockman config talosconfig`: how to talk to Talos, and for whom."""

from __future__ import annotations

from typing import Any

import click

from stockman.cli import options
from stockman.cli.client_options import (
    client_lines,
    doors,
    merge,
    refuse_together,
    renew,
    to_stdout,
    ttl,
)
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.screen import current
from stockman.talos.roles import TalosRole


@command(
    name="talosconfig",
    examples={
        "stockman config talosconfig": "write the file, or renew it when it is due",
        "stockman config talosconfig --merge ~/.talos/config": "add the cluster to your own file",
        "stockman config talosconfig --role os:reader --ttl 24h --stdout": (
            "print one for somebody who may only look"
        ),
    },
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=options.Choice(TalosRole),
    default=(TalosRole.ADMIN.value,),
    show_default=True,
    help="What its owner may do; can be given several times.",
)
@ttl
@click.option(
    "--nodes",
    "targets",
    type=options.Choice(("all", "controllers", "none")),
    default="all",
    show_default=True,
    help="Nodes that commands act on which name none.",
)
@merge("Add the context to this file, under another name if its own is taken.")
@renew
@to_stdout
@options.output
@click.pass_context
def config_talosconfig(
    ctx: click.Context, /, output: Output, to_stdout: bool, **wished: Any
) -> int:
    """Write the talosconfig of the cluster, or renew it.

    The client certificate is made with the Talos authority of the secrets bundle; endpoints are
    the controllers. A file that is up to date stays as it is until less than 30 days are left.
    Other contexts of the file are kept. It is written with mode 0600, and nowhere that git would
    take it from. Nothing secret is printed, unless --stdout asks for it.
    """
    from stockman.app.talosconfigs import TalosconfigWish, new_talosconfig, write_talosconfig

    refuse_together(to_stdout, merge=wished["merge"], renew=wished["renew"])
    directory = options.directory(ctx)
    wish = TalosconfigWish(
        directory=directory,
        roles=tuple(wished["roles"]),
        lifetime=wished["ttl"],
        targets=wished["targets"],
        merge=wished["merge"],
        renew=wished["renew"],
    )
    system = doors(directory)
    if to_stdout:
        current().data(new_talosconfig(wish, system).reveal().removesuffix("\n"))
        return Exit.DONE
    done = write_talosconfig(wish, system)
    show(done, kind="ClientConfiguration", output=output, human=client_lines)
    return Exit.DONE
