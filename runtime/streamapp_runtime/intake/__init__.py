"""Files and pipes as records: whole blocks of lines at a time."""
