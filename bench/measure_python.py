# SPDX-License-Identifier: MIT
"""What steps cost from Python. usage: PYTHONPATH=build/release/python python3 bench/measure_python.py"""

import time

import numpy

import cairn


def rate(count, step):
    """Steps per second: the best of three runs."""
    best = 0.0
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(count):
            step()
        best = max(best, count / (time.perf_counter() - begin))
    return best


def show(what, steps_per_s):
    print(f"{what:64}{steps_per_s:12,.0f} steps/s")


def awake(scene):
    """The scene with sleep switched off, so that each step is a whole one."""
    text = cairn.world.scene_text(scene)
    return text.replace("{", '{ "sleep": false,', 1)


def main():
    for scene, count in (("stack10", 20000), ("demo", 2000)):
        for kind, source in (("", scene), (", sleep off", awake(scene))):
            world = cairn.World(source)
            show(f"World({scene}{kind}), {len(world.bodies)} bodies: step, positions",
                 rate(count, lambda: (world.step(), world.positions)))
            env = cairn.Env(source)
            env.reset(seed=1)
            still = numpy.zeros(env.action_space.shape, "f4")
            show(f"Env({scene}{kind}): step with hash", rate(count // 2, lambda: env.step(still)))
    for threads in (1, 2):
        many = cairn.VectorEnv(64, awake("stack10"), threads=threads)
        many.reset(seed=1)
        actions = numpy.zeros(many.action_space.shape, "f4")
        show(f"VectorEnv(64, stack10, sleep off, threads={threads}): steps of all worlds", 64 * rate(100, lambda: many.step(actions)))
    with cairn.serve("demo") as server:
        env = cairn.Env(client=server.connect())
        env.reset(seed=1)
        still = numpy.zeros(env.action_space.shape, "f4")
        show("Env on a server (demo, 263 rows of 13 numbers): step with hash", rate(1500, lambda: env.step(still)))
        few = cairn.Env(client=server.connect(), bodies=[2, 3], fields=["position"])
        few.reset(seed=1)
        show("the same, two rows of three numbers", rate(1500, lambda: few.step(still)))


if __name__ == "__main__":
    main()
