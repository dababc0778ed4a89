"""The commands that look at apps on a cluster and change them, `streamapp operator`, and `plan --cluster`.

A module here is one command, or what one command alone uses; `cluster_access` is what they share. In this
package only `trial` imports the room.
"""
