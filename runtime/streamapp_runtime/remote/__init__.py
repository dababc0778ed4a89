"""Remote tables.

The class that stands for one, calls with time-outs, retries and a rate limit, a cache of answers.
`http`, `postgres` and `redis` are named in resources and keep their paths. May import program and below; not
lanes or driver.
"""
