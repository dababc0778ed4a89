"""The commands `streamapp operator`, `status`, `logs`, `history`, `rollback` and `plan --cluster`.

In this package only `trial` imports the room.
"""
