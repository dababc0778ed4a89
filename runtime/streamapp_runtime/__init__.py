"""The Spark side: runs what `streamapp` describes."""
