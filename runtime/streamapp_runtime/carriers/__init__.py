"""How messages of the driver protocol travel: through files of a folder, or through the cluster's API."""
