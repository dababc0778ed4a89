"""The operators of an app.

One room for each kind or family, with its compilation, its description, its executor and its state, and two
tables that list them: `kind_table` for the compiler, `operation_table` for workers, which load none.
What a kind is to plans and tasks stands in `streamapp.spec.resource.operator_kinds`. May import rows,
expressions, formats and stores; not program, remote, lanes or driver.
"""
