"""The API of Kubernetes: records, calls, errors, and the client over a transport."""
