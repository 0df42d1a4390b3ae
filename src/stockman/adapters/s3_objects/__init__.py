"""`ports.Objects` over S3."""
