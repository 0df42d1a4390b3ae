"""`ports.Images` over HTTPS."""
