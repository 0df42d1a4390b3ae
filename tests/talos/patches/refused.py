"""One refused patch for every code of theirs, as the pages of the problems show them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch

_CONFIG = """\
version: v1alpha1
machine:
  type: worker
  kubelet:
    extraConfig:
      evictionHard: {memory.available: 500Mi}
"""
_LINK = """\
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth0
"""
_TEXTS = {
    "patch.delete": "machine:\n  sysctls:\n    vm.nr_hugepages:\n      $patch: delete\n",
    "patch.field": "machine:\n  kubelet:\n    extraArg:\n      rotate-certificates: 'true'\n",
    "patch.kind": "apiVersion: v1alpha1\nkind: LinkConfigs\nname: eth0\n",
    "patch.merge": "machine:\n  kubelet:\n    extraConfig:\n      evictionHard: none\n",
    "patch.operation": "- op: remove\n  path: /machine/sysctls\n",
    "patch.result": "apiVersion: v1alpha1\nkind: DummyLinkConfig\nname: eth0\n",
    "patch.twice": "machine:\n  type: worker\n---\ncluster:\n  clusterName: meadow\n",
    "patch.unreadable": "machine:\n  type: worker\n  type: controlplane\n",
    "patch.value": "machine:\n  kubelet:\n    disableManifestsDirectory: maybe\n",
}


def refused(text: str, *, config: str = _CONFIG, minor: str = "1.13") -> Problem:
    """What is said of a patch that does not apply."""
    documents = load_documents("worker.yaml", config, minor)
    patch = Patch(label="patches/worker.yaml", file="patches/worker.yaml", text=text)
    with pytest.raises(StockmanError) as caught:
        apply_patches(documents, [patch], minor)
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    code: partial(refused, text, config=_CONFIG + (_LINK if code == "patch.result" else ""))
    for code, text in _TEXTS.items()
}
TEXTS = _TEXTS
