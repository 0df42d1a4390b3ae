"""Find drift: observe every system and compare it with the files."""
