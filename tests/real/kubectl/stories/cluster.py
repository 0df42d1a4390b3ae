"""What a cluster tells of itself: kinds of its own, rights, certificates, discovery."""

from __future__ import annotations

from tests.real.kubectl.story import Story

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sheep.farm.example}
spec:
  group: farm.example
  scope: Namespaced
  names: {plural: sheep, singular: sheep, kind: Sheep, shortNames: [sh], categories: [all, farm]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}
    additionalPrinterColumns:
    - {name: Breed, type: string, jsonPath: .spec.breed}
    - {name: Count, type: integer, jsonPath: .spec.count}
    - {name: Shorn, type: date, jsonPath: .status.shorn, priority: 1}
    selectableFields: [{jsonPath: .spec.breed}]
    schema:
      openAPIV3Schema:
        type: object
        description: One flock.
        properties:
          spec:
            type: object
            required: [breed]
            properties:
              breed: {type: string, enum: [merino, suffolk], description: What they are.}
              count: {type: integer, minimum: 0, default: 1}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
          status:
            type: object
            properties:
              count: {type: integer}
              shorn: {type: string, format: date-time}
              conditions:
                type: array
                items: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
SHEEP = """\
apiVersion: farm.example/v1
kind: Sheep
metadata: {name: dolly, labels: {farm: north}}
spec: {breed: merino, tags: [a, b]}
"""
CUSTOM = Story(
    "custom",
    r"""
    create -f sheep.yaml
    create -f crd.yaml
    wait crd/sheep.farm.example --for=condition=Established --timeout=20s
    get crd sheep.farm.example
    get crd sheep.farm.example -o yaml
    describe crd sheep.farm.example
    @then get sheep
    get sheep
    explain sheep.spec
    explain sheep --recursive
    api-resources --api-group=farm.example
    apply -f sheep.yaml
    get sheep -o wide
    get sh,cm -o name
    get farm
    get sheep dolly -o yaml
    describe sheep dolly
    get sheep --field-selector=spec.breed=merino -o name
    get sheep --field-selector=spec.count=1
    create -f wrong.yaml
    create -f wrong.yaml --validate=false
    create -f odd.yaml
    create -f odd.yaml --validate=warn
    get sheep odd -o jsonpath='{.spec}{"\n"}'
    patch sheep dolly --type=merge -p '{"spec":{"count":-1}}'
    patch sheep dolly -p '{"spec":{"count":2}}'
    patch sheep dolly --type=merge -p '{"spec":{"count":2}}'
    patch sheep dolly --subresource=status --type=merge \
      -p '{"status":{"count":2,"conditions":[{"type":"Ready","status":"True"}]}}'
    wait sheep/dolly --for=condition=Ready --timeout=5s
    scale sheep/dolly --replicas=4
    get sheep dolly -o jsonpath='{.spec.count} {.status.count} {.metadata.generation}{"\n"}'
    apply --server-side -f sheep.yaml --field-manager=me
    get sheep dolly -o yaml --show-managed-fields
    label sheep dolly farm=south --overwrite
    get sheep -l farm=south -o name
    patch sheep dolly --type=merge -p '{"metadata":{"finalizers":["farm.example/hold"]}}'
    delete sheep dolly --wait=false
    get sheep dolly -o jsonpath='{.metadata.finalizers}{"\n"}'
    patch sheep dolly --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
    get sheep dolly
    delete crd sheep.farm.example
    get sheep
    """,
    {
        "crd.yaml": DEFINITION,
        "sheep.yaml": SHEEP,
        "wrong.yaml": SHEEP.replace("dolly", "wrong").replace("merino", "goat"),
        "odd.yaml": SHEEP.replace("dolly", "odd").replace("spec: {", "spec: {colour: red, "),
    },
)
RIGHTS = Story(
    "rights",
    r"""
    create sa shepherd
    create role reader --verb=get,list,watch --resource=pods,configmaps
    create rolebinding readers --role=reader --serviceaccount=rights:shepherd
    create clusterrole farm-lister --verb=list --resource=nodes
    create clusterrolebinding farm-listers --clusterrole=farm-lister --group=farmers
    get role,rolebinding -o wide
    get clusterrole farm-lister -o yaml
    get clusterrolebinding farm-listers -o wide
    describe role reader
    describe rolebinding readers
    describe clusterrole farm-lister
    describe clusterrole view
    auth whoami
    auth whoami -o yaml
    auth can-i --list
    auth can-i list pods --as=system:serviceaccount:rights:shepherd
    auth can-i delete pods --as=system:serviceaccount:rights:shepherd
    auth can-i --list --as=system:serviceaccount:rights:shepherd
    auth can-i get /healthz --as=nobody
    auth can-i list nodes --as=jane --as-group=farmers
    auth can-i bark dogs
    get pods --as=system:serviceaccount:rights:shepherd
    get pods -A --as=system:serviceaccount:rights:shepherd
    get secrets --as=system:serviceaccount:rights:shepherd
    delete cm --all --as=system:serviceaccount:rights:shepherd
    create cm a --as=system:serviceaccount:rights:shepherd
    apply -f cm.yaml --as=system:serviceaccount:rights:shepherd
    apply --server-side -f cm.yaml --as=system:serviceaccount:rights:shepherd
    patch cm a -p '{}' --as=system:serviceaccount:rights:shepherd
    get nodes --as=jane --as-group=farmers -o name
    get nodes n1 --as=jane --as-group=farmers
    auth reconcile -f rbac.yaml
    auth reconcile -f rbac.yaml
    auth reconcile -f rbac.yaml --remove-extra-permissions --dry-run=client
    patch rolebinding readers --type=merge -p '{"roleRef":{"name":"other"}}'
    create role none --verb=get --resource=unicorns
    create rolebinding bad --role=reader --user=''
    delete clusterrole farm-lister
    delete clusterrolebinding farm-listers
    """,
    {
        "cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '1'}\n",
        "rbac.yaml": (
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
            "metadata: {name: reader, namespace: rights}\n"
            "rules:\n- {apiGroups: [''], resources: [secrets], verbs: [get]}\n"
        ),
    },
    long=True,
)
REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIY01JR0RB"  # not-a-secret: a public request
    "Z0VBTUNFeEVEQU9CZ05WQkFvTUIyWmhjbTFsY25NeERUQUxCZ05WQkFNTUJH"  # not-a-secret: a public request
    "cGhibVV3V1RBVApCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJCd05DQUFTQWpU"  # not-a-secret: a public request
    "Y3lPMG02ZXN3VjhOR1YrMERWSjgzZU93dkhQVWVsCmtpOGJwV3dyQ09qWHdE"  # not-a-secret: a public request
    "NTVuNTBUa0ZWQysyck00OVl3N3U2ZWRuOXY1Ny9MSlhnQW9LN2lvQUF3Q2dZ"  # not-a-secret: a public request
    "SUtvWkkKemowRUF3SURTQUF3UlFJaEFOQlh6RW02RlpYUjRIYUVyTFFxYi9l"  # not-a-secret: a public request
    "dmpKWjhNVEtMUFdWYkhKOVJBeG9xQWlBeAplc2NOcSs3TndQMDdORXhnQko4"  # not-a-secret: a public request
    "Zm0zYnhFVEIxNXVSYnlJZTBNNzNQWUE9PQotLS0tLUVORCBDRVJUSUZJQ0FU"  # not-a-secret: a public request
    "RSBSRVFVRVNULS0tLS0K"  # not-a-secret: a public request
)
"""What somebody asks for who is called jane, a farmer."""
CERTIFICATES = Story(
    "certificates",
    r"""
    create -f jane.yaml
    get csr jane
    describe csr jane
    certificate approve jane
    @then wait csr/jane --for=jsonpath='{.status.certificate}' --timeout=10s
    get csr jane -o \
      custom-columns=NAME:.metadata.name,WHO:.spec.username,WHAT:.status.conditions[*].reason
    certificate approve jane
    certificate deny joe
    get csr joe -o jsonpath='{.status.conditions[0].type} {.status.conditions[0].message}{"\n"}'
    certificate approve joe
    certificate approve nobody
    get csr
    patch csr joe --type=merge -p '{"spec":{"request":"AAAA"}}'
    delete csr jane joe
    """,
    {
        "jane.yaml": "---\n".join(
            "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\n"
            f"metadata: {{name: {name}}}\n"
            f"spec: {{request: {REQUEST}, signerName: kubernetes.io/kube-apiserver-client,"
            " usages: [client auth]}\n"
            for name in ("jane", "joe")
        ),
    },
)
HOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: farm-hook}
webhooks:
- name: hook.farm.example
  clientConfig: {url: "https://127.0.0.1:1/hook"}
  rules: [{apiGroups: [farm.example], apiVersions: [v1], operations: [CREATE], resources: [cows]}]
  sideEffects: None
  admissionReviewVersions: [v1]
"""
DISCOVERY = Story(
    "discovery",
    r"""
    version
    version -o json
    cluster-info
    api-versions
    api-resources --sort-by=name
    api-resources --api-group=apps -o wide
    api-resources --namespaced=false --verbs=list,get -o name
    api-resources --categories=all
    explain deploy.spec.strategy
    explain pod.spec.containers.ports --recursive
    explain nothing
    explain pod.spec.nothing
    get --raw /healthz
    get --raw /readyz?verbose
    get --raw /livez/etcd
    get --raw /livez/nothing
    get --raw /version
    get --raw /api
    get --raw /apis/apps
    get --raw /api/v1/namespaces/discovery/configmaps?limit=1
    get --raw /nowhere
    get --raw /api/v1/namespaces/discovery/pods/x/y
    get --raw /apis/apps/v1/namespaces/discovery/deployments?labelSelector=a+in
    get --raw '/api/v1/namespaces/discovery/configmaps?limit=1&continue=nonsense'
    get --raw '/api/v1/namespaces/discovery/configmaps?resourceVersion=nonsense'
    get unicorns
    get pods.v2
    get ns default kube-system -o name
    get ns --field-selector=metadata.name=default
    get ns default -o yaml
    get svc kubernetes -n default
    get leases -n kube-node-lease
    get lease n1 -n kube-node-lease -o \
      jsonpath='{.spec.holderIdentity} {.spec.leaseDurationSeconds}{"\n"}'
    get cs
    get apiservices
    get flowschemas
    get prioritylevelconfigurations
    get servicecidrs
    get ipaddresses -o name
    get csinodes
    get runtimeclasses,podtemplates,rc
    get deviceclasses
    get validatingadmissionpolicies
    get cm kube-root-ca.crt -o jsonpath='{.metadata.annotations}{"\n"}'
    get ns -o name
    get role,rolebinding -n kube-system -o name
    get endpoints,endpointslices -n default
    create -f hook.yaml
    get validatingwebhookconfigurations farm-hook
    delete validatingwebhookconfiguration farm-hook
    create --raw /api/v1/namespaces/discovery/configmaps -f cm.yaml
    delete --raw /api/v1/namespaces/discovery/configmaps/nothing
    """,
    {
        "cm.yaml": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw"}}',
        "hook.yaml": HOOK,
    },
)
STORIES = (CUSTOM, RIGHTS, CERTIFICATES, DISCOVERY)
