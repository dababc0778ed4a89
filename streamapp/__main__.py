"""`python -m streamapp`: the command, where its script is not on the path."""

from streamapp.cli.main import main

if __name__ == "__main__":
    main()
