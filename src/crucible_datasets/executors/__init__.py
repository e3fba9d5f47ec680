"""How tasks of an operation are run: in this process, in worker processes, or on a Ray cluster.

base          `Executor` and `Task`, the interfaces; stateful: callable classes
serial        in this process
processes     in worker processes
forkserver, forkserver_main, worker    the process that forks workers, and the workers
preloaded, preloading, packages        workers whose heavy imports are done once for all
pickling, failures, environment        tasks, exceptions and process state as bytes
ray           on a Ray cluster: raycluster, rayworker, rayobjects, rayversion
"""
