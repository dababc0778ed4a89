"""What the live pages of drivers, operators and commands share: who may ask, headers, scripts and styles.

It imports nothing of the product.
"""
