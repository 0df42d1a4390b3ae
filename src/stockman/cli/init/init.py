"""`stockman init`: create a configuration directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stockman.app.init.directory import InitOptions, invalid_option
from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.options import ADDRESS, NETWORK, Choice
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.secrets.store import new_bundle
from stockman.cli.terminal.prompts import ask, confirm
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman.config.presets import NETWORKS, PRESETS, SUMMARIES, Answers, default_answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.app.init.directory import InitResult

_STYLES = {"written": "good", "extended": "good", "kept": "faint", "refused": "warning"}
_NEW = ("written", "extended")
_MEANINGS = {
    "cluster.yaml": "the cluster",
    "nodes.yaml": "its machines",
    "cluster.toml": "the cluster and its machines",
    "age.key": "decrypts every secret of the repository; keep a copy elsewhere",
    "github-deploy.key": "gives Flux read access to the repository",
    "deploy.key": "gives Flux read access to the repository",
    "github-deploy.key.pub": "deploy key for the Git server",
    "deploy.key.pub": "deploy key for the Git server",
    "github-push-token.txt": "secret of the webhook that notifies Flux of commits",
    "flux-webhook-token.txt": "secret of the webhook that notifies Flux of commits",
    ".gitignore": "keeps secrets out of commits",
    "pve-root-ca.pem": "CA certificate of the Proxmox VE hosts",
    ".stockman/secrets.lock": "hashes of the secret files, to detect changes; commit it with them",
    ".sops.yaml": "encryption rules: which files, for which recipients",
    "talos/talsecret.sops.yaml": "the secrets of the cluster, encrypted for age.key",
    "talos/secrets.sops.yaml": "the secrets of the cluster, encrypted for age.key",
}


@command(
    examples={
        "stockman init my-cluster --from-proxmox https://127.66.0.4:8006": (
            "inspect Proxmox VE and write files for its hosts (recommended)"
        ),
        "stockman init my-cluster": "answer a few questions in a terminal",
        "stockman init my-cluster --preset single": "start with the smallest working cluster",
        "stockman init lab --preset fifteen-node --network 127.66.0.0/16": (
            "use another network for all addresses"
        ),
        "stockman init my-cluster --preset three-node --dry-run": "show what would be written",
    }
)
@click.argument(
    "directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path)
)
@click.option("--preset", type=Choice(PRESETS), help="Preset to start with.")
@click.option(
    "--network",
    type=NETWORK,
    metavar="CIDR",
    help="Move all addresses of the preset to this network.",
)
@click.option("--cluster-name", metavar="NAME", help="Cluster name.")
@click.option("--repository", metavar="OWNER/NAME", help="Git repository that Flux follows.")
@click.option("--domain", help="Publish services under this domain through Cloudflare.")
@click.option("--proxmox-endpoint", metavar="URL", help="URL of the Proxmox VE API.")
@click.option("--hosts", metavar="NAME,...", help="Names of the Proxmox hosts.")
@click.option("--storage", metavar="NAME", help="Storage for the disks of the nodes.")
@click.option("--bridge", metavar="NAME", help="Bridge of the nodes.")
@click.option("--vlan", metavar="TAG", help="VLAN tag of the nodes, or `none`.")
@click.option("--talos-version", metavar="VERSION", help="Talos version.")
@click.option(
    "--from-proxmox",
    metavar="URL",
    help="Inspect the Proxmox VE hosts at URL and write files for them.",
)
@click.option(
    "--fingerprint",
    metavar="SHA256",
    help="With --from-proxmox: SHA-256 fingerprint of the certificate to trust.",
)
@click.option(
    "--ca-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --from-proxmox: CA certificate that signed the certificate.",
)
@click.option(
    "--gateway",
    type=ADDRESS,
    metavar="ADDRESS",
    help="Default gateway of the nodes.",
)
@click.option(
    "--dialect",
    type=Choice(("classic", "toml")),
    help="Configuration format: cluster.yaml and nodes.yaml (classic) or cluster.toml (toml).",
)
@click.option("-y", "--yes", is_flag=True, help="Accept the defaults; ask only for a preset.")
@click.option("--dry-run", is_flag=True, help="Show what would be written without writing it.")
@options.output_or_name
@click.pass_context
def init(
    ctx: click.Context, /, directory: Path, output: Output, dry_run: bool, **values: Any
) -> int:
    """Write starter files with comments, and create keys and tokens.

    DIR is created if it does not exist. Existing files are kept, so a second run changes nothing.
    The first lines of each file list generated values to review. Keys and tokens have mode 0600 and
    are added to .gitignore before they are created. The secrets of the cluster are encrypted for
    age.key; an existing secrets bundle is never replaced.

    With --from-proxmox, which is recommended, the hosts, storages, bridges, devices and free VM IDs
    are read and used in the files; --preset, --network and --gateway override the choices. Proxmox
    VE is not changed. Credentials are read from PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET, from
    PROXMOX_VE_API_TOKEN, or from PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD; otherwise you are
    prompted for them. If no known CA signed the certificate, you have to confirm its fingerprint
    first.

    Otherwise the files are those of a preset, and without --preset you are prompted for the names
    of your hosts, storages and networks. The presets are single (one VM on one host),
    three-node (three hosts with Ceph), fifteen-node (four hosts, VLANs, GPUs) and home (VMs and
    containers without a Talos cluster).
    """
    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.init.directory import InitContext, init_directory

    request = _init_request(directory, values)
    access = InitContext(
        clock=SystemClock(),
        entropy=SystemEntropy(),
        repo=LocalGitProbe(directory),
        make_bundle=new_bundle,
    )
    started = init_directory(request, access, dry_run=dry_run)
    _report_files(started, options.directory(ctx) / directory, output, dry_run=dry_run)
    if started.has_invalid_options:
        return Exit.USAGE
    return Exit.DONE if started.complete else Exit.PARTLY


def _init_request(directory: Path, values: dict[str, Any]) -> InitOptions:
    from stockman.cli.init.proxmox import reject_proxmox_options, request_from_proxmox

    if values["from_proxmox"] is not None:
        return request_from_proxmox(directory, values)
    reject_proxmox_options(values)
    return request_from_answers(directory, values)


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
    show_problems(started.problems, started.texts)
    if not started.has_invalid_options:
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
    return table(("FILE", "STATE", "DESCRIPTION"), rows, width=screen.width, paint=screen.paint)


def _next_steps(directory: Path, *, dry_run: bool) -> str:
    if dry_run:
        return "Dry run: nothing was written."
    where = "" if directory == Path() else f" -C {directory}"
    return f"Next: read the first lines of each file, then run `stockman{where} validate`."


_QUESTIONS = {
    "cluster_name": "Cluster name",
    "repository": "Git repository, as owner/name or URL",
    "proxmox_endpoint": "URL of the Proxmox VE API",
    "hosts": "Names of the Proxmox hosts, separated by commas",
    "storage": "Storage for the disks of the nodes",
    "bridge": "Bridge of the nodes",
    "vlan": "VLAN tag of the nodes, or none",
    "gateway": "Default gateway of the nodes",
    "talos_version": "Talos version",
}
_ANSWERS = (*_QUESTIONS, "domain")


def request_from_answers(directory: Path, values: Mapping[str, Any]) -> InitOptions:
    """Return what to create: from options, and from answers if no preset is given."""
    asks = values["preset"] is None
    request = InitOptions(
        directory=directory,
        preset=values["preset"] or _preset(),
        dialect=values["dialect"],
        network=values["network"],
        answers=Answers(
            **{name: None if values[name] is None else str(values[name]) for name in _ANSWERS}
        ),
    )
    _check_used(request)
    if asks and not values["yes"]:
        request = _add_network(request)
        request = _add_answers(request)
    return request


def _preset() -> str:
    screen = current_screen()
    if screen.can_prompt:
        screen.note(
            "If your Proxmox hosts are running, press Ctrl-C and use `stockman init --from-proxmox"
            " URL`: it\nreads them, and the files fit. A preset has to be adjusted to your hosts.\n"
        )
        for line in _overview(screen):
            screen.note(line)
    # There is no default without a terminal: a preset is never guessed.
    return ask(
        "Preset",
        option="--preset",
        choices=PRESETS,
        default=PRESETS[0] if screen.can_prompt else None,
    )


def _overview(screen: Screen) -> Iterator[str]:
    rows = [(Cell(name, "name"), SUMMARIES[name]) for name in PRESETS]
    return table(
        ("PRESET", "DESCRIPTION"), rows, width=screen.notes_width, paint=screen.notes_paint
    )


def _add_network(request: InitOptions) -> InitOptions:
    if request.network is not None:
        return request
    own = NETWORKS[request.preset]

    def check(text: str) -> str:
        try:
            network = NETWORK.convert(text, None, None)
        except click.BadParameter as error:
            return error.message
        return "" if network == own else invalid_option(replace(request, network=network))

    text = ask("Network of the machines", option="--network", default=str(own), check=check)
    network = IPv4Network(text)
    return request if network == own else replace(request, network=network)


def _add_answers(request: InitOptions) -> InitOptions:
    defaults = default_answers(request.preset, request.network)
    for name, question in _QUESTIONS.items():
        default = getattr(defaults, name)
        if default is not None and getattr(request.answers, name) is None:
            request = _ask(request, name, question, default)
    return _add_domain(request) if defaults.repository is not None else request


def _ask(request: InitOptions, name: str, question: str, default: str) -> InitOptions:
    text = ask(
        question,
        option=_option(name),
        default=default,
        check=lambda text: invalid_option(_answering_option(request, name, text)),
    )
    return request if text == default else _answering_option(request, name, text)


def _add_domain(request: InitOptions) -> InitOptions:
    if request.answers.domain is not None:
        return request
    if not confirm("Publish services on the internet through Cloudflare?", yes=False):
        return request
    domain = ask(
        "Domain hosted at Cloudflare",
        option=_option("domain"),
        default="example.com",
        check=lambda text: invalid_option(_answering_option(request, "domain", text)),
    )
    return _answering_option(request, "domain", domain)


def _answering_option(request: InitOptions, name: str, text: str) -> InitOptions:
    return replace(request, answers=replace(request.answers, **{name: text}))


def _check_used(request: InitOptions) -> None:
    """Refuse an option that the preset does not use."""
    defaults = replace(default_answers(request.preset), domain=None)
    has_cluster = defaults.repository is not None
    for name in _ANSWERS:
        used = has_cluster if name == "domain" else getattr(defaults, name) is not None
        if getattr(request.answers, name) is not None and not used:
            raise WrongUsage(_option_conflict(_option(name), request.preset))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option_conflict(option: str, preset: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} cannot be used with the preset {preset}",
        why=f"{preset} has no Talos cluster",
        fix=f"remove {option}, or choose another preset",
    )
