"""Little trees of files that kustomize and the lab build, each about one thing."""

from __future__ import annotations

from textwrap import dedent

_DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shed}
spec:
  selector: {matchLabels: {app: shed}}
  template:
    metadata: {labels: {app: shed}}
    spec:
      serviceAccountName: shepherd
      volumes:
      - {name: feed, configMap: {name: feed}}
      - {name: key, secret: {secretName: key}}
      containers:
      - name: one
        image: example.org/wool:1.0
        env:
        - {name: A, value: "1"}
        - {name: B, valueFrom: {configMapKeyRef: {name: feed, key: b}}}
        ports:
        - {containerPort: 80, protocol: TCP, name: web}
        - {containerPort: 53, protocol: UDP}
      - name: two
        image: linen
        envFrom: [{secretRef: {name: key}}]
"""
_SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: shed}
spec:
  selector: {app: shed}
  ports:
  - {port: 80, targetPort: web, name: web}
"""
_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: feed}
data: {b: hay}
"""
_WIDGET = """
apiVersion: example.org/v1
kind: Widget
metadata: {name: gate}
spec:
  list: [{name: a, value: 1}, {name: b, value: 2}]
  words: [x, y]
"""
_BASE = {"d.yaml": _DEPLOYMENT, "s.yaml": _SERVICE, "m.yaml": _MAP}
_ALL = "resources: [d.yaml, s.yaml, m.yaml]"
_ACCOUNTS = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: shepherd}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: look}
rules:
- {apiGroups: [""], resources: [configmaps], resourceNames: [feed], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: look}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: look}
subjects:
- {kind: ServiceAccount, name: shepherd}
- {kind: ServiceAccount, name: default, namespace: elsewhere}
- {kind: ServiceAccount, name: stranger, namespace: elsewhere}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: look}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: ServiceAccount, name: shepherd, namespace: default}
"""
_CLUSTER_WIDE = """
apiVersion: v1
kind: Namespace
metadata: {name: meadow}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: barn}
provisioner: example.org/barn
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: letters}
spec: {selfSigned: {}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec: {group: example.org, scope: Namespaced}
"""
_COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


def _patch(text: str, more: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in dedent(text).strip("\n").split("\n"))
    return f"{_ALL}\npatches:\n- patch: |\n{lines}{more}"


_SHED = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shed}\n"


def _containers(text: str) -> str:
    inner = "".join(f"      {line}\n" for line in dedent(text).strip("\n").split("\n"))
    return _patch(f"{_SHED}spec:\n  template:\n    spec:\n{inner}")


TREES: dict[str, dict[str, str]] = {
    "plain": {**_BASE, "kustomization.yaml": _ALL},
    "namespace": {
        **_BASE,
        "r.yaml": _ACCOUNTS,
        "c.yaml": _CLUSTER_WIDE,
        "kustomization.yaml": (
            "resources: [d.yaml, s.yaml, m.yaml, r.yaml, c.yaml]\nnamespace: hill\n"
        ),
    },
    "prefix and suffix": {
        **_BASE,
        "r.yaml": _ACCOUNTS,
        "c.yaml": _CLUSTER_WIDE,
        "kustomization.yaml": (
            "resources: [d.yaml, s.yaml, m.yaml, r.yaml, c.yaml]\n"
            "namePrefix: old-\nnameSuffix: -two\n"
        ),
    },
    "prefixes on prefixes": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": f"{_ALL}\nnamePrefix: a-\n",
        "kustomization.yaml": "resources: [base]\nnamePrefix: b-\nnamespace: hill\n",
    },
    "two bases of the same": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": f"{_ALL}\n",
        "one/kustomization.yaml": "resources: [../base]\nnamePrefix: one-\n",
        "two/kustomization.yaml": "resources: [../base]\nnamePrefix: two-\n",
        "kustomization.yaml": "resources: [one, two]\n",
    },
    "common labels": {
        **_BASE,
        "p.yaml": """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shed}
spec: {selector: {matchLabels: {app: shed}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: night}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {containers: [{name: one, image: wool}]}
""",
        "kustomization.yaml": (
            "resources: [d.yaml, s.yaml, m.yaml, p.yaml]\n"
            "commonLabels: {team: wool}\ncommonAnnotations: {note: here}\n"
        ),
    },
    "labels": {
        **_BASE,
        "kustomization.yaml": (
            f"{_ALL}\nlabels:\n- pairs: {{a: one}}\n- pairs: {{b: two}}\n  includeTemplates: true\n"
            "- pairs: {c: three}\n  includeSelectors: true\n"
            "- pairs: {d: four}\n  fields: [{path: spec/odd, kind: Service, create: true}]\n"
        ),
    },
    "images": {
        **_BASE,
        "kustomization.yaml": (
            f"{_ALL}\nimages:\n- {{name: example.org/wool, newTag: '2.0'}}\n"
            "- {name: linen, newName: example.net/linen, digest: 'sha256:abc'}\n"
        ),
    },
    "images of other kinds": {
        "w.yaml": (
            "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: gate}\n"
            "spec: {deep: {containers: [{image: 'linen:1@sha256:aa'}]}, image: linen}\n"
        ),
        "kustomization.yaml": (
            "resources: [w.yaml]\nimages: [{name: linen, newTag: v3}, {name: silk, newTag: x}]\n"
        ),
    },
    "replicas": {
        **_BASE,
        "kustomization.yaml": f"{_ALL}\nnamePrefix: a-\nreplicas: [{{name: shed, count: 5}}]\n",
    },
    "generators": {
        **_BASE,
        "a.txt": "hello\nworld\n",
        "b.env": "# comment\nX=1\nY=two words\nEMPTY=\n\n",
        "kustomization.yaml": (
            "resources: [d.yaml]\n"
            "configMapGenerator:\n- name: feed\n  files: [a.txt, other=a.txt]\n"
            "  literals: [b=1, 'q=\"in quotes\"', 'e=a=b']\n  envs: [b.env]\n"
            "secretGenerator:\n- name: key\n  literals: [password=wool]\n  type: example.org/key\n"
        ),
    },
    "generator options": {
        **_BASE,
        "kustomization.yaml": (
            "resources: [d.yaml]\ngeneratorOptions: {labels: {a: b}, disableNameSuffixHash: true}\n"
            "configMapGenerator:\n- name: feed\n  literals: [b=1]\n"
            "  options: {annotations: {x: z}, immutable: true}\n"
            "secretGenerator:\n- name: key\n  literals: [a=b]\n"
        ),
    },
    "generator with prefix and namespace": {
        **_BASE,
        "kustomization.yaml": (
            "resources: [d.yaml]\nnamePrefix: x-\nnamespace: hill\n"
            "configMapGenerator: [{name: feed, literals: ['a=<&>']}]\n"
        ),
    },
    "generator merges": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": (
            "resources: [d.yaml]\nconfigMapGenerator: [{name: feed, literals: [a=1, b=2]}]\n"
        ),
        "kustomization.yaml": (
            "resources: [base]\n"
            "configMapGenerator: [{name: feed, behavior: merge, literals: [b=3, c=4]}]\n"
        ),
    },
    "generator replaces": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": (
            "resources: [d.yaml]\nconfigMapGenerator: [{name: feed, literals: [a=1, b=2]}]\n"
        ),
        "kustomization.yaml": (
            "resources: [base]\nnamespace: hill\n"
            "configMapGenerator: [{name: feed, behavior: replace, literals: [c=4]}]\n"
        ),
    },
    "generated twice": {
        "kustomization.yaml": "configMapGenerator: [{name: a, literals: [x=1]}, {name: a}]\n"
    },
    "patch of a container": {
        **_BASE,
        "kustomization.yaml": _containers(
            """
            containers:
            - name: two
              image: silk
              env: [{name: Z, value: z}]
            - name: three
              image: felt
            """
        ),
    },
    "patch of ports": {
        **_BASE,
        "kustomization.yaml": _containers(
            """
            containers:
            - name: one
              ports:
              - {containerPort: 80, hostPort: 8080}
              - {containerPort: 53, protocol: TCP}
              - {containerPort: 443, protocol: TCP}
            """
        ),
    },
    "patch of ports without protocols": {
        "s.yaml": _SERVICE,
        "kustomization.yaml": (
            "resources: [s.yaml]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n"
            "    metadata: {name: shed}\n"
            "    spec: {ports: [{port: 443}, {port: 80, nodePort: 30080}]}\n"
        ),
    },
    "patch of environment": {
        **_BASE,
        "kustomization.yaml": _containers(
            """
            containers:
            - name: one
              env:
              - {name: B, $patch: delete}
              - {name: C, value: c}
              - {name: A, value: "2"}
            """
        ),
    },
    "patch replaces a list": {
        **_BASE,
        "kustomization.yaml": _containers(
            """
            containers:
            - $patch: replace
            - {name: only, image: felt}
            """
        ),
    },
    "patch replaces an object": {
        **_BASE,
        "kustomization.yaml": _containers(
            """
            volumes:
            - name: feed
              configMap: null
              emptyDir: {}
            securityContext: {runAsUser: 5, fsGroup: null}
            """
        ),
    },
    "patch deletes": {
        **_BASE,
        "kustomization.yaml": _patch(
            "$patch: delete\napiVersion: v1\nkind: Service\nmetadata: {name: shed}"
        ),
    },
    "patch of nulls": {
        **_BASE,
        "kustomization.yaml": _patch(f"{_SHED}spec:\n  selector: null\n  paused: null"),
    },
    "patch of an unknown kind": {
        "w.yaml": _WIDGET,
        "kustomization.yaml": (
            "resources: [w.yaml]\npatches:\n- patch: |\n    apiVersion: example.org/v1\n"
            "    kind: Widget\n    metadata: {name: gate}\n"
            "    spec: {list: [{name: b, value: 3}], words: [z], more: {a: null, b: 1}}\n"
        ),
    },
    "patch of finalizers": {
        "m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [x/a, x/b]}\n",
        "kustomization.yaml": (
            "resources: [m.yaml]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n"
            "    metadata: {name: a, finalizers: [x/c, x/a]}\n"
        ),
    },
    "patch with a target": {
        **_BASE,
        "kustomization.yaml": _patch(
            "apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {new: one}}",
            "  target: {name: sh.*}\n",
        ),
    },
    "patch by labels": {
        **_BASE,
        "l.yaml": (
            "apiVersion: v1\nkind: ConfigMap\n"
            "metadata: {name: a, labels: {tier: x}, annotations: {z: '1'}}\n"
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, labels: {tier: y}}\n"
        ),
        "kustomization.yaml": (
            "resources: [l.yaml, m.yaml]\npatches:\n"
            "- patch: '- {op: add, path: /data, value: {k: v}}'\n"
            "  target: {kind: ConfigMap, labelSelector: 'tier in (x, y), tier!=y'}\n"
            "- patch: |-\n    "
            '[{"op": "add", "path": "/metadata/annotations/w", "value": "v"}]'
            "\n"
            "  target: {version: v1, annotationSelector: z=1}\n"
        ),
    },
    "operations": {
        **_BASE,
        "kustomization.yaml": (
            f"{_ALL}\npatches:\n- target: {{group: apps, kind: Deploy.*}}\n  patch: |-\n"
            "    - {op: replace, path: /spec/template/spec/containers/0/image, value: felt}\n"
            "    - {op: add, path: /spec/template/spec/containers/-, value: {name: x, image: y}}\n"
            "    - {op: remove, path: /spec/template/spec/volumes/1}\n"
            "    - {op: add, path: /metadata/annotations, value: {a~1b: c}}\n"
            "    - {op: copy, from: /spec/selector, path: /spec/other}\n"
            "    - {op: move, from: /spec/other, path: /spec/third}\n"
            "    - {op: test, path: /metadata/name, value: shed}\n"
        ),
    },
    "operations rename": {
        **_BASE,
        "kustomization.yaml": (
            f"{_ALL}\npatches:\n- target: {{kind: ConfigMap}}\n"
            "  patch: '- {op: replace, path: /metadata/name, value: fodder}'\n"
        ),
    },
    "old patches": {
        **_BASE,
        "p.yaml": f"{_SHED}spec: {{replicas: 4}}\n",
        "j.yaml": "- {op: add, path: /metadata/labels, value: {a: b}}\n",
        "kustomization.yaml": (
            f"{_ALL}\npatchesStrategicMerge:\n- p.yaml\n- |-\n  apiVersion: v1\n  kind: ConfigMap\n"
            "  metadata: {name: feed}\n  data: {c: d}\n"
            "patchesJson6902:\n- target: {version: v1, kind: Service, name: shed}\n  path: j.yaml\n"
        ),
    },
    "patch file of several": {
        **_BASE,
        "p.yaml": (
            f"{_SHED}spec: {{replicas: 4}}\n---\napiVersion: v1\nkind: Service\n"
            "metadata: {name: shed}\n"
            "spec: {ports: [{port: 443, name: tls}, {port: 80, name: http}]}\n"
        ),
        "kustomization.yaml": f"{_ALL}\npatches: [{{path: p.yaml}}]\n",
    },
    "components": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": f"{_ALL}\n",
        "parts/a/kustomization.yaml": (
            f"{_COMPONENT}resources: [w.yaml]\nnamespace: hill\n"
            "patches: [{target: {kind: Deployment}, patch: '- {op: add, path: /spec/replicas,"
            " value: 3}'}]\n"
        ),
        "parts/a/w.yaml": _WIDGET,
        "parts/b/kustomization.yaml": (
            f"{_COMPONENT}configMapGenerator: [{{name: extra, literals: [a=b]}}]\n"
            "components: [../c]\n"
        ),
        "parts/c/kustomization.yaml": f"{_COMPONENT}commonAnnotations: {{c: here}}\n",
        "top/kustomization.yaml": (
            "resources: [../base]\ncomponents: [../parts/a, ../parts/b]\nnameSuffix: -x\n"
        ),
        "kustomization.yaml": "resources: [top]\n",
    },
    "lists and local files": {
        "l.yaml": (
            "apiVersion: v1\nkind: ConfigMapList\nitems:\n"
            "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
            "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
            "---\n---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
            "  annotations: {config.kubernetes.io/local-config: 'true'}\n"
        ),
        "kustomization.yaml": "resources: [l.yaml]\n",
    },
    "words of YAML": {
        "m.yaml": (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: 'yes'\n  b: '012'\n"
            "  c: |\n    two\n    lines\n  d: \"1.0\"\n  e: 'null'\n"
            "x: [1, 0o17, 0x1f, 1.5, 1e3, true, null, ~, 2026-01-01, 1_000]\n"
        ),
        "kustomization.yaml": "resources: [m.yaml]\nnamePrefix: p-\n",
    },
    "anchors": {
        "m.yaml": (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: &l {x: y}}\n"
            "data: {<<: *l, z: w}\n"
        ),
        "kustomization.yaml": "resources: [m.yaml]\n",
    },
    "ingress and accounts": {
        **_BASE,
        "i.yaml": (
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: door}\nspec:\n"
            "  tls: [{secretName: key}]\n  rules:\n  - http: {paths: [{path: /, pathType: Prefix,"
            " backend: {service: {name: shed, port: {number: 80}}}}]}\n"
            "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\n"
            "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shed}}\n"
        ),
        "r.yaml": _ACCOUNTS,
        "kustomization.yaml": (
            "resources: [d.yaml, s.yaml, i.yaml, r.yaml]\nnamePrefix: q-\nnamespace: hill\n"
            "secretGenerator: [{name: key, literals: [a=b]}]\n"
        ),
    },
    "origins": {
        **{f"base/{name}": text for name, text in _BASE.items()},
        "base/kustomization.yaml": f"{_ALL}\n",
        "kustomization.yaml": (
            "resources: [base]\nbuildMetadata: [originAnnotations]\n"
            "configMapGenerator: [{name: extra, literals: [a=b]}]\n"
        ),
    },
}

FAULTY: dict[str, dict[str, str]] = {
    "missing file": {"kustomization.yaml": "resources: [x.yaml]\n"},
    "missing folder": {
        "a/kustomization.yaml": "resources: [../b]\n",
        "kustomization.yaml": "resources: [a]\n",
    },
    "folder without a kustomization": {"a/x.yaml": _MAP, "kustomization.yaml": "resources: [a]\n"},
    "no name": {
        "x.yaml": "apiVersion: v1\nkind: ConfigMap\n",
        "kustomization.yaml": "resources: [x.yaml]\n",
    },
    "no kind": {
        "x.yaml": "apiVersion: v1\nmetadata: {name: a, labels: {b: c}}\n",
        "kustomization.yaml": "resources: [x.yaml]\n",
    },
    "no object": {"x.yaml": "- a\n", "kustomization.yaml": "resources: [x.yaml]\n"},
    "unknown field": {"kustomization.yaml": "resources: []\nfoo: 1\n"},
    "empty": {"kustomization.yaml": ""},
    "wrong kind": {"kustomization.yaml": "kind: Other\nnamespace: a\n"},
    "cycle": {
        "a/kustomization.yaml": "resources: [../a]\n",
        "kustomization.yaml": "resources: [a]\n",
    },
    "cycle upwards": {
        "a/b/kustomization.yaml": "resources: [../../a]\n",
        "a/kustomization.yaml": "resources: [b]\n",
        "kustomization.yaml": "resources: [a]\n",
    },
    "duplicate": {
        "x.yaml": _MAP,
        "y.yaml": _MAP,
        "kustomization.yaml": "resources: [x.yaml, y.yaml]\n",
    },
    "duplicate of a base": {
        "a/x.yaml": _MAP,
        "a/kustomization.yaml": "resources: [x.yaml]\n",
        "x.yaml": _MAP,
        "kustomization.yaml": "resources: [x.yaml, a]\n",
    },
    "patch of nothing": {
        "x.yaml": _MAP,
        "kustomization.yaml": (
            'resources: [x.yaml]\npatches: [{patch: "apiVersion: v1\\nkind: ConfigMap\\n'
            'metadata: {name: other}"}]\n'
        ),
    },
    "operation on nothing": {
        "x.yaml": _MAP,
        "kustomization.yaml": (
            "resources: [x.yaml]\npatches: [{target: {kind: ConfigMap},"
            " patch: '- {op: remove, path: /data/x}'}]\n"
        ),
    },
    "addition to nothing": {
        "x.yaml": _MAP,
        "kustomization.yaml": (
            "resources: [x.yaml]\npatches: [{target: {kind: ConfigMap},"
            " patch: '- {op: add, path: /spec/x/y, value: 1}'}]\n"
        ),
    },
    "replicas of nothing": {
        "x.yaml": _MAP,
        "kustomization.yaml": "resources: [x.yaml]\nreplicas: [{name: x, count: 1}]\n",
    },
    "component that is none": {
        "a/kustomization.yaml": "namespace: x\n",
        "kustomization.yaml": "components: [a]\n",
    },
    "component as a resource": {
        "a/kustomization.yaml": f"{_COMPONENT}namespace: x\n",
        "kustomization.yaml": "resources: [a]\n",
    },
    "generator without a file": {
        "kustomization.yaml": "configMapGenerator: [{name: a, files: [zz]}]\n"
    },
    "literal without a value": {
        "kustomization.yaml": "configMapGenerator: [{name: a, literals: [zz]}]\n"
    },
    "key twice": {"kustomization.yaml": "configMapGenerator: [{name: a, literals: [x=1, x=2]}]\n"},
    "patch that is none": {
        "x.yaml": _MAP,
        "kustomization.yaml": (
            "resources: [x.yaml]\npatches: [{target: {kind: ConfigMap},"
            " patch: '[{op: remove, path: /data/x}]'}]\n"
        ),
    },
    "no YAML": {"x.yaml": "a: [1\nb: 2", "kustomization.yaml": "resources: [x.yaml]\n"},
    "a tab": {"x.yaml": "a:\n\tb: 2\n", "kustomization.yaml": "resources: [x.yaml]\n"},
    "no YAML in the kustomization": {"kustomization.yaml": "resources: [x.yaml\n"},
    "missing patch file": {
        "x.yaml": _MAP,
        "kustomization.yaml": "resources: [x.yaml]\npatches: [{path: p.yaml}]\n",
    },
}
"""What cannot be built."""
