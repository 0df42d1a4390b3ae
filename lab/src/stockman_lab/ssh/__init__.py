"""The SSH door: hosts as one finds them after logging in, on the same world as the API."""
