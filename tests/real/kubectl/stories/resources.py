"""What workloads need: services and networks, volumes, limits."""

from __future__ import annotations

from tests.real.kubectl.story import Story

NETWORK = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress, Egress]
  ingress:
  - from: [{podSelector: {matchLabels: {app: front}}}]
    ports: [{port: 80}]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: network-class}
spec: {controller: example.com/ingress}
"""
NETWORKS = Story(
    "networks",
    r"""
    create service clusterip plain --tcp=80:8080
    create service nodeport node --tcp=80 --node-port=31234
    create service nodeport again --tcp=80 --node-port=31234
    create service externalname out --external-name=example.com
    create service loadbalancer lb --tcp=443
    create service clusterip headless --clusterip=None --tcp=80
    create service clusterip fixed --clusterip=10.43.0.77 --tcp=80
    create service clusterip fixed-too --clusterip=10.43.0.77 --tcp=80
    create service clusterip outside --clusterip=10.99.0.1 --tcp=80
    get svc -o wide
    get svc plain -o yaml
    describe svc node
    describe svc out
    create ingress way --rule='wool.example/*=plain:80,tls=cert' --class=network-class
    get ingress
    describe ingress way
    apply -f net.yaml
    get netpol,ingressclass
    describe netpol closed
    get endpointslices
    get endpoints plain
    run back --image=example/back:1.0 --labels=app=plain --port=8080
    wait pod/back --for=condition=Ready --timeout=20s
    get endpointslices -l kubernetes.io/service-name=plain
    get endpointslices -l kubernetes.io/service-name=plain -o yaml
    describe endpointslices -l kubernetes.io/service-name=plain
    describe svc plain
    delete svc plain --wait=false
    get endpointslices -l kubernetes.io/service-name=plain
    delete ingressclass network-class
    delete pod back
    """,
    {"net.yaml": NETWORK},
    long=True,
)
VOLUMES_FILE = """\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: slow, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: csi.example
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: by-hand
  hostPath: {path: /disk}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: bound}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: by-hand
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: waiting}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.example}
spec: {attachRequired: true}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: attached}
spec: {attacher: csi.example, nodeName: n2, source: {persistentVolumeName: disk}}
"""
VOLUMES = Story(
    "volumes",
    r"""
    create -f volumes.yaml
    get sc
    describe sc slow
    wait pvc/bound --for=jsonpath='{.status.phase}'=Bound --timeout=20s
    get pvc
    get pv disk -o wide
    get pvc bound -o yaml
    describe pvc bound
    describe pvc waiting
    describe pv disk
    get csidrivers
    get volumeattachments attached
    patch pvc bound -p '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}'
    patch pvc waiting -p '{"spec":{"storageClassName":"other"}}'
    patch sc slow --type=merge -p '{"provisioner":"other"}'
    delete volumeattachment attached
    delete pvc bound waiting
    get pv disk
    delete pv disk
    delete sc slow
    delete csidriver csi.example
    """,
    {"volumes.yaml": VOLUMES_FILE},
    long=True,
)
LIMITS_FILE = """\
apiVersion: v1
kind: LimitRange
metadata: {name: usual}
spec:
  limits:
  - type: Container
    default: {cpu: 200m, memory: 128Mi}
    defaultRequest: {cpu: 50m, memory: 64Mi}
    max: {cpu: "1"}
"""
LIMITS = Story(
    "limits",
    r"""
    create quota few --hard=pods=2,requests.cpu=1,configmaps=10
    apply -f limits.yaml
    get quota,limits
    describe limits usual
    create priorityclass farm-high --value=1000 --description=first
    create priorityclass farm-huge --value=2000000000
    get pc farm-high
    get pc
    create pdb keep --selector=app=web --min-available=1
    create pdb most --selector=app=other --max-unavailable=50%
    create pdb both --selector=app=web --max-unavailable=1 --min-available=1
    create deploy web --image=example/web:1.0 --replicas=2
    rollout status deploy/web --timeout=30s
    get pdb
    describe pdb keep
    get pdb keep -o yaml
    get pods -o \
      custom-columns=CPU:.spec.containers[0].resources.requests.cpu,PRIORITY:.spec.priority
    describe quota few
    run third --image=example/web:1.0
    run fourth --image=example/web:1.0 \
      --overrides='{"spec":{"containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":"2"}}}]}}'
    run ranked --image=example/web:1.0 --dry-run=server -o \
      jsonpath='{.spec.priorityClassName} {.spec.priority}{"\n"}' \
      --overrides='{"spec":{"priorityClassName":"farm-high"}}'
    run unranked --image=example/web:1.0 --overrides='{"spec":{"priorityClassName":"nothing"}}'
    scale deploy web --replicas=3
    @then wait deploy/web --for=condition=ReplicaFailure --timeout=10s
    get deploy web -o jsonpath='{.status.conditions[?(@.type=="ReplicaFailure")].reason}{"\n"}'
    describe rs
    get quota few -o yaml
    describe ns limits
    get pods -o jsonpath='{.items[0].metadata.annotations}{"\n"}'
    delete limits usual
    run unsaid --image=example/web:1.0
    create cm counted
    get quota few -o jsonpath='{.status.used.configmaps}{"\n"}'
    create quota none --hard=count/deployments.apps=1,services.nodeports=0,requests.storage=1Gi
    create deploy second --image=example/web:1.0
    create service nodeport n --tcp=80
    create service clusterip c --tcp=80
    get quota none
    delete pc farm-high
    delete pdb keep most
    delete deploy --all
    @then wait pods --all --for=delete --timeout=10s
    delete quota --all
    """,
    {"limits.yaml": LIMITS_FILE},
)
STORIES = (NETWORKS, VOLUMES, LIMITS)
