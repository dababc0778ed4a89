"""The commands `streamapp operator`, `status`, `logs` and `plan --cluster`.

Nothing in the package imports this, but `trial`.
"""
