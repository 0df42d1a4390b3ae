"""`ports.Talos` over gRPC."""
