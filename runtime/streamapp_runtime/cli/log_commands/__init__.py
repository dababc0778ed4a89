"""`streamapp log read` and `streamapp log write`, and the place their LOG argument names."""
