"""Keys of cluster.yaml that turn every component on."""

from __future__ import annotations

UUID = "00000000-0000-4000-8000-000000000001"
RECIPIENT = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"

EVERYTHING: dict[str, object] = {
    "backup": {
        "targets": [
            {
                "bucket": "etcd",
                "endpoint": "https://127.0.0.1:9000",
                "access_key": "file:access.txt",
                "secret_key": "file:secret.txt",
            }
        ],
        "recipients": [RECIPIENT],
    },
    "upgrade": {"engine": "tuppr"},
    "cloudflare_enabled": True,
    "cloudflare_domain": "example.com",
    "cloudflare_token": "file:token.txt",
    "cloudflare_gateway_addr": "10.20.66.52",
    "components": {
        "prometheus-operator-crds": {"enabled": True},
        "monitoring": {"settings": {"outside": True, "control_plane": True}},
        "talos-ccm": {"enabled": True},
        "proxmox-ccm": {"enabled": True, "token_secret": "file:ccm.txt"},
        "proxmox-csi": {
            "enabled": True,
            "storage": "local-zfs",
            "token_secret": "file:csi.txt",
            "settings": {
                "classes": [
                    {"name": "proxmox", "storage": "local-zfs", "default": True},
                    {"name": "safe", "storage": "local-zfs", "encrypted": True, "iops": 100},
                ]
            },
            "secrets": {"encryption-passphrase": "file:passphrase.txt"},
        },
        "multus": {
            "enabled": True,
            "settings": {"networks": [{"name": "iot", "link": "eth1"}]},
        },
        "nvidia": {"enabled": True},
        "rook-ceph": {
            "enabled": True,
            "settings": {
                "fsid": UUID,
                "monitors": ["a=127.66.0.31:6789"],
                "filesystem": "shared",
            },
            "secrets": {
                "admin-key": "file:a.txt",
                "rbd-node-key": "file:b.txt",
                "rbd-provisioner-key": "file:c.txt",
                "cephfs-node-key": "file:d.txt",
                "cephfs-provisioner-key": "file:e.txt",
            },
        },
        "karpenter": {
            "enabled": True,
            "storage": "local-zfs",
            "token_secret": "file:karpenter.txt",
            "settings": {"like": "k8s-work-1", "cpu_limit": 32, "memory_limit": "128Gi"},
        },
        "cilium": {
            "settings": {
                "encryption": "wireguard",
                "mutual_authentication": True,
                "hubble_ui": True,
                "gateway_api": True,
            }
        },
    },
}
