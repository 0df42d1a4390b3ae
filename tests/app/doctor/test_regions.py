"""Which Proxmox clusters are asked, and with which tokens."""

from pathlib import Path

import pytest

from stockman.app.doctor import build_check_input, has_token, regions
from stockman.assessment.doctor.check import ProxmoxAccess
from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.model.errors import Refused
from tests.app.doctor.test_proxmox import CLUSTER, NODES

SECRETS = {"PROXMOX_TOKEN": "11111111-2222-3333-4444-555555555555", "CSI_TOKEN": "csi-secret"}


def found(
    directory: Path, cluster: str = CLUSTER, environment: dict[str, str] | None = None
) -> tuple[ProxmoxAccess, ...]:
    loaded = load({"cluster.yaml": cluster.encode(), "nodes.yaml": NODES.encode()})
    secrets = SECRETS if environment is None else environment
    return regions(directory, loaded.configuration, resolve(loaded), secrets)


def test_a_cluster_with_endpoint_and_token_is_asked(tmp_path: Path) -> None:
    (region,) = found(tmp_path)

    assert region.token.secret is not None
    assert region.token.secret.reveal() == SECRETS["PROXMOX_TOKEN"]
    assert [
        (component_token.owner, component_token.id) for component_token in region.component_tokens
    ] == [("proxmox-csi", "stockman-csi@pve!csi")]
    assert SECRETS["PROXMOX_TOKEN"] not in repr(region)


def test_a_token_that_cannot_be_resolved_is_not_at_hand(tmp_path: Path) -> None:
    (region,) = found(tmp_path, environment={"CSI_TOKEN": "x"})

    assert region.token.secret is None
    assert "PROXMOX_TOKEN" in region.token.reason


@pytest.mark.parametrize("key", ["proxmox_endpoint", "proxmox_token_id", "proxmox_token_secret"])
def test_a_cluster_without_endpoint_or_token_is_not_asked(key: str) -> None:
    kept = "\n".join(line for line in CLUSTER.split("\n") if not line.startswith(f"{key}:"))
    loaded = load({"cluster.yaml": kept.encode(), "nodes.yaml": NODES.encode()})

    assert not has_token(loaded.configuration, Path())


def test_a_ca_that_is_not_there_is_refused_before_anything_is_dialled(tmp_path: Path) -> None:
    cluster = CLUSTER.replace("proxmox:\n", "proxmox:\n  tls: {ca_file: pve.pem}\n")
    (region,) = found(tmp_path, cluster)
    assert region.token.secret is not None

    with pytest.raises(Refused, match=r"proxmox\.authority"):
        region.open(region.token.id, region.token.secret)


def test_the_scene_has_regions_and_what_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "nodes.yaml").write_text(NODES)

    scene = build_check_input(tmp_path)

    assert [region.subject for region in scene.regions] == ["region pve"]
    assert scene.desired is not None


def test_a_scene_without_a_token_has_neither(tmp_path: Path) -> None:
    scene = build_check_input(tmp_path)

    assert (scene.regions, scene.desired) == ((), None)
