"""Both trees give byte for byte what makejinja gives, with the settings of cluster-template.

What it gives is recorded as digests in `tree/DIALECT.json`; `make real` compares with makejinja.
"""

from pathlib import Path

import pytest

from stockman.rendering.templates.render import RenderResult
from tests.rendering.templates.trees import (
    HERE,
    Recorded,
    digests,
    prepared,
    recorded,
    rendered,
    workspace,
    written,
)

NOTHING = {
    "files/blank.yaml",
    "files/empty.yaml",
    "off/macros.yaml",
    "off/only/one.yaml",
    "replaced/gone.yaml",
}


@pytest.fixture(scope="module", params=["classic", "toml"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RenderResult, Recorded]:
    top = prepared(tmp_path_factory.mktemp("tree"), request.param)
    return rendered(top), recorded(request.param)


def test_the_trees_have_enough_templates() -> None:
    assert len(list(HERE.glob("tree/**/*.j2"))) >= 60


def test_no_template_has_a_problem(both: tuple[RenderResult, Recorded]) -> None:
    rendering, _ = both

    assert [str(problem) for problem in rendering.problems] == []


def test_every_byte_and_permission_is_as_makejinja_makes_it(
    both: tuple[RenderResult, Recorded],
) -> None:
    rendering, expected = both

    assert digests(written(rendering)) == expected


def test_files_come_in_the_order_of_their_paths(both: tuple[RenderResult, Recorded]) -> None:
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
