"""Objects of an app beside its pods and ConfigMaps (role, accounts, Service).

And what all objects have in common: names, labels, owner. Pure; imports no other room of the reconciler.
"""
