"""Protocols of the systems that stockman uses; adapters implement them."""
