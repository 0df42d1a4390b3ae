"""Nodes and pods: who runs where, and what kubelets write of it."""
