"""Files and pipes as records: CSV rows and JSON lines, whole blocks of lines at a time.

It knows no system.
"""
