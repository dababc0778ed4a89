"""The common parts of the compilation of all operators.

Pieces and chains of them, what is known of a row's key, the app that is compiled. Imports expressions and
operators.operation; no room of a kind.
"""
