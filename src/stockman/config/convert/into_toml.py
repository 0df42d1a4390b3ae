"""What was written as `cluster.toml`."""

from __future__ import annotations

from stockman.config.convert.written import Written
from stockman.config.load import CLUSTER_TOML
from stockman.config.noted import Noted
from stockman.config.toml_writer import dump


def toml_files(written: Written) -> dict[str, str]:
    """The file of the TOML dialect."""
    sections = {**written.cluster, **written.machines}
    text = dump(
        Noted(
            value=sections,
            above=(*written.header, "") if written.header else (),
            below=("", *written.footer) if written.footer else (),
        )
    )
    return {CLUSTER_TOML: text}
