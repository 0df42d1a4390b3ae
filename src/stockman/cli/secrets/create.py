"""`stockman secrets create`: create the secrets bundle."""

from __future__ import annotations

from pathlib import Path

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.secrets.store import new_bundle, open_store, show_problems
from stockman.cli.terminal.screen import current_screen


@command(
    name="create",
    examples={
        "stockman secrets create": "create encrypted secrets for a new cluster",
        "stockman secrets create --from controlplane.yaml": (
            "import the secrets of a running cluster from a controller's machine configuration"
        ),
        "stockman secrets create --from secrets.yaml": (
            "import the output of `talosctl gen secrets`"
        ),
    },
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Import the secrets of a running cluster from this file.",
)
@options.output_or_name
@click.pass_context
def secrets_create(ctx: click.Context, source: Path | None, output: Output) -> int:
    """Create the secrets bundle of the cluster, or import an existing one.

    The bundle is talos/talsecret.sops.yaml, or talos/secrets.sops.yaml with cluster.toml. It has
    the format of `talosctl gen secrets` and is encrypted by the rules of .sops.yaml. An existing
    bundle is never overwritten. --from accepts the machine configuration of a controller or a
    bundle, encrypted or not; the file is not changed.
    """
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.secrets.bundle_creation import BundleCreation, create_bundle

    store = open_store(ctx)
    show_problems(store.keyring.problems)
    making = BundleCreation(clock=SystemClock(), entropy=SystemEntropy(), make_bundle=new_bundle)
    name = create_bundle(store, making, source=source)
    show(
        {"file": name, "from": str(source) if source else None},
        kind="SecretsBundle",
        output=output,
        human=lambda *_: [f"{name}: created"],
        names=lambda _: [name],
    )
    if source is not None:
        current_screen().note(
            f"{source} still contains the secrets: delete it if it is not encrypted"
        )
    return Exit.DONE
