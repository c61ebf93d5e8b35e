# SPDX-License-Identifier: MIT
"""Four robots to learn with, each from its file beside this one: a cart with a pole, two pendulums, an ant and a
humanoid. `python3 robots.py` steps each with random actions. With `articulated` they move in joint coordinates."""

import math
import pathlib

import cairn

HERE = pathlib.Path(__file__).parent


def cartpole(articulated=False, **more):
    """Keeps the pole upright: 1 for each step. It ends 0.2 rad from upright, or 2.4 m from the middle.
    Observation: way, angle, speed, angular speed. Action: N on the cart."""
    robot = cairn.Robot(HERE / "cartpole.urdf", articulated=articulated)

    def begin(world, rng, options):
        robot.place(world, {"slide": rng.uniform(-0.05, 0.05), "hinge": rng.uniform(-0.05, 0.05)})

    return cairn.Env(robot.scene, **robot.task, begin=begin, reward=lambda obs, info: 1.0,
                     terminated=lambda obs, info: abs(obs[..., 1]) > 0.2 or abs(obs[..., 0]) > 2.4,
                     ticks_per_step=2, ticks_max=1000, **more)


def double_pendulum(articulated=False, **more):
    """Swings the tip up: the reward is its height over the lowest point, in parts of what is possible.
    Observation: two angles, two speeds. Action: N m at shoulder and elbow."""
    robot = cairn.Robot(HERE / "double_pendulum.urdf", articulated=articulated)

    def begin(world, rng, options):
        robot.place(world, {"shoulder": rng.uniform(-0.1, 0.1), "elbow": rng.uniform(-0.1, 0.1)})

    def reward(obs, info):
        return (1.8 - math.cos(obs[0]) - 0.8 * math.cos(obs[0] + obs[1])) / 3.6

    return cairn.Env(robot.scene, **robot.task, begin=begin, reward=reward, ticks_per_step=2, ticks_max=1200, **more)


def _walker(file, free, height, rate, articulated=False, **more):
    """A robot that shall run along x and keep its trunk at this height: the reward is its speed, less what the
    action costs. The observation ends with position, rotation, linear and angular velocity of the trunk."""
    robot = cairn.Robot(HERE / file, articulated=articulated)
    spread = 0.02

    def begin(world, rng, options):
        robot.place(world, {name: rng.uniform(-spread, spread) for name in robot.travelled})

    def terminated(obs, info):
        return not height[0] <= obs[free + 2] <= height[1]

    return cairn.Env(robot.scene, **robot.task, begin=begin, terminated=terminated,
                     reward=lambda obs, info: float(obs[free + 7]) + 1.0, ticks_per_step=rate, ticks_max=5000, **more)


def ant(**more):
    return _walker("ant.xml", 16, (0.2, 1.2), 5, **more)


def humanoid(**more):
    return _walker("humanoid.xml", 36, (0.7, 1.5), 4, **more)


ALL = {"cartpole": cartpole, "double_pendulum": double_pendulum, "ant": ant, "humanoid": humanoid}

if __name__ == "__main__":
    for name, make in ALL.items():
        env = make()
        obs, info = env.reset(seed=7)
        env.action_space.seed(7)
        total, steps, done = 0.0, 0, False
        while not done and steps < 500:
            obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
            total, steps, done = total + reward, steps + 1, terminated or truncated
        print(f"{name}: {steps} steps, reward {total:.1f}, {info['hash']}")
        env.close()
