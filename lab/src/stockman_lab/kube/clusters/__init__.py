"""Clusters as a whole: an API server, its controllers, and the machines of a world."""
