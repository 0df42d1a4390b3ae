"""What the user decided about files, as the paths of files that are rendered."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import replace

from stockman.config.nearest import nearest
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.rendering.ownership import Wishes


def decided(wishes: Wishes, paths: Collection[str]) -> Wishes:
    """Wishes about single files; a directory stands for all files of ours in it.

    Refuses a path at which nothing is rendered, and a file that is both to stay and to go.
    """
    overwrite = _files("--overwrite", wishes.overwrite, paths)
    accept = _files("--accept", wishes.accept, paths)
    both = sorted(overwrite & accept)
    if both:
        raise WrongUsage(_contradiction(both[0]))
    return replace(wishes, overwrite=overwrite, accept=accept)


def _files(option: str, wished: Collection[str], paths: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for written in sorted(wished):
        path = posixpath.normpath(written)
        meant = {one for one in paths if one == path or one.startswith(f"{path}/")}
        if not meant:
            raise WrongUsage(_unknown(option, written, paths))
        found |= meant
    return frozenset(found)


def _unknown(option: str, path: str, paths: Collection[str]) -> Problem:
    meant = nearest(path, sorted(paths))
    return Problem(
        code="render.path",
        what=f"{option} names {path}, which stockman does not render",
        why="only rendered files can be overwritten or accepted, by their path from the top",
        fix=f"did you mean {meant}?" if meant else "`stockman render --tree` lists all files",
    )


def _contradiction(path: str) -> Problem:
    return Problem(
        code="render.path",
        what=f"{path} is to be overwritten and to be accepted",
        why="the one replaces your version, the other keeps it",
        fix="give the file to one of --overwrite and --accept",
    )
