"""`stockman init`: a directory to start with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.secrets.store import new_bundle
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman.cli.types import ADDRESS, NETWORK
from stockman.config.presets import PRESETS

if TYPE_CHECKING:
    from stockman.app.init.directory import InitOptions, InitResult

_STYLES = {"written": "good", "extended": "good", "kept": "faint", "refused": "warning"}
_NEW = ("written", "extended")
_MEANINGS = {
    "cluster.yaml": "the cluster",
    "nodes.yaml": "its machines",
    "cluster.toml": "the cluster and its machines",
    "age.key": "opens every secret of the repository: keep a copy elsewhere",
    "github-deploy.key": "lets Flux read the repository",
    "deploy.key": "lets Flux read the repository",
    "github-deploy.key.pub": "deploy key for the Git server",
    "deploy.key.pub": "deploy key for the Git server",
    "github-push-token.txt": "secret of the webhook that announces commits",
    "flux-webhook-token.txt": "secret of the webhook that announces commits",
    ".gitignore": "keeps secrets out of commits",
    "pve-root-ca.pem": "the CA that the Proxmox hosts are trusted by",
    ".stockman/secrets.lock": "tells whether secret files changed: commit it with them",
    ".sops.yaml": "says which files are encrypted, and for whom",
    "talos/talsecret.sops.yaml": "the secrets of the cluster, encrypted for age.key",
    "talos/secrets.sops.yaml": "the secrets of the cluster, encrypted for age.key",
}


@command(
    examples={
        "stockman init my-cluster": "answer a few questions, on a terminal",
        "stockman init my-cluster --preset single": "start with the smallest cluster that runs",
        "stockman init lab --preset fifteen-node --network 127.66.0.0/16": (
            "move every address into another network"
        ),
        "stockman init my-cluster --preset three-node --dry-run": "see what would be written",
        "stockman init my-cluster --from-proxmox https://127.66.0.4:8006": (
            "look at Proxmox hosts, and write files that fit them"
        ),
    }
)
@click.argument(
    "directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--preset", type=Choice(PRESETS), help="What to start with.")
@click.option(
    "--network", type=NETWORK, metavar="CIDR", help="Move every address into this network."
)
@click.option("--cluster-name", metavar="NAME", help="Name of the cluster.")
@click.option("--repository", metavar="OWNER/NAME", help="Git repository that Flux follows.")
@click.option("--domain", help="Publish services under this domain, through Cloudflare.")
@click.option("--proxmox-endpoint", metavar="URL", help="Where the Proxmox API answers.")
@click.option("--talos-version", metavar="VERSION", help="Version of Talos.")
@click.option(
    "--from-proxmox", metavar="URL", help="Look at the hosts there, and write files that fit them."
)
@click.option(
    "--fingerprint",
    metavar="SHA256",
    help="With --from-proxmox: the certificate that is to be trusted.",
)
@click.option(
    "--ca-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --from-proxmox: the CA that signed the certificate.",
)
@click.option(
    "--gateway",
    type=ADDRESS,
    metavar="ADDRESS",
    help="With --from-proxmox: the router of the machines.",
)
@click.option(
    "--dialect",
    type=Choice(("classic", "toml")),
    help="Write cluster.yaml and nodes.yaml (classic, the default) or cluster.toml (toml).",
)
@click.option("-y", "--yes", is_flag=True, help="Take the defaults; only a preset is asked for.")
@click.option("--dry-run", is_flag=True, help="Write nothing, tell what would be written.")
@options.output_or_name
@click.pass_context
def init(
    ctx: click.Context, /, directory: Path, output: Output, dry_run: bool, **given: Any
) -> int:
    """Write commented starter files, and make keys and tokens.

    DIR is made if it does not exist. Files that exist are kept as they are, so a second run
    changes nothing. Every file tells in its first lines what was invented and has to be checked.
    Keys and tokens are readable by you alone, and .gitignore names them before they are made. The
    secrets of the cluster are encrypted for age.key; a bundle that is there is never made anew.

    Without --preset, questions are asked on a terminal. The presets are single (one VM on one
    host), three-node (three hosts with Ceph), fifteen-node (four hosts, VLANs, GPUs) and home (VMs
    and containers without a Talos cluster).

    With --from-proxmox, hosts, storages, bridges, devices and free VM ids are looked at, and the
    files fit them; --preset, --network and --gateway decide beforehand. Proxmox VE is only read.
    PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET in the environment say who asks, or
    PROXMOX_VE_API_TOKEN, or PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD; otherwise a terminal is
    asked. A certificate that no known CA signed has to be confirmed by its fingerprint first.
    """
    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.init.directory import InitContext, init_directory

    wish = _init_request(directory, given)
    doors = InitContext(
        clock=SystemClock(),
        entropy=SystemEntropy(),
        repo=LocalGitProbe(directory),
        make_bundle=new_bundle,
    )
    started = init_directory(wish, doors, dry_run=dry_run)
    _report_files(started, options.directory(ctx) / directory, output, dry_run=dry_run)
    if started.spoiled:
        return Exit.USAGE
    return Exit.DONE if started.complete else Exit.PARTLY


def _init_request(directory: Path, given: dict[str, Any]) -> InitOptions:
    from stockman.cli.init.proxmox import reject_proxmox_options, request_from_proxmox
    from stockman.cli.init.questions import request_from_answers

    if given["from_proxmox"] is not None:
        return request_from_proxmox(directory, given)
    reject_proxmox_options(given)
    return request_from_answers(directory, given)


def _report_files(started: InitResult, directory: Path, output: Output, *, dry_run: bool) -> None:
    screen = current_screen()
    data = {
        "directory": str(directory),
        "preset": started.preset,
        "dialect": started.dialect,
        "dryRun": dry_run,
        "files": started.files,
        "problems": [problem_data(problem) for problem in started.problems],
    }
    show(
        data,
        kind="Start",
        output=output,
        human=lambda _, screen: _table(started, screen) if started.files else (),
        names=lambda _: (file.path for file in started.files if file.state in _NEW),
    )
    if started.problems:
        paint, width = screen.notes_paint, screen.notes_width
        screen.complain(problem_lines(started.problems, started.texts, paint=paint, width=width))
    if not started.spoiled:
        for name, text in started.texts.items():
            screen.detail(f"\n{name}:\n{text}")
        screen.note(_next_steps(directory, dry_run=dry_run))


def _table(started: InitResult, screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(file.path, "name"),
            Cell(file.state, _STYLES[file.state]),
            _MEANINGS.get(file.path, "schema for editors"),
        )
        for file in started.files
    ]
    return table(("FILE", "STATE", "WHAT IT IS"), rows, width=screen.width, paint=screen.paint)


def _next_steps(directory: Path, *, dry_run: bool) -> str:
    if dry_run:
        return "nothing was written: this was a dry run"
    where = "" if directory == Path() else f" -C {directory}"
    return f"next: read the first lines of each file, then run `stockman{where} validate`"
