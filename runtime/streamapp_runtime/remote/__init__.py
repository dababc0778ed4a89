"""Remote tables.

The class that stands for one, calls with time-outs, retries and a rate limit, a cache of answers.
`remote.redis` is named in resources and keeps its path. May import program and below; not lanes or driver.
"""
