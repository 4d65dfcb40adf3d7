"""One command a file, with what it does beside it; `arguments` describes every option once, for all of them.

A command takes its own options and groups of shared ones (`groups`, `frame.takes`), and returns a job: what was asked,
checked and not begun (`answers.Job`). The frame around it prints what the job finds in words or as JSON, or the Python
that does the same. `asked` has fits that are asked for, `kept` models from files with other files read as that of their
fit was. Commands may ask every lower floor, and do so when they run: `mercer --help` loads no numerical library. They
compute nothing themselves and turn no error into an exit code, which `__main__` does.
"""
