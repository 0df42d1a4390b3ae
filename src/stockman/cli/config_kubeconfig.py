"""`stockman config kubeconfig`: how to talk to Kubernetes as its administrator."""

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


@command(
    name="kubeconfig",
    examples={
        "stockman config kubeconfig": "write the file, or renew it when it is due",
        "stockman config kubeconfig --merge ~/.kube/config": "add the cluster to your own file",
        "stockman config kubeconfig --ttl 8h --stdout": "print one that holds for a day of work",
    },
)
@ttl
@merge("Add cluster, user and context to this file, under free names.")
@renew
@to_stdout
@options.output
@click.pass_context
def config_kubeconfig(ctx: click.Context, /, output: Output, to_stdout: bool, **wished: Any) -> int:
    """Write the administrator's kubeconfig of the cluster, or renew it.

    The client certificate is made with the Kubernetes authority of the secrets bundle, as Talos
    itself makes it; no machine is asked. A file that is up to date stays as it is until less than
    30 days are left. Other contexts of the file are kept. It is written with mode 0600, and
    nowhere that git would take it from. Nothing secret is printed, unless --stdout asks for it.
    """
    from stockman.app.kubeconfigs import KubeconfigWish, new_kubeconfig, write_kubeconfig

    refuse_together(to_stdout, merge=wished["merge"], renew=wished["renew"])
    directory = options.directory(ctx)
    wish = KubeconfigWish(
        directory=directory,
        lifetime=wished["ttl"],
        merge=wished["merge"],
        renew=wished["renew"],
    )
    system = doors(directory)
    if to_stdout:
        current().data(new_kubeconfig(wish, system).reveal().removesuffix("\n"))
        return Exit.DONE
    done = write_kubeconfig(wish, system)
    show(done, kind="ClientConfiguration", output=output, human=client_lines)
    return Exit.DONE
