"""Objects that are applied, compared, patched, edited, replaced; settings and secrets."""

from __future__ import annotations

from tests.real.kubectl.story import Story

CM = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: wool, labels: {set: one}}
data: {colour: COLOUR, weight: "3"}
"""
OTHER = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: hay, labels: {set: one}}
data: {colour: yellow}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: wool}
spec:
  selector: {app: wool}
  ports:
  - {name: http, port: 80}
  - {name: metrics, port: 9090, protocol: TCP}
"""
UNKNOWN = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: odd}
spec:
  replicas: 1
  colour: red
  selector: {matchLabels: {app: odd}}
  template:
    metadata: {labels: {app: odd}}
    spec:
      containers: [{name: main, image: "x:1", imagee: "y"}]
"""
APPLIED = Story(
    "applied",
    r"""
    diff -f white.yaml
    apply -f white.yaml
    apply -f white.yaml
    diff -f white.yaml
    diff -f black.yaml
    apply -f black.yaml --dry-run=server -o yaml
    apply -f black.yaml
    apply view-last-applied cm wool
    get cm wool -o yaml
    describe cm wool
    create -f white.yaml
    create cm plain --from-literal=a=1
    apply -f plain.yaml
    replace -f white.yaml
    replace -f absent.yaml
    replace --force -f white.yaml
    @editor=s/white/green/ edit cm wool
    @editor=s/nothing/else/ edit cm wool
    get cm wool -o jsonpath='{.data}'
    patch cm wool --type=json -p '[{"op":"replace","path":"/data/weight","value":"4"}]'
    patch cm wool --type=merge -p '{"data":{"weight":null}}'
    patch cm wool -p '{"data":{"weight":5}}'
    patch cm wool --type=json -p '{"not":"a list"}'
    patch cm absent -p '{}'
    patch cm wool -p '{"metadata":{"labels":{"set":"two"}}}' --dry-run=server -o name
    apply -f set -l set=one --prune --prune-allowlist=core/v1/ConfigMap
    get cm -l set=one -o name
    apply -f set/hay.yaml -l set=one --prune --prune-allowlist=core/v1/ConfigMap
    get cm -l set=one -o name
    apply -f svc.yaml
    apply -f svc.yaml
    get svc wool -o yaml
    patch svc wool -p '{"spec":{"ports":[{"port":9090,"$patch":"delete"}]}}'
    patch svc wool --type=merge -p '{"spec":{"clusterIP":"10.43.9.9"}}'
    get svc wool -o jsonpath='{.spec.ports[*].name}{"\n"}'
    apply -k tree
    get deploy,cm -l app.kubernetes.io/part-of=tree -o name
    delete -k tree
    delete -f white.yaml -f black.yaml --ignore-not-found
    delete cm wool
    delete cm --all
    """,
    {
        "white.yaml": CM.replace("COLOUR", "white"),
        "black.yaml": CM.replace("COLOUR", "black"),
        "plain.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: '2'}\n",
        "absent.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: absent}\n",
        "set/wool.yaml": CM.replace("COLOUR", "white"),
        "set/hay.yaml": OTHER,
        "svc.yaml": SERVICE,
        "tree/kustomization.yaml": (
            "resources: [wool.yaml]\nnamePrefix: tree-\n"
            "labels: [{pairs: {app.kubernetes.io/part-of: tree}}]\n"
            "configMapGenerator: [{name: made, literals: [a=1]}]\n"
        ),
        "tree/wool.yaml": CM.replace("COLOUR", "white"),
    },
)
SERVER_SIDE = Story(
    "serverside",
    r"""
    apply --server-side -f white.yaml
    apply --server-side -f white.yaml
    apply --server-side --field-manager=other -f black.yaml
    apply --server-side --field-manager=other --force-conflicts -f black.yaml
    get cm wool -o yaml --show-managed-fields
    diff --server-side -f white.yaml
    diff --server-side --force-conflicts -f white.yaml
    apply --server-side --dry-run=server -f white.yaml --force-conflicts -o yaml
    apply --server-side -f weightless.yaml --force-conflicts
    get cm wool -o yaml --show-managed-fields
    apply --server-side -f red.yaml
    apply --server-side -f red.yaml --validate=ignore
    apply -f odd.yaml --validate=warn
    create -f odd.yaml --validate=strict
    delete deploy odd
    apply -f white.yaml
    get cm wool -o yaml --show-managed-fields
    apply --server-side -f set --prune --applyset=cm/set
    """,
    {
        "white.yaml": CM.replace("COLOUR", "white"),
        "black.yaml": CM.replace("COLOUR", "black"),
        "weightless.yaml": CM.replace("COLOUR", "white").replace(', weight: "3"', ""),
        "odd.yaml": UNKNOWN,
        "red.yaml": UNKNOWN.replace(', imagee: "y"', ""),
        "set/hay.yaml": OTHER,
    },
)
APPLY_SET = Story(
    "applyset",
    r"""
    apply -f both --prune --applyset=configmaps/set
    get cm -o name
    apply -f one --prune --applyset=configmaps/set
    get cm -o name
    get cm set -o yaml
    """,
    {
        "both/wool.yaml": CM.replace("COLOUR", "white"),
        "both/hay.yaml": OTHER,
        "one/hay.yaml": OTHER,
    },
)
SETTINGS = Story(
    "settings",
    r"""
    create cm one --from-literal=a=1 --from-file=file.txt
    create cm one --from-literal=a=1
    get cm one -o yaml
    create secret generic s --from-literal=user=jane --from-literal=password=wool
    create secret docker-registry pull --docker-server=images.example --docker-username=u \
      --docker-password=p
    get secrets
    describe secret s
    get secret s -o yaml
    get secret pull -o jsonpath='{.type}{"\n"}'
    create sa shepherd
    get sa
    describe sa shepherd
    create token shepherd --duration=10m
    create token nobody
    create cm big --from-file=big.txt
    create cm Big_Name --from-literal=a=1
    create cm bad --from-literal='a b=1'
    create secret tls t --cert=file.txt --key=file.txt
    patch secret s --type=merge -p '{"immutable":true}'
    patch secret s --type=merge -p '{"stringData":{"user":"joe"}}'
    patch secret s --type=merge -p '{"type":"other"}'
    create secret generic typed --type=kubernetes.io/tls
    create -f wrong-kind.yaml
    create -f wrong-version.yaml
    create -f no-name.yaml
    create -f generated.yaml
    create -f not-yaml.yaml
    create -f elsewhere.yaml
    create ns settings-more
    get ns settings-more -o yaml
    describe ns settings-more
    create cm there -n settings-more
    patch cm there -n settings-more -p '{"metadata":{"finalizers":["farm.example/hold"]}}'
    delete ns settings-more --wait=false
    create cm late -n settings-more
    @then wait ns/settings-more --for=condition=NamespaceContentRemaining --timeout=10s
    get ns settings-more -o yaml
    describe ns settings-more
    patch cm there -n settings-more --type=merge -p '{"metadata":{"finalizers":null}}'
    @then wait ns/settings-more --for=delete --timeout=30s
    get ns settings-more
    create cm one -n nowhere
    delete ns default
    get cm,secrets,sa -o name
    delete cm,secret --all
    """,
    {
        "file.txt": "some\nwords\n",
        "big.txt": "x" * 1_100_000,
        "wrong-kind.yaml": "apiVersion: v1\nkind: Sheep\nmetadata: {name: dolly}\n",
        "wrong-version.yaml": "apiVersion: apps/v7\nkind: Deployment\nmetadata: {name: dolly}\n",
        "no-name.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
        "generated.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n",
        "not-yaml.yaml": "apiVersion: [v1\n",
        "elsewhere.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
    },
    long=True,
)
STORIES = (APPLIED, SERVER_SIDE, APPLY_SET, SETTINGS)
