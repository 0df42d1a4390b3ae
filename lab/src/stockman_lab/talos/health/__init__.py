"""The health check of a cluster, as a machine of its control plane carries it out."""
