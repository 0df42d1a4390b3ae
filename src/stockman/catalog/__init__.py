"""Components: what each one needs, installs and offers; one folder per component."""
