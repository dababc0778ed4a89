"""The StreamApp resource: its models, its texts, its checks and what is generated from it.

It imports nothing of the product.
"""
