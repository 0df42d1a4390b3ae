"""Talhelper."""
