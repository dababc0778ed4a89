"""Objects of an app beside pods and ConfigMaps, and what all objects share: names, labels, owner.

Role, service accounts, Service. Pure; imports no other room of the reconciler.
"""
