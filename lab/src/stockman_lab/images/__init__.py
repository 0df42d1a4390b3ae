"""Bytes of disk images: small and real, and they say what they are.

What an image is stands in its content, in a sector that is marked for it, never in the name of the
file. A qcow2 file can stand for any disk. A raw file is as large as its disk, in the world too: so
raw images of the lab are small disks, and grow after they were imported, as everybody's do.
"""
