"""Objects of Kubernetes as a kube-apiserver keeps them in etcd."""
