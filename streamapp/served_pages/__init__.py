"""Shared parts of the live pages of drivers, operators and commands: access, headers, scripts and styles.

The package imports nothing of the product.
"""
