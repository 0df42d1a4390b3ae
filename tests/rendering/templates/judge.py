"""A plugin for makejinja that gives templates what cluster-template's own gives them.

It is written after the documented contract, not after the code under test, and runs in makejinja's
process: it may import nothing of stockman. Where `names.json` stands beside it, the names come from
there.
"""

import base64
import ipaddress
import json
import re
from pathlib import Path
from typing import Any


def _text(name: str) -> str:
    return Path(name).read_text("utf-8").strip()


def age_key(key_type: str, file_path: str = "age.key") -> str:
    pattern = {"public": r"# public key: (\S+)", "private": r"(AGE-SECRET-KEY-\S+)"}[key_type]
    return str(re.findall(pattern, _text(file_path))[0])


def cloudflare_tunnel_id(file_path: str = "cloudflare-tunnel.json") -> str:
    return str(json.loads(_text(file_path))["TunnelID"])


def cloudflare_tunnel_secret(file_path: str = "cloudflare-tunnel.json") -> str:
    tunnel = json.loads(_text(file_path))
    parts = {"a": tunnel["AccountTag"], "t": tunnel["TunnelID"], "s": tunnel["TunnelSecret"]}
    return base64.b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode()


def github_deploy_key(file_path: str = "github-deploy.key") -> str:
    return _text(file_path)


def github_push_token(file_path: str = "github-push-token.txt") -> str:
    return _text(file_path)


def deploy_key(file_path: str = "deploy.key") -> str:
    return _text(file_path)


def webhook_token(file_path: str = "flux-webhook-token.txt") -> str:
    return _text(file_path)


def talos_patches(value: str) -> list[str]:
    directory = Path("templates/config/talos/patches") / value
    return [str(path) for path in sorted(directory.glob("*.yaml.j2")) if path.is_file()]


def basename(value: str) -> str:
    return Path(value).stem


def nthhost(value: str, query: int) -> str | bool:
    try:
        network = ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return str(network[query]) if 0 <= query < network.num_addresses else False


class Plugin:
    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def data(self) -> dict[str, Any]:
        path = Path("names.json")
        if path.exists():
            data: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return data
        defaults = {
            "node_default_gateway": nthhost(self._data["node_cidr"], 1),
            "node_dns_servers": ["1.1.1.1", "1.0.0.1"],
            "node_ntp_servers": ["162.159.200.1", "162.159.200.123"],
            "cluster_pod_cidr": "10.42.0.0/16",
            "cluster_svc_cidr": "10.43.0.0/16",
            "repository_branch": "main",
            "repository_visibility": "public",
            "cilium_loadbalancer_mode": "dsr",
            "cilium_bgp_enabled": False,
            "spegel_enabled": len(self._data["nodes"]) > 1,
        }
        return defaults | self._data

    def filters(self) -> list[Any]:
        return [basename, nthhost]

    def functions(self) -> list[Any]:
        return [
            age_key,
            cloudflare_tunnel_id,
            cloudflare_tunnel_secret,
            deploy_key,
            github_deploy_key,
            github_push_token,
            talos_patches,
            webhook_token,
        ]
