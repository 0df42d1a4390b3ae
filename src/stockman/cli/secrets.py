"""`stockman secrets`: the encrypted files of a cluster."""

from __future__ import annotations

from stockman.cli.group import group


@group(
    examples={
        "stockman secrets status": "every secret file, and whether it changed",
        "stockman secrets edit kubernetes/apps/default/echo/app/secret.sops.yaml": (
            "change a file in your editor"
        ),
    }
)
def secrets() -> None:
    """Make, open and change encrypted files, without sops and age."""
