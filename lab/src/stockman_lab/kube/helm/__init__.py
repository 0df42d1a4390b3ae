"""Helm as the lab knows it: charts as data, releases, and who installs them."""
