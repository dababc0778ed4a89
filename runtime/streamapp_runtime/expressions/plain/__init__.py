"""Lists and expressions that are read and typed without Spark, because they mean the same to it."""
