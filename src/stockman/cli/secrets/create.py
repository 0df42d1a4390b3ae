"""`stockman secrets create`: the secrets bundle of the cluster."""

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
        "stockman secrets create": "make the secrets of a new cluster, encrypted",
        "stockman secrets create --from controlplane.yaml": (
            "take those of a running cluster from a controller's machine configuration"
        ),
        "stockman secrets create --from secrets.yaml": "take what `talosctl gen secrets` wrote",
    },
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take the secrets of a running cluster from this file.",
)
@options.output_or_name
@click.pass_context
def secrets_create(ctx: click.Context, source: Path | None, output: Output) -> int:
    """Make the secrets bundle of the cluster, or take that of a running one.

    The bundle is talos/talsecret.sops.yaml, or talos/secrets.sops.yaml beside cluster.toml, in the
    form of `talosctl gen secrets` and encrypted by the rules of .sops.yaml. One that is there
    is never overwritten. --from takes a machine configuration of a controller, or a bundle, be
    that encrypted or not; the file itself is left as it is.
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
        human=lambda *_: [f"{name}: written"],
        names=lambda _: [name],
    )
    if source is not None:
        current_screen().note(f"{source} still holds the secrets: delete it if it is not encrypted")
    return Exit.DONE
