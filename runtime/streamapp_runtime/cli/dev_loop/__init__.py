"""The processes of `streamapp dev`: one watches files, another runs the version of the app that they hold.

The watching process has the engine imported and runs nothing; each version is a fork of it, with the
terminal, so that imports are fresh and breakpoints work. The test kit is the engine. It knows no cluster.
"""
