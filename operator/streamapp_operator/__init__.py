"""The Kubernetes side: it will launch what `streamapp` describes."""
