"""S3: signed requests, replies, errors, and the client over a transport."""
