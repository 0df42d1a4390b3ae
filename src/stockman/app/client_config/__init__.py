"""kubeconfig, talosconfig and the certificates in them."""
