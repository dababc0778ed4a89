"""The connection between the driver and its lanes: address, framing, handshake, and the worker's end of it.

Imports the protocol of lanes, and no other room of them. The driver's end is `driver.executors.lane_server`.
"""
