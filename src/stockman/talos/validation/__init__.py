"""Whether Talos would take a machine configuration: the rules of `talosctl validate`, in process.

Rules differ between minors, and hold what Talos checks without a machine at hand: what only the
machine knows (which disks it has, what runs on it) is not judged here.
"""
