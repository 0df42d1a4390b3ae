"""`stockman adopt`: write configuration files for a running cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.adoption.adopt import AdoptionResult, ClientSources
    from stockman.assessment.adoption.description import Adoption
    from stockman.ports.environment import Network

_STYLES = {"written": "good", "extended": "good", "kept": "faint", "refused": "warning"}


class AdoptionReport(NamedTuple):
    """An adopted cluster, the files written for it, and where."""

    adoption: Adoption
    written: AdoptionResult
    directory: Path
    is_written: bool


def show_adoption(all_of_it: AdoptionReport, output: Output) -> None:
    """Print the written files and the changes that a plan would make."""
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
    for name in adoption.placeholders:
        screen.note(f"Generated: {name}")
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
        "invented": list(adoption.placeholders),
        "expected": [
            {
                "stage": change.stage.value,
                "node": change.node,
                "what": change.description,
                "why": change.why,
                "safe": bool(change.safe),
                "because": change.safe,
            }
            for change in adoption.expected
        ],
        "problems": [problem_data(problem) for problem in (*adoption.problems, *written.problems)],
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
            Cell("yes", "good") if change.safe else Cell("review", "warning"),
            change.description,
            change.safe or change.why,
        )
        for change in all_of_it.adoption.expected
    ]
    yield from table(("SAFE", "CHANGE", "REASON"), changes, width=screen.width, paint=screen.paint)


def _next_steps(all_of_it: AdoptionReport) -> str:
    if not all_of_it.is_written:
        return "No files were written."
    where = "" if all_of_it.directory == Path() else f" -C {all_of_it.directory}"
    return (
        f"Next: review the files, then run `stockman{where} validate` and `stockman{where} plan`."
    )


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command(
    examples={
        "stockman adopt --proxmox https://127.66.0.4:8006 --out my-cluster": (
            "adopt the cluster that kubectl and talosctl are configured for"
        ),
        "stockman adopt --proxmox https://127.66.0.4:8006 --dry-run": (
            "show which files would be written and what a plan would contain"
        ),
        (
            "stockman adopt --proxmox https://127.66.0.4:8006 --talosconfig talosconfig"
            " --kubeconfig kubeconfig --ca-file pve-root-ca.pem --out my-cluster --yes"
        ): "name every file, and do not prompt",
    }
)
@click.option("--proxmox", required=True, metavar="URL", help="URL of the Proxmox VE API.")
@click.option(
    "--kubeconfig", type=_FILE, help="kubeconfig of the cluster; defaults to the file kubectl uses."
)
@click.option(
    "--talosconfig",
    type=_FILE,
    help="talosconfig of the cluster; defaults to the file talosctl uses.",
)
@click.option(
    "--fingerprint",
    metavar="SHA256",
    help="SHA-256 fingerprint of the Proxmox VE certificate to trust.",
)
@click.option(
    "--ca-file", type=_FILE, help="CA certificate that signed the Proxmox VE certificate."
)
@click.option(
    "--repository", metavar="URL", help="Git repository; defaults to the one Flux follows."
)
@click.option(
    "--manage-guests",
    is_flag=True,
    help="Manage other VMs and containers instead of only recording them.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Output directory.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written without writing it.")
@options.yes_option
@options.output_or_name
@click.pass_context
def adopt(
    ctx: click.Context, /, out: Path, dry_run: bool, yes: bool, output: Output, **values: Any
) -> int:
    """Write configuration files for a running cluster.

    Proxmox VE, Talos and Kubernetes are only read. Each Talos machine is matched with its VM and
    its Kubernetes node. Settings of its machine configuration that no configuration key covers
    become a patch, so the files describe the cluster as it is. Secrets are read from a controller
    and encrypted as `stockman init` does. Other VMs and containers become unmanaged guests.

    Then a plan is made from the new files, and every change it would make is listed. Usually there
    is none, or only harmless ones such as ownership tags. Settings that the files cannot carry are
    listed. The exit status is 4 if there are any, or if the plan has other changes.
    Existing files are never overwritten.

    Credentials for Proxmox VE are read from PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET, from
    PROXMOX_VE_API_TOKEN, or from PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD; otherwise you are
    prompted for them. If no known CA signed the certificate, you have to confirm its fingerprint
    first.
    """
    import asyncio

    from stockman.adapters.network import SocketNetwork
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.adoption.adopt import adopt_cluster, open_clients, refuse_existing
    from stockman.assessment.adoption.description import AdoptionFailed, AdoptionOptions
    from stockman.cli.terminal.prompts import confirm

    refuse_existing(out)
    network = SocketNetwork()
    clients = _clients(values, network)

    async def seen() -> Adoption:
        async with open_clients(clients, network, SystemTimekeeper()) as (access, reached):
            request = AdoptionOptions(
                connection=reached,
                repository=values["repository"] or "",
                manages_guests=values["manage_guests"],
            )
            return await adopt_cluster(access, request, SystemEntropy())

    try:
        adoption = asyncio.run(seen())
    except AdoptionFailed as error:
        show_problems(error.problems)
        current_screen().note("No files were written.")
        return Exit.FAILED
    show_problems(adoption.problems)
    question = f"Write the configuration of {adoption.cluster} to {out}?"
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
    from stockman.app.adoption.adopt import write_adoption
    from stockman.app.init.directory import InitContext

    access = InitContext(clock=SystemClock(), entropy=SystemEntropy(), repo=LocalGitProbe(out))
    return write_adoption(adoption, out, access, dry_run=dry_run)


def _clients(values: dict[str, Any], network: Network) -> ClientSources:
    from stockman.app.adoption.adopt import ClientSources, usual_files
    from stockman.app.init.from_proxmox import ProxmoxSource
    from stockman.cli.init.proxmox import certificate_trust, find_login

    kubeconfig, talosconfig = usual_files(os.environ)
    url = values["proxmox"].rstrip("/")
    return ClientSources(
        kubeconfig=values["kubeconfig"] or kubeconfig,
        talosconfig=values["talosconfig"] or talosconfig,
        proxmox=ProxmoxSource(
            url=url, trust=certificate_trust(url, values, network), asker=find_login(url)
        ),
    )
