"""Keys and their file formats; randomness and time are given, never taken."""
