"""The objects of an app other than pods and ConfigMaps, and the metadata that all objects share.

Role, service accounts and Service; names, labels and owner references. Pure; imports no other room of the
reconciler.
"""
