"""Apps in notebooks: what `App.run` of `streamapp.dsl` returns, and its progress.

It may import the test kit, whose engine runs the app; commands and the driver do not import it.
"""
