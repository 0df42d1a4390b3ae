"""Others get a Kubernetes cluster, or all that there is, in their tests with one word."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import stat
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from stockman_lab.testing.clusters import ClusterLab, KubernetesLab

import stockman
from stockman.kubernetes.objects import (
    NAMESPACES,
    NODES,
    MergePatch,
    ObjectRef,
    WatchEvent,
    WatchEventType,
)

pytest_plugins = ["pytester"]
CLOSED = {"spec": {"unschedulable": True}}

KUBERNETES_TEST = """
    import asyncio
    import pytest
    from stockman.kubernetes.objects import CONFIG_MAPS, ObjectRef

    @pytest.mark.kubernetes_lab(talos="1.13.9", network="127.66.8.0/24")
    def test_a_map_is_kept(kubernetes_lab):
        async def story():
            named = {"metadata": {"name": "mine", "namespace": "default"}, "data": {"a": "b"}}
            await kubernetes_lab.port.create(CONFIG_MAPS, named)
            mine = ObjectRef(kind=CONFIG_MAPS, name="mine", namespace="default")
            return await kubernetes_lab.port.get(mine)
        assert asyncio.run(story())["data"] == {"a": "b"}

    @pytest.mark.kubernetes_lab(talos="1.13.9", network="127.66.8.0/24")
    def test_a_lab_of_its_own(kubernetes_lab, staged_talos_worlds):
        assert kubernetes_lab.server in kubernetes_lab.kubeconfig_text
        assert len(staged_talos_worlds._made) == 1
"""


@pytest.fixture
def pytester_with_lab(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(Path(stockman.__file__).parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("pytest_plugins = ['stockman_lab.testing.plugin']")
    return pytester


def asked(lab: KubernetesLab, path: str) -> Any:
    """What the API answers over the wire to who has the kubeconfig."""
    data = yaml.safe_load(lab.kubeconfig_text)
    user, where = data["users"][0]["user"], data["clusters"][0]["cluster"]
    context = ssl.create_default_context(cadata=_text(where["certificate-authority-data"]))
    pem = lab.kubeconfig.with_name("client.pem")
    pem.write_text(_text(user["client-key-data"]) + _text(user["client-certificate-data"]))
    context.load_cert_chain(pem)
    with urllib.request.urlopen(f"{lab.server}{path}", context=context, timeout=20) as reply:
        return json.load(reply)


def is_closed(sight: WatchEvent) -> bool:
    (node,) = sight.items
    spec: Any = node["spec"]
    return bool(spec.get("unschedulable"))


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode()


def test_tests_of_somebody_else_use_it_and_the_cluster_is_made_once(
    pytester_with_lab: pytest.Pytester,
) -> None:
    pytester_with_lab.makepyfile(KUBERNETES_TEST)
    pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_a_wrong_word_in_a_mark_is_told(pytester_with_lab: pytest.Pytester) -> None:
    wrong = """
        import pytest

        @pytest.mark.kubernetes_lab(version="1.13.9")
        def test_one(kubernetes_lab): ...

        @pytest.mark.cluster_lab(pace=3)
        def test_two(cluster_lab): ...
    """
    pytester_with_lab.makepyfile(wrong)
    result = pytester_with_lab.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the mark kubernetes_lab takes no version*"])
    result.stdout.fnmatch_lines(["*the mark cluster_lab takes no pace*"])


@pytest.mark.kubernetes_lab(talos="1.13.9")
def test_the_port_and_the_wire_are_the_same_cluster(kubernetes_lab: KubernetesLab) -> None:
    async def made() -> list[Any]:
        await kubernetes_lab.port.create(NAMESPACES, {"metadata": {"name": "mine"}})
        objects = await kubernetes_lab.port.objects(NODES)
        return list(objects.items)

    (node,) = asyncio.run(made())
    assert node["metadata"]["name"] == "talos-1"
    assert asked(kubernetes_lab, "/api/v1/namespaces/mine")["status"]["phase"] == "Active"
    assert stat.S_IMODE(kubernetes_lab.kubeconfig.stat().st_mode) == 0o600


@pytest.mark.kubernetes_lab(talos="1.13.9")
def test_a_watch_hears_of_what_happens_to_a_node(kubernetes_lab: KubernetesLab) -> None:
    node = ObjectRef(kind=NODES, name="talos-1")

    async def seen() -> bool:
        sights = kubernetes_lab.port.watch(NODES)
        first = await anext(sights)
        assert not is_closed(first)
        await kubernetes_lab.port.patch(node, MergePatch(changes=CLOSED))
        async for sight in sights:
            if sight.type is WatchEventType.CHANGED and is_closed(sight):
                await sights.aclose()
                return True
        return False

    assert asyncio.run(asyncio.wait_for(seen(), 30))
    (machine,) = kubernetes_lab.world.talos.machines
    assert machine.state.kubernetes.cordoned


@pytest.mark.cluster_lab(talos="1.13.9")
def test_everything_is_in_one_world(cluster_lab: ClusterLab) -> None:
    pods = asked(cluster_lab.kubernetes, "/api/v1/namespaces/flux-system/pods")["items"]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert any(pod["metadata"]["name"].startswith("source-controller") for pod in pods)
    assert list(cluster_lab.talos.machines) == ["talos-1"]
    assert cluster_lab.proxmox.endpoint.startswith("https://127.66.")
    assert cluster_lab.storage.bucket in cluster_lab.world.state.objects.buckets
    assert cluster_lab.git == ""
    with urllib.request.urlopen(f"{cluster_lab.registry}/v2/", timeout=20) as reply:
        assert reply.status == 200
