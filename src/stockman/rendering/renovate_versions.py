"""Versions that Renovate finds by their place: in the configuration, and beside markers."""

from __future__ import annotations

_NUMBER = r"(?<currentValue>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)"
"""Without a leading `v`, which stays as it is."""
_DIGITS = r"(?<currentValue>\d+\.\d+\.\d+)"
_OPEN, _CLOSE = r"[\"']?v?", r"[\"']?"
_TALOS = {
    "depNameTemplate": "siderolabs/talos",
    "datasourceTemplate": "github-releases",
    "extractVersionTemplate": "^v(?<version>.+)$",
}
_KUBERNETES = {
    "depNameTemplate": "ghcr.io/siderolabs/kubelet",
    "datasourceTemplate": "docker",
    "extractVersionTemplate": "^v(?<version>.+)$",
}
_PRODUCTS = {"talos": _TALOS, "kubernetes": _KUBERNETES}
_MARKED_FILES = (
    r"/^cluster\.(ya?ml|toml)$/",
    r"/^nodes\.ya?ml$/",
    r"/^talos/(talenv|topf)\.ya?ml$/",
    r"/^kubernetes/.+\.ya?ml$/",
)


def custom_managers() -> list[dict[str, object]]:
    """Where versions stand that no manager of Renovate's own knows."""
    found: list[dict[str, object]] = [_marked()]
    for name, product in _PRODUCTS.items():
        found.append(_in_configuration(name, product))
        found.append(_in_terraform(name, product))
        found.append(_in_upgrades(name, product))
    return [*found, _in_machines()]


def _marked() -> dict[str, object]:
    """A version in the line below `# renovate: datasource=... depName=...`."""
    names = r"datasource=(?<datasource>\S+) depName=(?<depName>\S+)"
    more = r"(?: versioning=(?<versioning>\S+))?(?: registryUrl=(?<registryUrl>\S+))?"
    value = r"[^\n]*?[:=]\s*[\"']?(?<currentValue>[^\s\"']+)"
    return {
        "customType": "regex",
        "description": "Versions below a marker",
        "managerFilePatterns": list(_MARKED_FILES),
        "matchStrings": [rf"#\s*renovate: {names}{more}\s*\n{value}"],
    }


def _in_configuration(name: str, product: dict[str, str]) -> dict[str, object]:
    flat = rf"(?:^|\n){name}_version:[ \t]*{_OPEN}{_NUMBER}{_CLOSE}"
    nested = rf"(?:^|\n){name}:[ \t]*\n(?:[ \t#][^\n]*\n|\n)*?[ \t]+version:[ \t]*{_OPEN}{_NUMBER}"
    toml = (
        rf"(?:^|\n)\[{name}\][ \t]*\n(?:[^\[\n][^\n]*\n|\n)*?version[ \t]*=[ \t]*{_OPEN}{_NUMBER}"
    )
    return {
        "customType": "regex",
        "description": f"The version of {name.capitalize()} in the configuration",
        "managerFilePatterns": [r"/^cluster\.(ya?ml|toml)$/"],
        "matchStrings": [flat, nested, toml],
        **product,
    }


def _in_terraform(name: str, product: dict[str, str]) -> dict[str, object]:
    return {
        "customType": "regex",
        "description": f"The version of {name.capitalize()} in Terraform's variables",
        "managerFilePatterns": [r"/^terraform/variables\.tf$/"],
        "matchStrings": [
            rf"variable\s+\"{name}_version\"\s*\{{[^}}]*?default\s*=\s*\"v?{_NUMBER}\""
        ],
        **product,
    }


def _in_upgrades(name: str, product: dict[str, str]) -> dict[str, object]:
    return {
        "customType": "regex",
        "description": f"The version of {name.capitalize()} that tuppr upgrades to",
        "managerFilePatterns": [r"/^kubernetes/.+/upgrades?\.ya?ml$/"],
        "matchStrings": [rf"\n  {name}:\n    version: v{_NUMBER}"],
        **product,
    }


def _in_machines() -> dict[str, object]:
    return {
        "customType": "regex",
        "description": "The version of Talos in the images that new nodes are made from",
        "managerFilePatterns": [r"/^kubernetes/.+/machines\.ya?ml$/"],
        "matchStrings": [rf"/image/[0-9a-f]{{64}}/v{_NUMBER}/", rf": talos-{_DIGITS}-"],
        **_TALOS,
    }
