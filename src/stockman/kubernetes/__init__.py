"""The API of Kubernetes: what is asked of it, and what its answers mean."""
