"""Tasks of a stage on so many cores."""
import subprocess
import threading

from . import budget


def in_parallel(night, tasks):
    """Runs (name, seconds, function) tasks on so many cores, the longest first; saves after each."""
    waiting = sorted(tasks, key=lambda task: -task[1])
    lock = night.lock

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                name, seconds, function = waiting.pop(0)
                left = night.state.left()
            night.say(f"{name} for {budget.spoken(seconds)}; {budget.spoken(left)} left")
            try:
                said = function()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                said = f"failed: {error}"
                night.state.failed(f"{name}: {error}")
            with lock:
                night.state.save()
                if said:
                    night.say(f"{name}: {said}")

    workers = [threading.Thread(target=work) for _ in range(min(night.jobs, len(waiting)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
