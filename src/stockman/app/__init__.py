"""Use cases: each opens clients, calls the pure layers and stores the results."""
