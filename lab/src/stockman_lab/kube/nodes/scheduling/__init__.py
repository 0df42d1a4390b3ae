"""Which node a pod runs on, as kube-scheduler decides it."""
