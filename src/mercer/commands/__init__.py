"""One command a file, with what it does beside it; `arguments` describes every option once, for all of them.

Commands may ask every lower floor, and do so when they run: `mercer --help` loads no numerical library. They compute
nothing themselves and turn no error into an exit code, which `__main__` does.
"""
