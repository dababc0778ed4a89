"""The commands that look at apps on a cluster and change them, `streamapp operator`, and `plan --cluster`.

In this package only `trial` imports the room.
"""
