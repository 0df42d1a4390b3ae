"""Both trees give byte for byte what makejinja gives, with the settings of cluster-template."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.rendering.templates.names import names_of
from stockman.rendering.templates.render import Rendering
from tests.rendering.templates.trees import HERE, judged, plain, rendered, workspace

Judged = Mapping[str, tuple[bytes, int]]
NOTHING = {
    "files/blank.yaml",
    "files/empty.yaml",
    "off/macros.yaml",
    "off/only/one.yaml",
    "replaced/gone.yaml",
}


def prepared(directory: Path, dialect: str) -> Path:
    """A tree with what cannot stand in a repository: permissions, links, bytes, an empty place."""
    top = workspace(directory, dialect)
    config = next(top.glob("template*")) / "config"
    (config / "script.sh.j2").write_text("#!/bin/sh\necho #{ nodes | length }#\n")
    (config / "script.sh.j2").chmod(0o755)
    (config / "private.txt").write_bytes(b"\xff\xfe raw\r\n\x00#{ x }#")
    (config / "private.txt").chmod(0o600)
    (config / "nothing" / "below").mkdir(parents=True)
    (config / "linked.yaml.j2").symlink_to("script.sh.j2")
    (config / "linked-directory").symlink_to("names")
    (config.parent / "overrides").mkdir(exist_ok=True)
    if dialect == "toml":
        loaded = load({"cluster.toml": (top / "cluster.toml").read_bytes()})
        names = plain(names_of(loaded, resolve(loaded)).values)
        (top / "names.json").write_text(json.dumps(names))
    return top


@pytest.fixture(scope="module", params=["classic", "toml"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Rendering, Judged]:
    top = prepared(tmp_path_factory.mktemp("tree"), request.param)
    return rendered(top), judged(top)


def test_the_trees_have_enough_templates() -> None:
    assert len(list(HERE.glob("tree/**/*.j2"))) >= 60


def test_no_template_has_a_problem(both: tuple[Rendering, Judged]) -> None:
    rendering, _ = both

    assert [str(problem) for problem in rendering.problems] == []


def test_every_byte_and_permission_is_as_makejinja_makes_it(
    both: tuple[Rendering, Judged],
) -> None:
    rendering, expected = both

    made = {
        path: (file.content, file.mode)
        for path, file in rendering.files.items()
        if file.content is not None
    }

    assert made == expected


def test_files_come_in_the_order_of_their_paths(both: tuple[Rendering, Judged]) -> None:
    rendering, _ = both

    assert list(rendering.files) == sorted(rendering.files)


def test_paths_that_came_out_empty_are_kept(tmp_path: Path) -> None:
    rendering = rendered(workspace(tmp_path, "classic"))

    empty = {path for path, file in rendering.files.items() if file.content is None}

    assert empty == NOTHING


def test_a_copied_file_without_content_is_a_file(tmp_path: Path) -> None:
    rendering = rendered(workspace(tmp_path, "classic"))

    assert rendering.files["files/empty.txt"].content == b""


def test_every_file_names_what_it_was_made_of(tmp_path: Path) -> None:
    files = rendered(workspace(tmp_path, "classic")).files

    assert files["replaced/app.yaml"].origin == "templates/overrides/replaced/app.yaml.j2"
    assert files["replaced/kept.yaml"].origin == "templates/config/replaced/kept.yaml.j2"


def test_a_second_render_gives_the_same(tmp_path: Path) -> None:
    top = workspace(tmp_path, "classic")

    assert rendered(top).files == rendered(top).files


def test_secrets_reach_only_files_that_are_encrypted(tmp_path: Path) -> None:
    rendering = rendered(workspace(tmp_path, "classic"))

    revealing = {path for path, file in rendering.files.items() if file.reveals}

    assert revealing == {
        "functions/age.sops.yaml",
        "functions/deploy-key.sops.yaml",
        "functions/tunnel.sops.yaml",
        "kubernetes/apps/dairy/milk/app/secret.sops.yaml",
    }
