"""Where templates must not write."""

import pytest

from stockman.rendering.templates.contract import forbidden_path_reason


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".GIT/config",
        "vendor/.git/config",
        ".stockman/rendered.lock",
        "templates/config/another.j2",
        "template/overrides/another.j2",
        "cluster.yaml",
        "Nodes.yaml",
        "cluster.toml",
        "age.key",
        "talos/talsecret.sops.yaml",
        ".sops.yaml",
        "kubeconfig",
        "talosconfig",
        "talos/proxmox-tokens.sops.yaml",
        "github-push-token.txt",
    ],
)
def test_paths_that_are_not_for_templates_are_refused(path: str) -> None:
    problem = forbidden_path_reason(path, "templates/config/x")

    assert problem is not None
    assert (problem.code, problem.where) == ("template.reserved", "templates/config/x")


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".github/workflows/own.yaml",
        "templates",
        "kubernetes/apps/default/echo/ks.yaml",
        "kubernetes/apps/default/echo/app/cluster.yaml",
        "talos/talconfig.yaml",
    ],
)
def test_all_other_paths_are_free(path: str) -> None:
    assert forbidden_path_reason(path, "templates/config/x") is None
