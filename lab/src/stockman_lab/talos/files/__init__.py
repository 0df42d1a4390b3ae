"""The files of a machine, as `talosctl` lists, reads and copies them."""
