"""Methods of the Talos API, one module for each family of them."""
