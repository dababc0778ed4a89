"""What a generation has to pass before it is run: rules over the app and the installation, all pure."""
