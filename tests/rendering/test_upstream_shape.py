"""Input in the shape of cluster-template's gives every file that its users know."""

from __future__ import annotations

from tests.fast_yaml import load_all_yaml
from tests.rendering.shapes import drawn, shaped, texts

APPS = {
    "cert-manager": ("cert-manager",),
    "default": ("echo",),
    "flux-system": ("flux-instance", "flux-operator"),
    "kube-system": ("cilium", "coredns", "metrics-server", "reloader", "spegel"),
    "network": ("cloudflare-dns", "cloudflare-tunnel", "envoy-gateway", "k8s-gateway"),
}
"""Apps of cluster-template by namespace, for a public repository and two nodes."""


def app_files() -> set[str]:
    result = set()
    for namespace, apps in APPS.items():
        base = f"kubernetes/apps/{namespace}"
        result |= {f"{base}/namespace.yaml", f"{base}/kustomization.yaml"}
        for app in apps:
            result.add(f"{base}/{app}/ks.yaml")
            result |= {
                f"{base}/{app}/app/{name}.yaml"
                for name in ("kustomization", "helmrelease", "ocirepository")
            }
    return result


def objects(kind: str, files: dict[str, str]) -> list[str]:
    return [
        path
        for path, text in files.items()
        if path.endswith(".yaml")
        for item in load_all_yaml(text)
        if isinstance(item, dict) and item.get("kind") == kind and "apiVersion" in item
    ]


def test_every_file_of_an_app_is_where_it_is_expected() -> None:
    assert app_files() <= {file.path for file in drawn(shaped()).tree}


def test_known_apps_have_the_known_counts() -> None:
    files = texts(drawn(shaped()))
    known = {path: text for path, text in files.items() if path in app_files()}

    assert len([path for path in known if path.endswith("/kustomization.yaml")]) == 18
    assert len(objects("HelmRelease", known)) == 13
    folders = {path.rpartition("/")[0] for path in known if path.endswith("/ks.yaml")}
    assert len(folders | {"kubernetes/flux/cluster"}) == 14


def test_the_whole_has_at_least_these_counts() -> None:
    files = texts(drawn(shaped()))

    lists = [path for path in files if path.endswith("/kustomization.yaml")]
    assert len([path for path in lists if path.startswith("kubernetes/apps/")]) >= 18
    assert len(objects("HelmRelease", files)) >= 13
    assert len([path for path in objects("Kustomization", files) if path.endswith("ks.yaml")]) >= 14


def test_a_public_repository_has_the_known_secrets_and_no_deploy_key() -> None:
    secret = {file.path for file in drawn(shaped()).tree if file.is_secret}
    assert len(secret) >= 6
    assert {
        "bootstrap/sops-age.sops.yaml",
        "kubernetes/components/sops/cluster-secrets.sops.yaml",
    } <= secret
    assert "bootstrap/github-deploy-key.sops.yaml" not in secret


def test_everything_else_of_the_classic_layout_is_there() -> None:
    paths = {file.path for file in drawn(shaped(visibility="private")).tree}
    assert {
        ".sops.yaml",
        "bootstrap/github-deploy-key.sops.yaml",
        "bootstrap/helmfile.d/00-crds.yaml",
        "bootstrap/helmfile.d/01-apps.yaml",
        "bootstrap/helmfile.d/templates/values.yaml.gotmpl",
        "kubernetes/flux/cluster/ks.yaml",
        "kubernetes/components/sops/kustomization.yaml",
        "talos/talconfig.yaml",
        "talos/talenv.yaml",
    } <= paths
    assert any(path.startswith("talos/patches/") for path in paths)


def test_everything_else_of_the_toml_layout_is_there() -> None:
    tasks = "repository: {tasks: true}\n"
    result = drawn(shaped(tasks, visibility="private"), "toml")
    assert {
        ".sops.yaml",
        "bootstrap/deploy-key.sops.yaml",
        "bootstrap/sops-age.sops.yaml",
        "bootstrap/helmfile/apps.yaml",
        "bootstrap/helmfile/crds.yaml",
        "bootstrap/helmfile/default.yaml",
        "bootstrap/helmfile/templates/release.yaml.gotmpl",
        "bootstrap/helmfile/templates/values.yaml.gotmpl",
        "bootstrap/mod.just",
        "kubernetes/mod.just",
        "talos/mod.just",
        "talos/topf.yaml",
        "talos/all/10-stockman.yaml",
        "talos/node/cp-1/10-stockman.yaml",
        "talos/node/work-1/10-stockman.yaml",
    } <= {file.path for file in result.tree}


def test_a_list_of_all_apps_is_not_made() -> None:
    assert "kubernetes/apps/kustomization.yaml" not in {file.path for file in drawn(shaped()).tree}
