"""The commands `streamapp operator`, `status`, `logs` and `plan --cluster`.

In this package only `trial` imports the room.
"""
