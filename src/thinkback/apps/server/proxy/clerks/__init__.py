"""Who recalls for the chats and keeps their turns: a clerk in this process, which may have another recall.

Recall is a millisecond or two of Python, the pass-through half a one: in one process they share one
interpreter's lock, and under load each waits for the other. So where chats go to an upstream on the network
the server has a process that only recalls (`office`), asked by `post` over a socket that only its owner can
open; a chat waits no longer for it than for any other recall, and passes through if it is gone. Turns are
kept by whoever answers: a write waits for the disk and computes little.
"""
