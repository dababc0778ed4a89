"""The Spark side: it will run what `streamapp` describes."""
