"""Nodes: looked at, tainted, closed, drained with a budget in the way."""

from __future__ import annotations

from tests.real.kubectl.story import Story

GUARDED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: guarded}
spec:
  replicas: 2
  selector: {matchLabels: {app: guarded}}
  template:
    metadata: {labels: {app: guarded}}
    spec:
      nodeSelector: {kubernetes.io/hostname: n2}
      containers: [{name: main, image: "example/guarded:1.0"}]
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guarded}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: guarded}}
"""
SCRATCH = """\
apiVersion: v1
kind: Pod
metadata: {name: bare, labels: {app: bare}}
spec:
  nodeName: n3
  containers: [{name: main, image: "example/bare:1.0", volumeMounts: [{name: s, mountPath: /s}]}]
  volumes: [{name: s, emptyDir: {}}]
"""
NODES = Story(
    "nodes",
    r"""
    get nodes
    get nodes -o wide
    get nodes --show-labels
    get nodes -L topology.kubernetes.io/zone -l '!node-role.kubernetes.io/control-plane'
    get nodes -o \
      custom-columns=NAME:.metadata.name,CPU:.status.allocatable.cpu,TAINTS:.spec.taints[*].key
    get node n2 -o yaml
    describe node n1
    describe node n2
    taint node n3 wool=white:NoSchedule
    taint node n3 wool=black:NoSchedule
    taint node n3 wool=black:NoSchedule --overwrite
    taint node n3 wool:NoSchedule-
    taint node n3 wool:NoSchedule-
    taint node n3 wool=white:Sometimes
    label node n3 wool=white
    label node n3 wool-
    cordon n3
    cordon n3
    get node n3
    get node n3 -o jsonpath='{.spec.taints}{"\n"}'
    uncordon n3
    uncordon n3
    cordon nobody
    apply -f bare.yaml
    wait pod/bare --for=condition=Ready --timeout=20s
    drain n3 --pod-selector=app=network
    drain n3 --ignore-daemonsets --delete-emptydir-data
    drain n3 --ignore-daemonsets --force
    drain n3 --ignore-daemonsets --force --delete-emptydir-data --dry-run=server
    drain n3 --ignore-daemonsets --force --delete-emptydir-data --timeout=20s
    get pods -o name
    describe node n3
    uncordon n3
    apply -f guarded.yaml
    rollout status deploy/guarded --timeout=20s
    apply -f budget.yaml
    get pdb
    describe pdb guarded
    @sorted drain n2 --ignore-daemonsets --timeout=2s
    get node n2
    @sorted drain n2 --ignore-daemonsets --disable-eviction --timeout=20s
    uncordon n2
    rollout status deploy/guarded --timeout=20s
    patch pdb guarded --type=merge -p '{"spec":{"minAvailable":1}}'
    wait pdb/guarded --for=jsonpath='{.status.disruptionsAllowed}'=1 --timeout=20s
    @then drain n2 --ignore-daemonsets --timeout=3s --pod-selector=app=nobody
    uncordon n2
    delete deploy guarded
    create -f node.yaml
    get node extra
    delete node extra
    delete node extra
    """,
    {
        "guarded.yaml": GUARDED,
        "budget.yaml": BUDGET,
        "bare.yaml": SCRATCH,
        "node.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n",
    },
    anywhere=False,
    alone=True,
)
STORIES = (NODES,)
