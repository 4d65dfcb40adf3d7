"""Entry point of the command line: `mercer …` and `python -m mercer …`."""

from mercer_old.__main__ import main

if __name__ == "__main__":
    main()
