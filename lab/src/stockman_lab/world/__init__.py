"""The world: everything that is simulated, and the file that it is kept in."""
