"""Problems that prevent a conversion."""

from __future__ import annotations

from pathlib import Path

from stockman.model.problem import Problem


def same_dialect(source: Path, dialect: str) -> Problem:
    return Problem(
        code="convert.same-dialect",
        what=f"{source} is in the {dialect} dialect already",
        where=str(source),
        why="a conversion needs two different forms",
        fix=f"give `--to {'toml' if dialect == 'classic' else 'classic'}`, or leave `--to` out",
    )


def two_dialects(source: Path) -> Problem:
    return Problem(
        code="config.two-dialects",
        what="cluster.toml exists next to cluster.yaml or nodes.yaml",
        where=str(source),
        why="both describe the cluster and may differ",
        fix="choose one with `--from classic` or `--from toml`",
    )


def no_source(source: Path) -> Problem:
    return Problem(
        code="config.no-files",
        what="there is nothing here to convert",
        where=str(source),
        why="a directory is converted if cluster.yaml, nodes.yaml or cluster.toml is in it",
        fix="name a directory with one of them, or a file such as vm.yml or variables.tf",
    )


def unknown_form(source: Path) -> Problem:
    return Problem(
        code="convert.unknown-form",
        what=f"the format of {source.name} is unknown",
        where=str(source),
        why="neither its name nor its content matches a supported format",
        fix="say it with `--from classic`, `toml`, `vm` or `terraform`",
    )


def file_exists(path: Path) -> Problem:
    return Problem(
        code="convert.exists",
        what=f"{path.name} exists already",
        where=str(path),
        why="it differs from the result and would be lost",
        fix="choose another directory with `--out`, or replace it with `--force`",
    )


def unwritable(out: Path, error: OSError) -> Problem:
    return Problem(
        code="convert.unwritable",
        what="the result cannot be written",
        where=str(error.filename or out),
        why=f"the system says: {error.strerror or type(error).__name__}",
        fix="give a directory that may be written with `--out`",
    )


def unreadable(path: Path, error: OSError) -> Problem:
    return Problem(
        code="workspace.unreadable",
        what=f"{path.name} cannot be read",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="check the file's permissions",
    )


def no_tool(directory: Path, name: str) -> Problem:
    return Problem(
        code="import.missing-file",
        what=f"{name} does not exist",
        where=str(directory),
        why="it is the main file of the tool",
        fix="pass the directory that contains it",
    )


def no_such_key(key: str) -> Problem:
    return Problem(
        code="cli.usage",
        what=f"there is no key {key} to set",
        where="--set",
        why="a key is given by its path, or by its name in cluster.yaml",
        fix="write for example --set cluster_gateway_addr=127.66.0.11, or see `stockman explain`",
    )
