"""The container registry of a lab: installers of its factory, public images, and what is pushed."""
