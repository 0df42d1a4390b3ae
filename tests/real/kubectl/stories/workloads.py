"""Deployments, StatefulSets, DaemonSets and Jobs: made, changed, rolled out, taken away."""

from __future__ import annotations

from tests.real.kubectl.story import Story

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: front}
  annotations: {kubernetes.io/change-cause: first}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: main
        image: example/web:1.0
        ports: [{containerPort: 80, name: http}]
        env: [{name: COLOUR, value: white}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
"""
DATABASE = """\
apiVersion: v1
kind: Service
metadata: {name: db}
spec:
  clusterIP: None
  selector: {app: db}
  ports: [{port: 5432}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, labels: {app: db}}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, image: "example/db:1.0"}]
"""
AGENT = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, labels: {app: agent}}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      containers: [{name: main, image: "example/agent:1.0"}]
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: shear}
spec:
  completions: 2
  parallelism: 2
  template:
    metadata: {labels: {ends: well}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example/shear:1.0"}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: broken}
spec:
  backoffLimit: 0
  template:
    metadata: {labels: {ends: badly}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example/shear:1.0"}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        metadata: {labels: {ends: well}}
        spec:
          restartPolicy: OnFailure
          containers: [{name: main, image: "example/shear:1.0"}]
"""

DEPLOYMENTS = Story(
    "deployments",
    r"""
    apply -f web.yaml --dry-run=server
    diff -f web.yaml
    apply -f web.yaml
    rollout status deploy/web --timeout=30s
    apply -f web.yaml
    get deploy
    get deploy,rs,pods -o wide
    get all
    get deploy web -o yaml
    get rs -o json
    get deploy web -o yaml --show-managed-fields
    get pods --show-labels
    get pods -o name
    get pods -L app,tier
    get pods -l app=web,tier!=front -o \
      custom-columns=APP:.metadata.labels.app,IMAGE:.spec.containers[*].image
    get pods --field-selector=status.phase=Running -o \
      jsonpath='{range .items[*]}{.status.phase}{"\n"}{end}'
    get deploy web -o go-template='{{.spec.replicas}} of {{.status.readyReplicas}}{{"\n"}}'
    describe deploy web
    describe rs
    rollout history deploy/web
    set image deploy/web main=example/web:2.0
    annotate deploy/web kubernetes.io/change-cause=second --overwrite
    rollout status deploy/web --timeout=30s
    rollout history deploy/web
    rollout history deploy/web --revision=2
    get rs -o wide --sort-by='{.metadata.annotations.deployment\.kubernetes\.io/revision}'
    rollout undo deploy/web
    rollout status deploy/web --timeout=30s
    get deploy web -o \
      jsonpath='{.spec.template.spec.containers[0].image} {.metadata.generation}{"\n"}'
    rollout undo deploy/web --to-revision=9
    rollout pause deploy/web
    rollout pause deploy/web
    rollout restart deploy/web
    set env deploy/web COLOUR=black
    set env deploy/web --list
    set resources deploy/web --limits=cpu=1,memory=256Mi
    set serviceaccount deploy/web default
    rollout undo deploy/web
    rollout resume deploy/web
    rollout status deploy/web --timeout=30s
    @sorted describe deploy web
    rollout restart deploy/web
    rollout status deploy/web --timeout=30s
    rollout status deploy web --watch=false
    scale deploy/web --replicas=3 --current-replicas=5
    scale deploy/web --replicas=3 --current-replicas=2
    wait deploy/web --for=jsonpath='{.status.readyReplicas}'=3 --timeout=20s
    wait deploy/web --for=condition=Available --timeout=20s
    wait deploy/web --for=condition=Progressing=False --timeout=1s
    autoscale deploy/web --min=1 --max=4 --cpu=80%
    get hpa
    delete hpa web
    expose deploy/web --port=80 --target-port=http
    get svc web
    get deploy web -o yaml
    patch deploy web --subresource=scale --type=merge -p '{"spec":{"replicas":1}}'
    patch deploy web -p \
      '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example/web:3.0"}]}}}}'
    patch deploy web --type=json -p '[{"op":"test","path":"/spec/replicas","value":7}]'
    patch deploy web --type=json -p '[{"op":"remove","path":"/metadata/labels/none"}]'
    patch deploy web --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'
    rollout status deploy/web --timeout=30s
    get events --field-selector involvedObject.kind=Deployment -o \
      custom-columns=TYPE:.type,REASON:.reason,FROM:.source.component,TEXT:.message
    delete deploy web --cascade=orphan
    @sorted get deploy,rs
    delete rs -l app=web --cascade=foreground
    @then wait pods -l app=web --for=delete --timeout=10s
    get all
    """,
    {"web.yaml": WEB},
)
STATEFUL_SETS = Story(
    "statefulsets",
    r"""
    apply -f db.yaml
    rollout status sts/db --timeout=30s
    get sts -o wide
    get pods -o wide
    describe sts db
    get sts db -o yaml
    get controllerrevisions -o wide
    get endpointslices
    get endpointslices -o \
      jsonpath='{range .items[*].endpoints[*]}{.hostname} {.conditions}{"\n"}{end}'
    get endpoints db
    describe svc db
    scale sts db --replicas=1
    @then wait pod/db-1 --for=delete --timeout=20s
    set image sts/db main=example/db:2.0
    rollout status sts/db --timeout=30s
    rollout history sts/db
    rollout undo sts/db
    rollout status sts/db --timeout=30s
    describe pod db-0
    get pod db-0 -o yaml
    patch sts db --type=merge -p '{"spec":{"serviceName":"other"}}'
    get events --field-selector involvedObject.kind=StatefulSet -o \
      custom-columns=TYPE:.type,REASON:.reason,TEXT:.message
    delete sts db --wait
    @then wait pods --all --for=delete --timeout=20s
    get all
    """,
    {"db.yaml": DATABASE},
)
DAEMON_SETS = Story(
    "daemonsets",
    r"""
    apply -f agent.yaml
    rollout status ds/agent --timeout=30s
    get ds -o wide
    describe ds agent
    get ds agent -o yaml
    get pods -o wide
    set image ds/agent main=example/agent:2.0
    rollout status ds/agent --timeout=30s
    rollout history ds/agent
    rollout undo ds/agent --to-revision=1
    rollout status ds/agent --timeout=30s
    delete ds agent --cascade=background
    get ds
    """,
    {"agent.yaml": AGENT},
    long=True,
)
JOBS = Story(
    "jobs",
    r"""
    create -f jobs.yaml
    wait job/shear --for=condition=complete --timeout=20s
    wait job/broken --for=condition=failed --timeout=20s
    get jobs,cronjobs -o wide
    get pods
    describe job shear
    describe job broken
    describe cronjob nightly
    get job shear -o yaml
    create job now --from=cronjob/nightly
    wait job/now --for=condition=complete --timeout=20s
    get job now -o yaml
    create job plain --image=example/shear:1.0 --dry-run=server -o yaml -- shear --all
    create cronjob often --image=example/shear:1.0 --schedule='*/5 * * * *'
    create cronjob wrong --image=example/shear:1.0 --schedule='every day'
    get cronjob often -o yaml
    patch cronjob often -p '{"spec":{"suspend":true}}'
    get cronjobs
    patch job shear --type=merge -p '{"spec":{"completions":5}}'
    get events --field-selector involvedObject.name=shear -o \
      custom-columns=TYPE:.type,REASON:.reason
    delete cronjob nightly often
    delete job --all
    get jobs,pods
    """,
    {"jobs.yaml": JOB},
)
STORIES = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS)
