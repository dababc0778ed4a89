"""The StreamApp resource: its model, its defaults, and parsing that says precisely what is wrong."""
