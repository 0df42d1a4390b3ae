"""Values that shells offer: names out of the user's files, presets, keys, problem codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from stockman.cli.options import directory
from stockman.model.errors import StockmanError

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]

_SOURCE = "stockman.app.completion"


def values_of(function: str) -> Completer:
    """Completes with what a function returns, named as `module:function`."""
    return lambda ctx, param, incomplete: _offered(function, incomplete)


def values_in_directory(function: str) -> Completer:
    """Completes with what a function returns for the directory the command works in."""
    return lambda ctx, param, incomplete: _offered(function, incomplete, directory(ctx))


complete_nodes = values_in_directory(f"{_SOURCE}:node_names")
complete_subjects = values_in_directory(f"{_SOURCE}:subject_names")
complete_clusters = values_in_directory(f"{_SOURCE}:cluster_names")
complete_steps = values_in_directory(f"{_SOURCE}:step_names")
complete_stages_and_steps = values_in_directory(f"{_SOURCE}:stage_and_step_names")
complete_secret_files = values_in_directory(f"{_SOURCE}:secret_file_names")
complete_runs = values_in_directory(f"{_SOURCE}:run_names")
complete_presets = values_of(f"{_SOURCE}:preset_names")
complete_keys = values_of(f"{_SOURCE}:key_names")
complete_codes = values_of(f"{_SOURCE}:problem_codes")
complete_components = values_of(f"{_SOURCE}:catalog_names")


def complete_lab_machines(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with the Talos machines of the lab that the command line means."""
    del param
    given = ctx.params.get("state")
    return _offered(f"{_SOURCE}:lab_machine_names", incomplete, directory(ctx), given)


def complete_lab_hosts(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with the hosts of the lab that the command line means."""
    del param
    given = ctx.params.get("state")
    return _offered(f"{_SOURCE}:lab_host_names", incomplete, directory(ctx), given)


def complete_what_explain_takes(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with keys, problem codes, and components after the word component."""
    given = ctx.params.get(param.name or "") or ()
    if tuple(given)[:1] == ("component",):
        return complete_components(ctx, param, incomplete)
    word = [CompletionItem("component")] if "component".startswith(incomplete) else []
    keys = complete_keys(ctx, param, incomplete)
    return [*word, *keys, *complete_codes(ctx, param, incomplete)]


def _offered(function: str, incomplete: str, *arguments: object) -> list[CompletionItem[str]]:
    """Values that begin as typed; none where the files they come from are missing or wrong."""
    module, _, name = function.partition(":")
    try:
        source: Any = getattr(import_module(module), name)
        values: Iterable[object] = source(*arguments)
        return [
            CompletionItem(text) for value in values if (text := str(value)).startswith(incomplete)
        ]
    except (ImportError, AttributeError, LookupError, OSError, ValueError, StockmanError):
        return []
