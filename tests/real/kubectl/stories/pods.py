"""Pods: run, looked at, labelled, and what cannot be done with them."""

from __future__ import annotations

from tests.real.kubectl.story import Story

TWO = """\
apiVersion: v1
kind: Pod
metadata: {name: two, labels: {app: two}}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - name: first
    image: example/first:1.0
    command: [run]
    args: [--all, "two words"]
    ports: [{containerPort: 8080, name: http}]
    livenessProbe: {httpGet: {path: /healthz, port: http}}
    env:
    - {name: PLAIN, value: "1"}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
    volumeMounts: [{name: cache, mountPath: /cache}]
  - {name: second, image: "example/second:1.0", resources: {limits: {cpu: 200m, memory: 64Mi}}}
  volumes:
  - {name: cache, emptyDir: {sizeLimit: 1Gi}}
  - {name: settings, configMap: {name: settings, optional: true}}
"""
HUGE = """\
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec:
  containers: [{name: main, image: "example/huge:1.0", resources: {requests: {cpu: "64"}}}]
"""
PODS = Story(
    "pods",
    r"""
    run one --image=example/one:1.0 --labels=app=one,tier=back --port=80
    wait pod/one --for=condition=Ready --timeout=20s
    get pod one
    get pod one -o wide
    get pod one -o yaml
    get pod one -o json --show-managed-fields
    describe pod one
    apply -f two.yaml
    wait pod/two --for=condition=Ready --timeout=20s
    describe pod two
    get pods --sort-by=.metadata.name -o custom-columns=NAME:.metadata.name,QOS:.status.qosClass
    get pods -l 'app in (one,two)' --no-headers -o custom-columns=N:.metadata.name
    get pods -l 'app in (one'
    get pods --field-selector=spec.nodeName=nowhere
    get pods --field-selector=spec.color=red
    get pods --chunk-size=1 -o name
    get pod nobody
    get pod nobody --ignore-not-found
    get pod one nobody -o name
    label pod one tier=front
    label pod one tier=front --overwrite
    label pod one tier-
    label pod one tier-
    label pod one 'bad label=x'
    label pod one bad='not valid!'
    label pods --all batch=1
    annotate pod one note='some words'
    annotate pod one note=others
    annotate pod one note-
    annotate pod one --resource-version=1 note=old
    get pod one --show-labels
    logs nobody
    logs two -c third
    exec nobody -- ls
    exec one -c other -- ls
    attach nobody
    port-forward nobody 8080:80
    cp nobody:/a b
    top pods
    top nodes
    patch pod one -p '{"spec":{"containers":[{"name":"one","image":"example/one:2.0"}]}}'
    patch pod one -p '{"spec":{"containers":[{"name":"one","command":["other"]}]}}'
    patch pod one --subresource=status --type=merge -p '{"status":{"message":"told"}}'
    get pod one -o jsonpath='{.status.message}{"\n"}'
    set image pod/one one=example/one:3.0
    replace -f one-other.yaml
    run one --image=example/one:1.0
    run 'Bad Name' --image=x
    run x --image=example/x:1.0 --restart=Never --dry-run=server -o yaml
    run x --image=example/x:1.0 --overrides='{"spec":{"serviceAccountName":"nobody"}}'
    apply -f huge.yaml
    get pod huge
    describe pod huge
    wait pod/huge --for=condition=PodScheduled=False --timeout=10s
    wait pod/huge --for=condition=Ready --timeout=1s
    wait pod/nobody --for=delete --timeout=1s
    wait pod/nobody --for=condition=Ready --timeout=1s
    delete pod huge --grace-period=0 --force
    delete pod one --now
    delete pod one
    delete pods -l app=nobody
    delete pod two --grace-period=1 --wait=false
    @then wait pod/two --for=delete --timeout=20s
    delete pods --all
    get pods
    """,
    {
        "two.yaml": TWO,
        "huge.yaml": HUGE,
        "one-other.yaml": (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\n"
            "spec: {containers: [{name: one, image: 'example/one:4.0'}]}\n"
        ),
    },
)
CONTROLLED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
data: {a: "1"}
"""
WATCHED = Story(
    "watched",
    r"""
    @watch get cm -w --output-watch-events --watch-only
    @watch get cm -w --show-labels
    create -f first.yaml
    label cm first wool=white
    run one --image=example/one:1.0
    wait pod/one --for=condition=Ready --timeout=20s
    delete cm first
    delete pod one
    @watched
    @watched
    get --raw /api/v1/namespaces/watched/configmaps?watch=1&resourceVersion=1&timeoutSeconds=1
    get events --watch-only=false -o name --field-selector=reason=None
    wait cm/later --for=create --timeout=1s
    """,
    {"first.yaml": CONTROLLED},
)
STORIES = (PODS, WATCHED)
