"""What a machine does in order: boot, install, reboot, upgrade, reset, shut down."""
