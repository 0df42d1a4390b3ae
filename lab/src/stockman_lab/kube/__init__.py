"""The Kubernetes of the lab: what a kube-apiserver does, and what the world's controllers do."""
