"""Simulated object storage that speaks S3."""
