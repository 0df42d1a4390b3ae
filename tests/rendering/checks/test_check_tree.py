"""What the checks of a rendered tree find, and what they let pass."""

from __future__ import annotations

import pytest

from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.checks.tree import check_tree
from stockman.rendering.repository import RenderedRepository
from stockman.rendering.tree import FileTree, RenderedFile
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.rendering.checks.trees import MEADOW, app, config_map, judged, pod


def codes(*objects: str, ks: str = "") -> list[str]:
    return [problem.code for problem in judged(app(*objects, ks=ks))[1]]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_a_tree_with_everything_on_has_no_problem(dialect: str) -> None:
    problems = Problems()
    result = rendered(
        EVERYTHING, preset="fifteen-node", dialect="toml" if dialect == "toml" else "classic"
    )

    checked = check_tree(result, problems)

    assert list(problems) == []
    assert checked.objects > 200
    assert checked.not_checked == {}


def test_names_that_others_make_are_listed_with_the_reason() -> None:
    checked = check_tree(rendered(EVERYTHING, preset="fifteen-node"), Problems())

    assert {(item.name, item.reason) for item in checked.elsewhere} == {
        ("letsencrypt-production", "cert-manager creates it when it registers an account"),
        ("karpenter-machine", "the app waits for the secrets bundle of the cluster"),
    }


def test_an_app_of_the_user_has_no_problem() -> None:
    checked, problems = judged(app(config_map(), pod("{image: {repository: a/b, tag: 1.0.0}}")))

    assert problems == []
    assert checked.not_checked == {}


def test_a_kind_without_a_table_is_named_and_not_judged() -> None:
    checked, problems = judged(
        app("apiVersion: example.com/v1\nkind: Meadow\nmetadata: {name: one}\nspec: 1\n")
    )

    assert problems == []
    assert checked.not_checked == {"example.com/v1 Meadow": 1}


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (config_map(more="data: {height: 3}\n"), "data.height"),
        (config_map(more="dta: {}\n"), "dta"),
        (config_map("Grass"), "metadata.name"),
        (config_map(more="").replace("ConfigMap", "ConfigMap\nmetadata2: {}"), "metadata2"),
        (pod("{}").replace("interval: 1h", "interval: often"), "spec.interval"),
        (pod("{}").replace("  interval: 1h\n", ""), "spec.interval"),
        (pod("{}").replace("chartRef: {kind: OCIRepository", "chartRef: {kind: Pod"), "kind"),
        (pod("{}").replace("interval: 1h", "interval: 1h\n  suspend: 'no'"), "spec.suspend"),
    ],
)
def test_an_object_that_does_not_fit_its_kind_is_reported(wrong: str, place: str) -> None:
    (only,) = judged(app(wrong))[1]

    assert only.code == "render.schema"
    assert only.what.endswith(place)
    assert only.where == f"{MEADOW}/app/object.yaml"


def test_what_flux_substitutes_fits_every_pattern() -> None:
    assert codes(pod("{}").replace("interval: 1h", "interval: ${OFTEN}")) == []


def test_a_file_that_is_not_yaml_is_reported_with_its_line() -> None:
    (only,) = [item for item in judged(app("a: [\n"))[1] if item.code == "render.not-yaml"]

    assert str(only.where).startswith(f"{MEADOW}/app/object.yaml:")


def test_a_kustomization_that_names_a_missing_file_is_reported() -> None:
    files = app(config_map())
    files[f"{MEADOW}/app/kustomization.yaml"] += (
        "configMapGenerator: [{name: a, files: [b=c.txt]}]\n"
    )

    (only,) = judged(files)[1]

    assert only.code == "render.file-missing"
    assert "c.txt" in only.what


def test_a_file_of_the_users_own_counts_as_there() -> None:
    files = app(config_map())
    files[f"{MEADOW}/app/kustomization.yaml"] += (
        "configMapGenerator: [{name: a, files: [b=c.txt]}]\n"
    )

    assert judged(files, {f"{MEADOW}/app/c.txt": "text"})[1] == []


def test_a_remote_resource_need_not_be_a_file() -> None:
    files = app(config_map())
    path = f"{MEADOW}/app/kustomization.yaml"
    files[path] = files[path].replace("]", ", https://127.0.0.1/one.yaml]")

    assert judged(files)[1] == []


def test_an_app_whose_directory_is_missing_is_reported() -> None:
    files = app(config_map())
    path = f"{MEADOW}/ks.yaml"
    files[path] = files[path].replace("meadow/app", "pasture/app")

    assert [item.code for item in judged(files)[1]] == ["render.file-missing"]


def test_an_app_that_waits_for_nobody_is_reported() -> None:
    (only,) = judged(app(config_map(), ks="  dependsOn: [{name: goat}]\n"))[1]

    assert only.code == "render.depends-missing"
    assert "default/goat" in only.what


def test_apps_that_wait_for_each_other_are_reported_once() -> None:
    (only,) = judged(app(config_map(), ks="  dependsOn: [{name: meadow}]\n"))[1]

    assert only.code == "render.depends-circle"
    assert only.why == "meadow -> meadow"


def test_an_object_in_two_files_is_reported() -> None:
    files = app(config_map())
    files[f"{MEADOW}/app/second.yaml"] = config_map(more="data: {height: '4'}\n")
    path = f"{MEADOW}/app/kustomization.yaml"
    files[path] = files[path].replace("]", ", ./second.yaml]")

    assert [item.code for item in judged(files)[1]] == ["render.twice"]


def test_an_object_twice_in_one_file_is_reported() -> None:
    assert codes(config_map(), config_map()) == ["render.twice"]


def test_a_namespace_that_nobody_makes_is_reported() -> None:
    files = app(config_map())
    path = f"{MEADOW}/ks.yaml"
    files[path] = files[path].replace("targetNamespace: default", "targetNamespace: pasture")

    (only,) = judged(files)[1]

    assert only.code == "render.namespace"


@pytest.mark.parametrize(
    "container",
    [
        "{envFrom: [{secretRef: {name: goat}}]}",
        "{env: [{name: A, valueFrom: {secretKeyRef: {name: goat, key: a}}}]}",
        "{env: [{name: A, valueFrom: {configMapKeyRef: {name: grass, key: b}}}]}",
        "{existingSecret: goat}",
        "{volumes: [{name: a, secret: {secretName: goat}}]}",
        "{volumes: [{name: a, configMap: {name: goat}}]}",
    ],
)
def test_a_reference_to_nothing_is_reported(container: str) -> None:
    assert codes(config_map(), pod(container)) == ["render.reference"]


@pytest.mark.parametrize(
    "container",
    [
        "{envFrom: [{secretRef: {name: cluster-secrets}}]}",
        "{env: [{name: A, valueFrom: {secretKeyRef: {name: goat, key: a, optional: true}}}]}",
        "{env: [{name: A, valueFrom: {configMapKeyRef: {name: grass, key: height}}}]}",
        "{existingSecret: ''}",
        "{volumes: [{name: a, configMap: {name: grass}}]}",
    ],
)
def test_a_reference_to_something_passes(container: str) -> None:
    assert codes(config_map(), pod(container)) == []


@pytest.mark.parametrize(
    "image",
    [
        "a/b",
        "a/b:latest",
        "127.0.0.1:5000/a/b",
        "{repository: a/b}",
        "{repository: a/b, tag: latest}",
    ],
)
def test_an_image_that_may_change_is_reported(image: str) -> None:
    assert codes(pod(f"{{image: {image!r}}}" if image[0] != "{" else f"{{image: {image}}}")) == [
        "render.unpinned"
    ]


@pytest.mark.parametrize(
    "image", ["a/b:1.0.0", f"a/b@sha256:{'0' * 64}", "{repository: a/b, tag: v1}"]
)
def test_an_image_with_its_tag_passes(image: str) -> None:
    assert codes(pod(f"{{image: {image!r}}}" if image[0] != "{" else f"{{image: {image}}}")) == []


SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: one}
spec: {interval: 1h, url: %s, ref: {%s}}
"""


@pytest.mark.parametrize("version", ["tag: latest", "tag: 1.x", "semver: '>1'"])
def test_a_chart_that_may_change_is_reported(version: str) -> None:
    assert codes(SOURCE % ("oci://127.0.0.1/charts/one", version)) == ["render.unpinned"]


def test_a_chart_of_the_catalog_in_another_version_is_a_warning() -> None:
    (only,) = judged(app(SOURCE % ("oci://quay.io/jetstack/charts/cert-manager", "tag: v1.0.0")))[1]

    assert only.code == "render.chart-unknown"
    assert not only.is_error


def test_of_a_version_that_the_configuration_names_nothing_is_said_again() -> None:
    problems = Problems()

    check_tree(rendered({"components": {"echo": {"version": "0.1.0"}}}), problems)

    assert list(problems) == []


def test_no_message_holds_a_value_of_a_secret() -> None:
    base = rendered()
    tree = FileTree(base.tree)
    text = config_map("UPPER", "stringData: {a: [hidden]}\nhidden: hidden\n")
    file = RenderedFile(
        path="bootstrap/x.sops.yaml", owner="x", text=Secret(text.replace("ConfigMap", "Secret"))
    )
    tree.add(file)
    problems = Problems()

    check_tree(RenderedRepository(tree=tree, apps=base.apps, selection=base.selection), problems)

    assert len(problems) == 3
    assert not any("[hidden]" in str(problem) or ": hidden" in str(problem) for problem in problems)
