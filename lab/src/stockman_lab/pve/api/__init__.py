"""The API: requests are authenticated, routed, permitted, verified and answered."""
