# SPDX-License-Identifier: MIT
"""Robots of URDF and MJCF: the examples against their equations of motion, actuators, refusals."""

import importlib.util
import json
import math

import numpy
import pytest

import cairn
from conftest import SOURCE

EXAMPLES = SOURCE / "python/examples"
G = 9.81


@pytest.fixture(scope="module")
def robots():
    spec = importlib.util.spec_from_file_location("robots", EXAMPLES / "robots.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What every robot does as well with constraint joints as in joint coordinates.
@pytest.fixture(params=[False, True], ids=["joints", "articulated"])
def articulated(request):
    return request.param


def integrate(slope, state, seconds):
    """Runge and Kutta's method of order 4, in steps of 1 ms."""
    h, state = 1e-3, numpy.array(state)
    for _ in range(round(seconds / h)):
        a = slope(state)
        b = slope(state + h / 2 * a)
        c = slope(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + slope(state + h * c))
    return state


def cartpole(state, force=0.0):
    """Way, angle from upright, and their speeds: cart of 1 kg, rod of 0.1 kg and 1 m."""
    _, angle, speed, spin = state
    m, l, inertia = 0.1, 0.5, 0.1 / 12
    s, c = math.sin(angle), math.cos(angle)
    matrix = [[1.0 + m, m * l * c], [m * l * c, inertia + m * l * l]]
    return numpy.array([speed, spin, *numpy.linalg.solve(matrix, [force + m * l * spin * spin * s, m * G * l * s])])


ARMS = {"m1": 1.0, "m2": 0.8, "c1": 0.5, "c2": 0.4, "length": 1.0, "i1": 0.09, "i2": 0.05}


def double_pendulum(state):
    """Angles of the two arms from straight down, and their speeds."""
    a, b, u, w = state
    m2, c2, length = ARMS["m2"], ARMS["c2"], ARMS["length"]
    s, c = math.sin(a - b), math.cos(a - b)
    mixed = m2 * length * c2
    matrix = [[ARMS["i1"] + ARMS["m1"] * ARMS["c1"] ** 2 + m2 * length**2, mixed * c], [mixed * c, ARMS["i2"] + m2 * c2**2]]
    right = [-mixed * w * w * s - (ARMS["m1"] * ARMS["c1"] + m2 * length) * G * math.sin(a),
             mixed * u * u * s - m2 * c2 * G * math.sin(b)]
    return numpy.array([u, w, *numpy.linalg.solve(matrix, right)])


def double_pendulum_energy(state):
    a, b, u, w = state
    m2, c2, length = ARMS["m2"], ARMS["c2"], ARMS["length"]
    kinetic = 0.5 * ((ARMS["i1"] + ARMS["m1"] * ARMS["c1"] ** 2 + m2 * length**2) * u * u
                     + (ARMS["i2"] + m2 * c2**2) * w * w) + m2 * length * c2 * u * w * math.cos(a - b)
    return kinetic - (ARMS["m1"] * ARMS["c1"] + m2 * length) * G * math.cos(a) - m2 * c2 * G * math.cos(b)


def world_of(robot, **settings):
    return cairn.World({**json.loads(robot.scene), **settings})


def travelled(robot, world):
    """Positions, then velocities."""
    return numpy.concatenate(robot.observe(world)[: 2 * len(robot.travelled)].reshape(2, -1)).astype("f8")


def cartpole_error(substeps, articulated):
    """After 2 s of a pole that falls from 1 rad below upright, and under a constant force at first."""
    robot = cairn.Robot(EXAMPLES / "cartpole.urdf", articulated=articulated)
    with world_of(robot, substeps=substeps) as world:
        robot.place(world, {"hinge": 2.0})
        robot.act(world, [1.5])
        world.step(60)
        robot.act(world, [0.0])
        world.step(60)
        found = travelled(robot, world)
    exact = integrate(cartpole, integrate(lambda state: cartpole(state, 1.5), [0, 2.0, 0, 0], 1), 1)
    return found - exact


def test_a_cartpole_follows_its_equations(articulated):
    error = cartpole_error(8, articulated)
    assert abs(error[0]) < 0.002 and abs(error[1]) < 0.01, error  # m, rad


def test_the_error_is_that_of_the_time_step_and_goes_with_it(articulated):
    coarse, fine = abs(cartpole_error(8, articulated)[1]), abs(cartpole_error(32, articulated)[1])
    assert fine < 0.4 * coarse, (coarse, fine)


def test_a_double_pendulum_follows_its_equations_and_keeps_its_energy(articulated):
    robot = cairn.Robot(EXAMPLES / "double_pendulum.urdf", articulated=articulated)
    with world_of(robot) as world:
        robot.place(world, {"shoulder": 1.2, "elbow": 0.7})
        world.step(120)
        a, b, u, w = travelled(robot, world)
    start = [1.2, 1.9, 0, 0]
    exact = integrate(double_pendulum, start, 2)
    assert abs(a - exact[0]) < 0.02 and abs(a + b - exact[1]) < 0.04, (a, a + b, exact)
    least, most = double_pendulum_energy([0, 0, 0, 0]), double_pendulum_energy(start)
    assert abs(double_pendulum_energy([a, a + b, u, u + w]) - most) < 0.01 * (most - least)


def test_in_joint_coordinates_a_double_pendulum_keeps_its_energy_for_a_minute():
    robot = cairn.Robot(EXAMPLES / "double_pendulum.urdf", articulated=True)
    most = double_pendulum_energy([1.2, 1.9, 0, 0])
    scale = most - double_pendulum_energy([0, 0, 0, 0])
    with world_of(robot) as world:
        robot.place(world, {"shoulder": 1.2, "elbow": 0.7})
        for _ in range(60 * world.tick_rate_hz):
            world.step()
            a, b, u, w = travelled(robot, world)
            assert abs(double_pendulum_energy([a, a + b, u, u + w]) - most) < 0.01 * scale


def test_a_double_pendulum_swings_with_its_own_periods(articulated):
    # Small swings: M x'' = -K x. In the slower mode both arms pass straight down each half period.
    m2, c2, length = ARMS["m2"], ARMS["c2"], ARMS["length"]
    mass = numpy.array([[ARMS["i1"] + ARMS["m1"] * ARMS["c1"] ** 2 + m2 * length**2, m2 * length * c2],
                        [m2 * length * c2, ARMS["i2"] + m2 * c2**2]])
    stiff = numpy.diag([(ARMS["m1"] * ARMS["c1"] + m2 * length) * G, m2 * c2 * G])
    squares, modes = numpy.linalg.eig(numpy.linalg.solve(mass, stiff))
    slow = int(numpy.argmin(squares))
    a, b = 0.05 * modes[:, slow] / abs(modes[:, slow]).max()
    robot = cairn.Robot(EXAMPLES / "double_pendulum.urdf", articulated=articulated)
    crossings, last = [], None
    with world_of(robot) as world:
        robot.place(world, {"shoulder": a, "elbow": b - a})
        while len(crossings) < 5:
            world.step()
            now = float(travelled(robot, world)[0])
            if last is not None and (last < 0) != (now < 0):
                crossings.append((world.tick - now / (now - last)) / world.tick_rate_hz)
            last = now
    period = (crossings[4] - crossings[0]) / 2
    assert period == pytest.approx(2 * math.pi / math.sqrt(squares[slow]), rel=2e-3)


@pytest.mark.parametrize("name, lowest", [("ant", 0.15), ("humanoid", 0.05)])
def test_a_walker_settles(name, lowest, articulated):
    robot = cairn.Robot(EXAMPLES / f"{name}.xml", articulated=articulated)
    with cairn.World(robot.scene) as world:
        world.step(5 * world.tick_rate_hz)
        trunk = robot.observe(world)[-13:]
        assert lowest < trunk[2] < 1.0 and abs(trunk[7:10]).max() < 0.1, trunk
        assert world.positions[1:, 2].min() > 0.0


@pytest.mark.parametrize("name", ["cartpole", "double_pendulum", "ant", "humanoid"])
def test_a_thousand_random_actions_are_finite_and_go_alike_twice(robots, name, articulated):
    hashes = []
    for ticks in (1000, 300):
        with_hash = robots.ALL[name](hashes=True, articulated=articulated)
        with_hash._task.ticks_per_step = 1
        first, info = with_hash.reset(seed=7)
        assert first in with_hash.observation_space
        actions = numpy.random.default_rng(3)
        space = with_hash.action_space
        for tick in range(ticks):
            obs, reward, _, _, info = with_hash.step(actions.uniform(space.low, space.high))
            assert numpy.isfinite(obs).all() and math.isfinite(reward)
            if tick == 299:
                hashes.append(info["hash"])
        with_hash.close()
    assert hashes[0] == hashes[1]


def opening(robot, world):
    """How far the two anchors of a joint are apart, m: the most of all joints."""
    rows, at = world.bodies, {body: i for i, body in enumerate(world.ids.tolist())}
    places = rows["position"].astype("f8")
    most = 0.0
    for joint in map(world.joint, robot._joint_ids[: len(robot._references)]):
        ends = []
        for body, anchor in ((joint.body_a, joint.anchor_a), (joint.body_b, joint.anchor_b)):
            q, v = rows["rotation"][at[body]].astype("f8"), numpy.array(anchor, "f8")
            t = 2 * numpy.cross(q[:3], v)
            ends.append(places[at[body]] + v + q[3] * t + numpy.cross(q[:3], t))
        most = max(most, float(numpy.linalg.norm(ends[0] - ends[1])))
    return most


def test_in_joint_coordinates_no_joint_of_a_humanoid_opens_in_ten_seconds():
    openings = []
    for articulated in (False, True):
        robot = cairn.Robot(EXAMPLES / "humanoid.xml", articulated=articulated)
        actions = numpy.random.default_rng(5)
        with cairn.World(robot.scene) as world:
            assert len(robot.joints) == 18
            worst = 0.0
            for _ in range(world.tick_rate_hz):
                robot.act(world, actions.uniform(robot.action_space.low, robot.action_space.high))
                world.step(10)
                worst = max(worst, opening(robot, world))
                assert abs(world.bodies["angular_velocity"]).max() < 100 and abs(world.positions).max() < 10
            if articulated:
                tree = world.articulation(robot.bodies["pelvis"])
                assert tree.base == 0 and tree.axis_count == 6 + 18
        openings.append(worst)
    assert openings[1] < 1e-6 and openings[0] > 100 * openings[1], openings


def test_another_seed_begins_elsewhere(robots):
    env = robots.cartpole()
    first, second, again = (env.reset(seed=seed)[0] for seed in (1, 2, 1))
    env.close()
    assert (first != second).any() and (first == again).all()


def test_many_worlds_go_as_one(robots):
    robot = cairn.Robot(EXAMPLES / "cartpole.urdf")
    one, many = cairn.Env(robot.scene, **robot.task), cairn.VectorEnv(3, robot.scene, **robot.task)
    one.reset(seed=7)
    many.reset(seed=7)
    actions = numpy.array([[4.0], [4.0], [-4.0]], "f4")
    for _ in range(20):
        alone, *_ = one.step(actions[0])
        rows, *_ = many.step(actions)
    assert rows.shape == (3, 4) and (rows[:2] == alone).all() and rows[2, 0] < 0
    one.close()
    many.close()


SPRING = """<mujoco><option gravity="0 0 0" timestep="0.005"/><worldbody><body>
  <joint name="j" type="hinge" axis="0 0 1" {joint}/><geom type="sphere" size="0.1" mass="2" pos="1 0 0"/>
</body></worldbody><actuator>{actuator}</actuator></mujoco>"""
INERTIA = 2 * (1 + 0.4 * 0.01)


def after(articulated, seconds, joint="", actuator="", action=None, start=0.0):
    robot = cairn.Robot(SPRING.format(joint=joint, actuator=actuator), articulated=articulated)
    with world_of(robot, substeps=32) as world:
        robot.place(world, {"j": start})
        if action is not None:
            robot.act(world, [action])
        world.step(round(seconds * world.tick_rate_hz))
        return tuple(float(number) for number in world.travel(robot._travelled)[0])


def test_stiffness_is_in_newton_metres_for_each_radian(articulated):
    angle, _ = after(articulated, 0.5, 'stiffness="20"', start=0.3)
    assert angle == pytest.approx(0.3 * math.cos(0.5 * math.sqrt(20 / INERTIA)), abs=2e-3)


def test_damping_is_in_newton_metres_for_each_radian_a_second(articulated):
    robot = cairn.Robot(SPRING.format(joint='damping="3"', actuator=""), articulated=articulated)
    with world_of(robot, substeps=32) as world:
        body = list(robot.bodies.values())[-1] if len(robot.bodies) > 1 else 2
        world.set_velocity(body, (0, 1, 0), (0, 0, 1))
        world.step(round(0.5 * world.tick_rate_hz))
        _, speed = world.travel(robot._travelled)[0]
    assert speed == pytest.approx(math.exp(-0.5 * 3 / INERTIA), rel=5e-3)


def test_a_motor_exerts_its_gear_times_the_control_with_the_armature(articulated):
    angle, speed = after(articulated, 0.5, 'armature="0.5"', '<motor joint="j" gear="6" ctrlrange="-1 1"/>', action=0.5)
    assert speed == pytest.approx(0.5 * 3 / (INERTIA + 0.5), rel=2e-3)
    assert angle == pytest.approx(0.5 * 0.25 * 3 / (INERTIA + 0.5), rel=1e-2)


def test_a_control_beyond_its_range_is_cut(articulated):
    motor = '<motor joint="j" gear="6" ctrlrange="-1 1"/>'
    assert after(articulated, 0.2, "", motor, action=5.0) == after(articulated, 0.2, "", motor, action=1.0)


def test_a_position_actuator_goes_there_against_the_joints_spring(articulated):
    angle, speed = after(articulated, 20, 'damping="8" stiffness="10" springref="0"',
                         '<position joint="j" kp="30" ctrlrange="-2 2"/>', action=1.0)
    assert angle == pytest.approx(0.75, abs=2e-3) and abs(speed) < 1e-3


def test_a_velocity_actuator_keeps_its_speed(articulated):
    _, speed = after(articulated, 1.0, "", '<velocity joint="j" ctrlrange="-3 3"/>', action=2.0)
    assert speed == pytest.approx(2.0, abs=1e-3)


def test_friction_holds_and_limits_stop(articulated):
    assert abs(after(articulated, 1.0, 'frictionloss="4"', start=0.2)[0] - 0.2) < 1e-3
    angle, _ = after(articulated, 2.0, 'range="-20 40"', '<motor joint="j" gear="5"/>', action=1.0)
    assert angle == pytest.approx(math.radians(40), abs=0.01)


def test_in_joint_coordinates_a_motor_works_against_friction_and_a_slide_has_a_rotor():
    motor = '<motor joint="j" gear="5"/>'
    assert abs(after(True, 1.0, 'frictionloss="6"', motor, action=1.0)[0]) < 1e-4
    _, speed = after(True, 1.0, 'frictionloss="2"', motor, action=1.0)
    assert speed == pytest.approx((5 - 2) / INERTIA, rel=2e-3)
    slide = SPRING.replace('type="hinge"', 'type="slide"').format(joint='armature="3"', actuator=motor)
    notes = [cairn.Robot(slide, articulated=articulated).notes for articulated in (False, True)]
    assert len(notes[0]) == 1 and "a slide has no rotor" in notes[0][0] and not notes[1]
    robot = cairn.Robot(slide, articulated=True)
    with world_of(robot) as world:
        robot.act(world, [1.0])
        world.step(world.tick_rate_hz)
        assert world.travel(robot._travelled)[0][1] == pytest.approx(5 / (2 + 3), rel=1e-3)


def test_the_spring_of_a_ball_rests_where_the_file_starts(articulated):
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body name="b" euler="90 30 0"><joint type="ball" stiffness="20" damping="1"/>
      <geom size="0.1" pos="1 0 0"/></body></worldbody></mujoco>"""
    robot = cairn.Robot(text, articulated=articulated)
    with cairn.World(robot.scene) as world:
        before = world.bodies["rotation"][1].copy()
        world.step(120)
        assert world.bodies["rotation"][1] == pytest.approx(before, abs=1e-4)


def test_fixed_joints_make_one_body_and_a_fixed_base_stays():
    text = (EXAMPLES / "double_pendulum.urdf").read_text().replace('name="elbow" type="continuous"', 'name="elbow" type="fixed"')
    robot = cairn.Robot(text)
    assert list(robot.bodies) == ["world", "upper"]
    with cairn.World(robot.scene) as world:
        assert world.mass(robot.bodies["upper"]) == pytest.approx(1.8)
    arm = '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>'
    assert list(cairn.Robot(arm).bodies) == ["world", "base"]
    assert list(cairn.Robot(arm, fixed_base=True).bodies) == ["world"]


# Four bars of 1 m between two hinges of the world: the last hinge is a connect, which is no part of the tree.
FOUR_BAR = """<mujoco><worldbody>
  <body name="a"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.03"/>
    <body name="b" pos="0 0 -1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body></body>
  <body name="c" pos="1 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.03"/></body>
</worldbody><equality><connect body1="b" body2="c" anchor="1 0 0"/></equality></mujoco>"""


def test_a_loop_of_bars_stays_closed(articulated):
    robot = cairn.Robot(FOUR_BAR, articulated=articulated)
    with cairn.World(robot.scene) as world:
        assert [world.joint(i).articulated for i in world.joints.tolist()] == [int(articulated)] * 3 + [0]
        world.set_velocity(robot.bodies["a"], (-0.5, 0, 0), (0, 1, 0))
        world.set_velocity(robot.bodies["b"], (-1, 0, 0))
        world.set_velocity(robot.bodies["c"], (-0.5, 0, 0), (0, 1, 0))
        for _ in range(300):
            world.step()
            b, c = (world.body(robot.bodies[name]) for name in "bc")
            angle, _ = (float(number) for number in world.travel(robot._travelled)[2])
            corner = (1 - math.sin(angle), 0, -math.cos(angle))
            end = numpy.array(b.position) + (1, 0, 0)
            assert numpy.abs(end - corner).max() < 0.01 and c.position[1] == pytest.approx(0, abs=1e-3)


def test_a_loop_is_closed_and_an_exclusion_lets_through(articulated):
    text = """<mujoco><worldbody>
      <body name="a"><freejoint/><geom size="0.1"/></body>
      <body name="b" pos="0.15 0 0"><freejoint/><geom size="0.1"/></body>
      <body name="c" pos="0 1 0"><freejoint/><geom size="0.1"/></body></worldbody>
      <contact><exclude body1="a" body2="b"/></contact>
      <equality><connect body1="c" anchor="0 0 0.5"/></equality></mujoco>"""
    robot = cairn.Robot(text, articulated=articulated)
    with cairn.World(robot.scene) as world:
        world.step(60)
        a, b, c = (world.body(robot.bodies[name]).position for name in "abc")
    assert b[0] - a[0] == pytest.approx(0.15, abs=1e-4)
    assert c[2] == pytest.approx(0.0, abs=0.01) and a[2] < -1


def test_refusals_are_exceptions_that_name_the_place():
    with pytest.raises(cairn.InvalidArgument, match="line 1, column 20: geom: needs the attribute size"):
        cairn.Robot("<mujoco><worldbody><geom/></worldbody></mujoco>")
    with pytest.raises(cairn.Malformed, match="a document type is refused"):
        cairn.Robot('<!DOCTYPE lolz [<!ENTITY lol "lol">]><robot name="&lol;"/>')
    with pytest.raises(cairn.NotFound, match="does not exist"):
        cairn.Robot("nowhere.urdf")
    robot = cairn.Robot(EXAMPLES / "cartpole.urdf")
    with cairn.World(robot.scene) as world:
        before = world.hash
        for action in ([math.nan], [1.0, 2.0]):
            with pytest.raises(ValueError):
                robot.act(world, action)
        with pytest.raises(cairn.NotFound):
            robot.place(world, {"elbow": 1.0})
        assert world.hash == before
