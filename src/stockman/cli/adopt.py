"""What `stockman adopt` says of a cluster: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.adoption.adopt import Adoption
    from stockman.app.adoption.writing import AdoptionResult
    from stockman.model.problem import Problems
import os
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit

if TYPE_CHECKING:
    from stockman.app.adoption.adopt import Adoption
    from stockman.app.adoption.connections import ClientSources
    from stockman.app.adoption.writing import AdoptionResult
    from stockman.ports.environment import Network


_STYLES = {"written": "good", "extended": "good", "kept": "faint", "refused": "warning"}


class AdoptionReport(NamedTuple):
    """Everything that there is to say."""

    adoption: Adoption
    written: AdoptionResult
    directory: Path
    is_written: bool


def show_refusal(problems: Problems) -> None:
    """Say why a cluster cannot be adopted."""
    show_problems(problems)
    current_screen().note("nothing was written")


def show_problems(problems: Problems) -> None:
    """Say what is to be looked at."""
    if problems:
        screen = current_screen()
        paint, width = screen.notes_paint, screen.notes_width
        screen.complain(problem_lines(problems, {}, paint=paint, width=width))


def show_adoption(all_of_it: AdoptionReport, output: Output) -> None:
    """Say what was written, and what a plan would contain."""
    adoption, written = all_of_it.adoption, all_of_it.written
    show(
        _report_data(all_of_it),
        kind="Adoption",
        output=output,
        human=lambda _, screen: _report_lines(all_of_it, screen),
        names=lambda _: (file.path for file in written.files),
    )
    show_problems(written.problems)
    screen = current_screen()
    for name in adoption.invented:
        screen.note(f"invented: {name}")
    screen.note(_next_steps(all_of_it))


def _report_data(all_of_it: AdoptionReport) -> dict[str, object]:
    adoption, written = all_of_it.adoption, all_of_it.written
    return {
        "cluster": adoption.cluster,
        "directory": str(all_of_it.directory),
        "written": all_of_it.is_written,
        "nodes": list(adoption.nodes),
        "guests": list(adoption.guests),
        "files": written.files,
        "invented": list(adoption.invented),
        "expected": [
            {
                "stage": one.stage.value,
                "node": one.node,
                "what": one.what,
                "why": one.why,
                "safe": bool(one.safe),
                "because": one.safe,
            }
            for one in adoption.expected
        ],
        "problems": [problem_data(one) for one in (*adoption.problems, *written.problems)],
    }


def _report_lines(all_of_it: AdoptionReport, screen: Screen) -> Iterator[str]:
    rows = [
        (Cell(file.path, "name"), Cell(file.state, _STYLES[file.state]))
        for file in all_of_it.written.files
    ]
    yield from table(("FILE", "STATE"), rows, width=screen.width, paint=screen.paint)
    if not all_of_it.adoption.expected:
        return
    yield ""
    changes = [
        (
            Cell("safe", "good") if one.safe else Cell("look", "warning"),
            one.what,
            one.safe or one.why,
        )
        for one in all_of_it.adoption.expected
    ]
    yield from table(
        ("A PLAN", "WOULD CHANGE", "BECAUSE"), changes, width=screen.width, paint=screen.paint
    )


def _next_steps(all_of_it: AdoptionReport) -> str:
    if not all_of_it.is_written:
        return "nothing was written"
    where = "" if all_of_it.directory == Path() else f" -C {all_of_it.directory}"
    return f"next: read the files, then run `stockman{where} validate` and `stockman{where} plan`"


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
@options.yes_option
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
    from stockman.app.adoption.adopt import AdoptionFailed, AdoptionOptions, adopt_cluster
    from stockman.app.adoption.connections import open_clients
    from stockman.app.adoption.writing import refuse_existing
    from stockman.cli.terminal.prompts import confirm

    refuse_existing(out)
    network = SocketNetwork()
    clients = _clients(given, network)

    async def seen() -> Adoption:
        async with open_clients(clients, network, SystemTimekeeper()) as (doors, reached):
            wish = AdoptionOptions(
                reached=reached,
                repository=given["repository"] or "",
                manages_guests=given["manage_guests"],
            )
            return await adopt_cluster(doors, wish, SystemEntropy())

    try:
        adoption = asyncio.run(seen())
    except AdoptionFailed as no:
        show_refusal(no.problems)
        return Exit.FAILED
    show_problems(adoption.problems)
    question = f"write the files of {adoption.cluster} into {out}?"
    is_wanted = not dry_run and confirm(question, yes=yes)
    written = _write_files(adoption, out, dry_run=not is_wanted)
    where = options.directory(ctx) / out
    show_adoption(AdoptionReport(adoption, written, where, is_written=is_wanted), output)
    if not is_wanted and not dry_run:
        return Exit.FAILED
    return Exit.DONE if adoption.is_smooth and written.complete else Exit.PARTLY


def _write_files(adoption: Adoption, out: Path, *, dry_run: bool) -> AdoptionResult:
    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.adoption.writing import write_adoption
    from stockman.app.init.directory import InitContext

    doors = InitContext(clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(out))
    return write_adoption(adoption, out, doors, dry_run=dry_run)


def _clients(given: dict[str, Any], network: Network) -> ClientSources:
    from stockman.app.adoption.connections import ClientSources, usual_files
    from stockman.app.init.from_proxmox import ProxmoxSource
    from stockman.cli.init.proxmox import certificate_trust, find_login

    kubeconfig, talosconfig = usual_files(os.environ)
    url = given["proxmox"].rstrip("/")
    return ClientSources(
        kubeconfig=given["kubeconfig"] or kubeconfig,
        talosconfig=given["talosconfig"] or talosconfig,
        proxmox=ProxmoxSource(
            url=url, trust=certificate_trust(url, given, network), asker=find_login()
        ),
    )
