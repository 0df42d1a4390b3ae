"""`stockman adopt`: a cluster that runs becomes files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output

if TYPE_CHECKING:
    from stockman.app.adopting.adoption import Adoption
    from stockman.app.adopting.doors import Clients
    from stockman.app.adopting.writing import Written
    from stockman.ports.probe import Network

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command(
    examples={
        "stockman adopt --proxmox https://127.66.0.4:8006 --out my-cluster": (
            "take the cluster that kubectl and talosctl talk to"
        ),
        "stockman adopt --proxmox https://127.66.0.4:8006 --dry-run": (
            "see what would be written, and what a plan would say then"
        ),
        (
            "stockman adopt --proxmox https://127.66.0.4:8006 --talosconfig talosconfig"
            " --kubeconfig kubeconfig --ca-file pve-root-ca.pem --out my-cluster --yes"
        ): "name every file, and ask nothing",
    }
)
@click.option("--proxmox", required=True, metavar="URL", help="Where the Proxmox API answers.")
@click.option("--kubeconfig", type=_FILE, help="kubeconfig of the cluster, as kubectl finds it.")
@click.option("--talosconfig", type=_FILE, help="talosconfig of the cluster, as talosctl finds it.")
@click.option(
    "--fingerprint", metavar="SHA256", help="The certificate of Proxmox that is to be trusted."
)
@click.option("--ca-file", type=_FILE, help="The CA that signed the certificate of Proxmox.")
@click.option("--repository", metavar="URL", help="Git repository; else the one Flux follows.")
@click.option(
    "--manage-guests",
    is_flag=True,
    help="Look after other VMs and containers from now on, and not only watch them.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Directory for the files.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing, tell what would be written.")
@options.yes
@options.output_or_name
@click.pass_context
def adopt(
    ctx: click.Context, /, out: Path, dry_run: bool, yes: bool, output: Output, **given: Any
) -> int:
    """Write files that describe a cluster which runs already.

    Proxmox, Talos and Kubernetes are only looked at. Each machine is matched with its VM and its
    Node; its configuration is read, and what no key of the files says becomes a patch, so that the
    files mean what is there. Secrets are taken from a controller and encrypted as `init` does it.
    Other VMs and containers become guests that are only watched.

    Then a plan is made of the new files, and everything that it would change is listed: nothing,
    or what nobody notices, such as tags that say whose a VM is. Exits with 4 when there is more.
    Files that exist are never written over.

    PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET in the environment say who asks Proxmox, or
    PROXMOX_VE_API_TOKEN, or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD; otherwise a terminal is
    asked. A certificate that no known CA signed has to be confirmed by its fingerprint first.
    """
    import asyncio

    from stockman.adapters.network import SocketNetwork
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.adopting.adoption import NotAdopted, Wish, adopted
    from stockman.app.adopting.doors import opened
    from stockman.app.adopting.writing import refuse_existing
    from stockman.cli.adopt_report import Told, refused, told, warned
    from stockman.cli.ask import confirmed

    refuse_existing(out)
    network = SocketNetwork()
    clients = _clients(given, network)

    async def seen() -> Adoption:
        async with opened(clients, network, SystemTimekeeper()) as (doors, reached):
            wish = Wish(
                reached=reached,
                repository=given["repository"] or "",
                manages_guests=given["manage_guests"],
            )
            return await adopted(doors, wish, SystemEntropy())

    try:
        adoption = asyncio.run(seen())
    except NotAdopted as no:
        refused(no.problems)
        return Exit.FAILED
    warned(adoption.problems)
    question = f"write the files of {adoption.cluster} into {out}?"
    is_wanted = not dry_run and confirmed(question, yes=yes)
    written = _written(adoption, out, dry_run=not is_wanted)
    where = options.directory(ctx) / out
    told(Told(adoption, written, where, is_written=is_wanted), output)
    if not is_wanted and not dry_run:
        return Exit.FAILED
    return Exit.DONE if adoption.is_smooth and written.complete else Exit.PARTLY


def _written(adoption: Adoption, out: Path, *, dry_run: bool) -> Written:
    from stockman.adapters.git import GitRepo
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.adopting.writing import write
    from stockman.app.initialisation import Doors

    doors = Doors(clock=SystemClock(), entropy=SystemEntropy(), repo=GitRepo(out))
    return write(adoption, out, doors, dry_run=dry_run)


def _clients(given: dict[str, Any], network: Network) -> Clients:
    from stockman.app.adopting.doors import Clients, usual_files
    from stockman.app.proxmox_start import Errand
    from stockman.cli.proxmox_asking import asker, trust_of

    kubeconfig, talosconfig = usual_files(os.environ)
    url = given["proxmox"].rstrip("/")
    return Clients(
        kubeconfig=given["kubeconfig"] or kubeconfig,
        talosconfig=given["talosconfig"] or talosconfig,
        proxmox=Errand(url=url, trust=trust_of(url, given, network), asker=asker()),
    )
