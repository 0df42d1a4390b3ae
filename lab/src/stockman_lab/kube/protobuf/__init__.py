"""Bodies in protobuf, in which many clients send built-in objects."""
