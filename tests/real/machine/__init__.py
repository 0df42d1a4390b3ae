"""Machine configurations by hand: what a user of talosctl would write for the same machines."""
