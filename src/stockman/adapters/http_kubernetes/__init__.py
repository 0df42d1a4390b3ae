"""`ports.Kubernetes` over HTTPS."""
