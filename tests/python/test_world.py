# SPDX-License-Identifier: MIT
"""cairn.World: the simulation in this process."""

import gc
import json
import threading

import numpy
import pytest

import cairn
from cairn import Shape

NAN, INF = float("nan"), float("inf")
FLOOR = {"kind": "static", "shapes": [{"kind": "half_space"}]}


def stack(count=3):
    return {"name": "stack", "body_capacity": 16, "shape_capacity": 16, "bodies": [FLOOR, {
        "position": [0, 0.5, 0], "grid_count": [1, count, 1], "grid_spacing": [0, 1.0, 0],
        "shapes": [{"kind": "box", "half_extents": [0.5, 0.5, 0.5]}]}]}


@pytest.mark.parametrize("form", ["name", "path", "text", "mapping"])
def test_a_scene_may_have_any_form(cairn_world, tmp_path, form):
    path = tmp_path / "stack.json"
    path.write_text(json.dumps(stack()))
    scene = {"name": str(path), "path": path, "text": path.read_text(), "mapping": stack()}[form]
    world = cairn_world(scene)
    assert world.name == "stack" and len(world.bodies) == 4
    assert world.hash == cairn_world(stack()).hash


@pytest.mark.parametrize("scene, error, says", [
    ("stakc10", cairn.NotFound, "built in: cubes901, demo"),
    ("{", cairn.Malformed, "line"),
    ({"name": "a", "bodies": [{"shapes": [{"kind": "box", "raduis": 1}]}]}, cairn.Malformed, "raduis"),
    ({"name": "a", "gravity": [0, NAN, 0]}, ValueError, "not JSON compliant"),
    ({"name": "a", "rules": "arena"}, cairn.NotFound, "arena"),
    ({"name": "a", "body_capacity": 1, "bodies": [FLOOR, FLOOR]}, cairn.CapacityReached, "2 with every copy; body_capacity is 1"),
    (7, TypeError, "not int"),
])
def test_a_wrong_scene_says_why(scene, error, says):
    with pytest.raises(error, match=says):
        cairn.World(scene)


def test_rules_that_do_not_exist_are_named():
    with pytest.raises(cairn.NotFound, match="no rules are named 'arena'"):
        cairn.World("empty", rules="arena")


def test_arrays_are_views_of_one_array(cairn_world):
    world = cairn_world(stack())
    before = world.positions
    assert before.base is not None and before.shape == (4, 3) and before.dtype == numpy.float32
    world.impulse(2, (5000, 0, 0))
    world.step(10)
    assert world.positions[1, 0] > 0.01
    assert numpy.shares_memory(before, world.positions) and before[1, 0] == world.positions[1, 0]
    assert numpy.shares_memory(world.rotations, world.bodies)
    assert world.ids.tolist() == [1, 2, 3, 4] and world.awake.tolist() == [0, 1, 1, 1]
    assert world.rotations.shape == (4, 4) and world.linear_velocities[1, 0] == world.bodies[1]["linear_velocity"][0]


def test_views_outlive_the_world():
    world = cairn.World(stack())
    positions = world.positions
    world.close()
    del world
    gc.collect()
    assert positions[1].tolist() == [0.0, 0.5, 0.0]


def test_the_same_scene_seed_and_calls_give_the_same_hashes(cairn_world):
    def run(seed, push):
        world = cairn_world("demo", seed=seed)
        found = [world.hash]
        for tick in range(30):
            world.impulse(2 + tick, (0, push, 0))
            world.step()
            found.append(world.hash)
        return found

    first = run(7, 40.0)
    assert run(7, 40.0) == first
    assert all(a != b for a, b in zip(run(8, 40.0), first))
    other = run(7, 41.0)
    assert other[0] == first[0] and all(a != b for a, b in zip(other[1:], first[1:]))


def test_save_and_load_go_back(cairn_world):
    world = cairn_world("stack10")
    world.impulse(5, (30, 0, 0))
    world.step(20)
    saved, here = world.save(), world.hash
    world.step(40)
    later = world.hash
    world.load(saved)
    assert world.hash == here and world.tick == 20
    world.step(40)
    assert world.hash == later


def test_an_encoded_state_enters_another_world(cairn_world):
    one, two = cairn_world("demo"), cairn_world("demo")
    one.impulse(9, (50, 10, 0))
    one.step(33)
    two.decode(one.encode())
    assert two.hash == one.hash and two.positions.tobytes() == one.positions.tobytes()
    with pytest.raises(cairn.Malformed):
        two.decode(b"no state at all")
    with pytest.raises(cairn.Malformed):
        two.load(one.save()[:-4])
    assert two.hash == one.hash


def test_a_fork_lives_on_its_own(cairn_world):
    world = cairn_world("stack10")
    world.step(5)
    twin = world.fork()
    assert twin.hash == world.hash
    world.step()
    assert twin.tick == 5
    twin.step()
    assert twin.hash == world.hash


def test_reset_begins_again(cairn_world):
    world = cairn_world("stack10", seed=3)
    first = world.hash
    world.spawn_box((0, 9, 0), (0.5, 0.5, 0.5))
    world.step(9)
    world.reset()
    assert world.hash == first and world.tick == 0 and world.seed == 3 and len(world.bodies) == 11
    world.reset(4)
    assert world.seed == 4 and world.hash != first


def test_bodies_of_every_shape(cairn_world):
    world = cairn_world("empty")
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    shapes = [Shape.box((0.5, 0.5, 0.5)), Shape.sphere(0.5), Shape.capsule(0.3, 0.4), Shape.cylinder(0.3, 0.4),
              Shape.cone(0.3, 0.4), Shape.hull(corners)]
    found = [world.spawn(shape, position=(3 * i, 2, 0), user=i) for i, shape in enumerate(shapes)]
    compound = world.spawn(shapes[0], Shape.sphere(0.5, position=(0, 1, 0), density=10), position=(0, 2, 9))
    world.spawn(shapes[5], position=(0, 2, 18))
    assert world.counts.hulls == 1, "the same points make one hull"
    world.step(200)
    assert all(0.2 < world.body(body).position[1] < 1.2 or body == found[5] for body in found)
    assert world.body(found[2]).user == 2 and world.mass(1) == 0 and 1000 < world.mass(compound) < 1010
    world.destroy(found[0])
    with pytest.raises(cairn.NotFound):
        world.body(found[0])


@pytest.mark.parametrize("call, error, says", [
    (lambda w: w.impulse(2, (0, NAN, 0)), ValueError, "impulse is not finite: nan"),
    (lambda w: w.impulse(2, (0, 1e39, 0)), ValueError, "beyond single precision"),
    (lambda w: w.impulse(2, (0, 0)), TypeError, "impulse must be three numbers"),
    (lambda w: w.impulse(2, "abc"), TypeError, "three numbers"),
    (lambda w: w.impulse(77, (0, 0, 0)), cairn.NotFound, "body 77"),
    (lambda w: w.impulse(-1, (0, 0, 0)), ValueError, "body is negative"),
    (lambda w: w.impulse(2**32, (0, 0, 0)), ValueError, "does not fit 32 bits"),
    (lambda w: w.impulse("2", (0, 0, 0)), TypeError, "body must be an int"),
    (lambda w: w.impulse(2, impuls=(0, 0, 0)), TypeError, "impuls"),
    (lambda w: w.set_pose(2, (1e9, 0, 0)), cairn.InvalidArgument, "set_pose"),
    (lambda w: w.set_velocity(2, (INF, 0, 0)), ValueError, "not finite"),
    (lambda w: w.set_target(2, (0, 0, 0)), cairn.WrongState, "set_target"),
    (lambda w: w.spawn(Shape.sphere(-1)), cairn.InvalidArgument, "spawn"),
    (lambda w: w.spawn(Shape.half_space()), cairn.InvalidArgument, "spawn"),
    (lambda w: w.spawn(kind="dynamik"), ValueError, "one of static, kinematic, dynamic"),
    (lambda w: w.spawn(positoin=(0, 0, 0)), TypeError, "no field 'positoin'; its fields: kind, position"),
    (lambda w: Shape.sphere(1, frictoin=1), TypeError, "no field 'frictoin'"),
    (lambda w: Shape.sphere("one"), TypeError, "radius must be a number"),
    (lambda w: w.spawn(Shape.hull([(0, 0, 0)] * 4)), cairn.InvalidArgument, "hull"),
    (lambda w: w.join("hinge", 2, 2), cairn.InvalidArgument, "join"),
    (lambda w: w.join("hing", 2, 3), ValueError, "one of ball, distance, hinge"),
    (lambda w: w.join("ball", 2, 99), cairn.NotFound, "join"),
    (lambda w: w.step(-1), ValueError, "ticks is negative"),
    (lambda w: w.step(1.5), TypeError, "ticks must be an int"),
    (lambda w: w.ray((0, NAN, 0), (0, 1, 0)), ValueError, "origin is not finite"),
    (lambda w: w.ray((0, 0, 0), (0, 1, 0), masc=1), TypeError, "masc"),
    (lambda w: w.cast(Shape.half_space(), (0, 0, 0), (0, 1, 0)), cairn.InvalidArgument, "cast"),
    (lambda w: w.step_players({0: {"move": (2, 0, 0)}}), cairn.InvalidArgument, "step"),
    (lambda w: w.step_players({256: {}}), cairn.InvalidArgument, "step"),
    (lambda w: w.step_players({0: {"jump": 1}}), TypeError, "no field 'jump'; its fields: buttons, move, aim"),
    (lambda w: w.reset(-1), ValueError, "seed is negative"),
    (lambda w: w.draw(0, 10), ValueError, "width"),
    (lambda w: w.draw(10, 10, field_of_view=NAN), ValueError, "field_of_view"),
])
def test_a_mistake_is_an_exception_at_once_and_changes_nothing(cairn_world, call, error, says):
    world = cairn_world("stack10")
    before = world.hash
    with pytest.raises(error, match=says):
        call(world)
    assert world.hash == before


def test_a_full_world_says_so(cairn_world):
    world = cairn_world(stack())
    for i in range(12):
        world.spawn_sphere((0, 3 + i, 0), 0.4)
    with pytest.raises(cairn.CapacityReached):
        world.spawn_sphere((0, 99, 0), 0.4)
    assert len(world.bodies) == 16


def test_a_closed_world_raises(cairn_world):
    world = cairn_world("stack10")
    world.close()
    world.close()
    calls = [world.step, world.save, world.reset, world.fork, world.draw, world.words, lambda: world.hash, lambda: world.tick,
             lambda: world.bodies, lambda: world.seed, lambda: world.counts, lambda: world.impulse(2, (0, 0, 0)),
             lambda: world.load(b""), lambda: world.ray((0, 9, 0), (0, -9, 0)), lambda: world.contact_events]
    for call in calls:
        with pytest.raises(cairn.Closed, match="closed"):
            call()
    assert "closed" in repr(world)


def test_two_threads_do_not_step_one_world(cairn_world):
    world = cairn_world("cubes901")
    failures = []

    def step():
        try:
            world.step(200)
        except cairn.WrongState as failure:
            failures.append(failure)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures) == 4 - world.tick // 200 and world.tick >= 200


def test_queries(cairn_world):
    world = cairn_world("empty")
    box = world.spawn(Shape.box((0.5, 0.5, 0.5), category=2), position=(0, 0.5, 0))
    far = world.spawn(Shape.sphere(0.5), position=(0, 5, 0))
    hit = world.ray((0, 9, 0), (0, -9, 0))
    assert hit.body == far and hit.point == (0.0, 5.5, 0.0) and hit.normal == (0.0, 1.0, 0.0)
    assert world.ray((0, 9, 0), (0, -9, 0), ignored=far).body == box
    assert world.ray((0, 9, 0), (0, -9, 0), mask=2).body == box
    assert world.ray((0, 9, 0), (0, -9, 0), kinds=["static"]).body == 1
    assert world.ray((0, 9, 0), (0, 9, 0)) is None
    assert world.ray_all((0, 9, 0), (0, -9, 0))["body"].tolist() == [far, box, 1]
    assert world.cast(Shape.sphere(0.25), (0, 9, 0), (0, -9, 0), ignored=far).body == box
    assert {body for body, _ in world.overlap(Shape.box((1, 1, 1)), (0, 1, 0))} == {1, box}
    near = world.closest((0, 5, 2), 9.0)
    assert near.body == far and abs(near.distance - 1.5) < 1e-6
    assert world.closest((0, 5, 2), 1.0) is None


def test_joints(cairn_world):
    world = cairn_world("empty")
    a = world.spawn(Shape.box((0.5, 0.5, 0.5)), kind="static", position=(0, 5, 0))
    b = world.spawn(Shape.box((0.5, 0.5, 0.5)), position=(0, 3, 0))
    hinge = world.join("hinge", a, b, anchor_a=(0, -1, 0), anchor_b=(0, 1, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1),
                       normal_a=(1, 0, 0), normal_b=(1, 0, 0))
    assert world.joints.tolist() == [hinge]
    world.set_motor(hinge, 2.0, 1e6)
    world.step(30)
    assert world.joint(hinge).velocity == pytest.approx(2.0, abs=0.05)
    world.unjoin(hinge)
    with pytest.raises(cairn.NotFound):
        world.joint(hinge)


def wall(world, **fields):
    """A wall that flies and turns, and what its centre, momentum and angular momentum about the origin are."""
    size, density = numpy.array((2.0, 1.5, 0.2)), 700.0
    linear, angular, centre = numpy.array((3.0, -1.0, 2.0)), numpy.array((0.5, 2.0, -1.0)), numpy.array((1.0, 20.0, -2.0))
    body = world.spawn(Shape.box(tuple(size), density=density), position=tuple(centre), linear_velocity=tuple(linear),
                       angular_velocity=tuple(angular), user=7, **fields)
    mass = density * 8 * size.prod()
    return body, mass, centre, mass * linear


def test_a_body_breaks_into_pieces_that_have_its_mass_and_momentum(cairn_world):
    world = cairn_world("empty")
    floor = world.ids.tolist()
    body, mass, centre, momentum = wall(world)
    moving = world.body(body)
    pieces = world.fracture(body, (1.0, 20.5, -1.8), pieces=20, seed=5)
    assert 2 <= len(pieces) <= 20 and world.ids.tolist() == sorted(floor + pieces, key=lambda i: i & 0xFFFF)
    with pytest.raises(cairn.NotFound):
        world.body(body)
    masses = numpy.array([world.mass(piece) for piece in pieces])
    states = [world.body(piece) for piece in pieces]
    places = numpy.array([state.position for state in states])
    speeds = numpy.array([state.linear_velocity for state in states])
    assert masses.min() > 0 and masses.sum() == pytest.approx(mass, rel=1e-5)
    assert masses @ places / mass == pytest.approx(centre, abs=1e-4)
    assert masses @ speeds == pytest.approx(momentum, rel=1e-5, abs=1e-2)
    # Each moves as its part of the wall did.
    turn = numpy.array(moving.angular_velocity)
    assert speeds == pytest.approx(numpy.array(moving.linear_velocity) + numpy.cross(turn, places - centre), abs=1e-4)
    assert all(state.angular_velocity == moving.angular_velocity and state.user == 7 and state.awake for state in states)


def test_a_fracture_is_the_same_each_time_and_a_seed_gives_another(cairn_world):
    def broken(**fields):
        world = cairn_world("empty")
        pieces = world.fracture(wall(world)[0], (1, 20, -2), **fields)
        world.step(30)
        return world.hash, len(pieces)

    assert broken() == broken(seed=0, pieces=12, crowding=0.5, thickness_min=0.02)
    assert broken(seed=1)[0] != broken(seed=0)[0]
    assert broken(pieces=2)[1] == 2 and broken(pieces=64, thickness_min=0)[1] == 64


@pytest.mark.parametrize("shape, fields, error, says", [
    (Shape.sphere(0.5), {}, cairn.WrongState, "neither box, hull, cylinder nor cone"),
    (Shape.box((1, 1, 1)), {"kind": "static"}, cairn.WrongState, "body is not dynamic"),
    (Shape.box((1, 1, 1)), {"pieces": 1}, cairn.InvalidArgument, "fewer than two pieces"),
    (Shape.box((1, 1, 1)), {"pieces": 65}, cairn.InvalidArgument, "or too many"),
    (Shape.box((1, 1, 1)), {"crowding": 1.5}, cairn.InvalidArgument, "out of range"),
    (Shape.box((1, 1, 1)), {"point": (0, 50, 0)}, cairn.InvalidArgument, "point is too far from the body"),
    (Shape.box((1, 1, 1)), {"point": (0, NAN, 0)}, ValueError, "not finite"),
    (Shape.box((1, 1, 1)), {"peices": 3}, TypeError, "a fracture has no field 'peices'; its fields: point, pieces"),
    (Shape.box((1, 1, 1)), {"seed": -1}, ValueError, "seed is negative"),
    (Shape.box((1, 1, 1)), {"body": 77}, cairn.NotFound, "fracture: body 77"),
])
def test_what_does_not_break_says_why_and_stays(cairn_world, shape, fields, error, says):
    world = cairn_world("empty")
    body = world.spawn(shape, kind=fields.pop("kind", "dynamic"), position=(0, 5, 0))
    before = world.hash
    with pytest.raises(error, match=says):
        world.fracture(**{"body": body, "point": (0, 5, 0), **fields})
    assert world.hash == before and world.counts.hulls == 0


def test_a_world_without_room_for_the_pieces_keeps_the_body(cairn_world):
    world = cairn_world(stack())
    bodies = world.ids.tolist()
    with pytest.raises(cairn.CapacityReached):
        world.fracture(bodies[-1], (0, 2.5, 0), pieces=13, thickness_min=0)
    assert world.ids.tolist() == bodies and world.counts.hulls == 0 and world.counters.creates_refused == 1
    pieces = world.fracture(bodies[-1], (0, 2.5, 0), pieces=12, thickness_min=0)
    assert len(pieces) == 12 and len(world.bodies) == 15 and world.counts.hulls == 12
    for piece in pieces:
        world.destroy(piece)
    assert world.counts.hulls == 0


def pendulum(world):
    """A rod of 1 m and 2 kg on a hinge, level, and its inertia about the hinge."""
    base = world.spawn(Shape.box((0.1, 0.1, 0.1)), kind="static", position=(0, 5, 0))
    rod = world.spawn(Shape.box((0.5, 0.05, 0.05), density=200, mask=0), position=(0.5, 5, 0))
    world.join("hinge", base, rod, anchor_b=(-0.5, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1), normal_a=(1, 0, 0),
               normal_b=(1, 0, 0), articulated=1, armature=0.25)
    return rod, 2.0 / 12 * (1.0 + 0.01) + 2.0 * 0.25 + 0.25


def test_an_articulation_has_its_closed_form(cairn_world):
    world = cairn_world("empty")
    rod, inertia = pendulum(world)
    tree = world.articulation(rod)
    assert tree.axis_count == 1 and tree.bodies.tolist() == [rod] and tree.root == rod and tree.base == rod - 1
    assert tree.joints.tolist() == world.joints.tolist() and tree.first_axes.tolist() == [0]
    assert tree.mass_matrix == pytest.approx(numpy.array([[inertia]]), rel=1e-5)
    weight = 2.0 * 0.5 * 9.81
    assert tree.forward_dynamics([0.0])[0] == pytest.approx(-weight / inertia, rel=1e-5)
    assert tree.inverse_dynamics([3.0])[0] == pytest.approx(weight + 3.0 * inertia, rel=1e-5)
    end = tree.jacobian(rod, (1, 5, 0))
    assert end[:, 0] == pytest.approx([0, 0, 1, 0, 1, 0], abs=1e-6)
    tree.set_torques([weight])  # carries it
    world.step(30)
    assert abs(tree.positions[0]) < 1e-4 and abs(tree.speeds[0]) < 1e-4
    tree.positions, tree.speeds = [-1.0], [2.0]
    assert tree.positions[0] == pytest.approx(-1.0, abs=1e-6) and tree.speeds[0] == pytest.approx(2.0, abs=1e-5)
    with pytest.raises(ValueError):
        tree.positions = [1.0, 2.0]
    with pytest.raises(cairn.NotFound):
        world.articulation(1)


def test_a_step_is_measured(cairn_world):
    world = cairn_world("empty")
    world.spawn(Shape.box((0.5, 0.5, 0.5)), position=(0, 0.499, 0))
    twin = world.fork()
    forces = world.forces()
    assert forces.solved == 1 and forces.bodies == len(forces.of) > 0
    assert forces.of["force"][:, 1].min() > 0 and abs(forces.of["linear"]).max() < 1e-3
    measure = world.step_measured(exact=True)
    assert (measure.bodies, measure.contacts, measure.rows, measure.exact) == (1, 1, 12, 1)
    assert measure.residual < 0.1 and measure.distance < 0.1
    twin.step()
    assert twin.hash == world.hash


def test_events(cairn_world):
    world = cairn_world("empty")
    ball = world.spawn(Shape.sphere(0.5, flags=cairn.HIT_EVENTS), position=(0, 2, 0))
    assert len(world.contact_events) == 0
    kinds = []
    for _ in range(300):
        world.step()
        kinds += [(int(event["kind"]), int(event["body_b"])) for event in world.contact_events]
    assert (1, ball) in kinds and (3, ball) in kinds
    assert world.body(ball).awake == 0


def test_players_drive_the_rules(cairn_world):
    world = cairn_world("stack10")
    world.step_players({}, join=[0])
    assert len(world.bodies) == 12
    body = int(world.ids[-1])
    before = world.body(body).position[0]
    for _ in range(30):
        world.step_players({0: {"move": (1, 0, 0)}})
    assert world.body(body).position[0] > before + 0.1
    world.step_players({}, leave=[0])
    assert len(world.bodies) == 11


def test_a_picture_shows_what_is_there(cairn_world):
    world = cairn_world("empty")
    sky = world.draw(64, 48)
    assert sky.shape == (48, 64, 3) and sky.dtype == numpy.uint8
    world.spawn(Shape.sphere(1), position=(0, 1.5, 0))
    ball = world.draw(64, 48)
    changed = (ball != sky).any(axis=2)
    assert changed[24, 32] and not changed[0, 0] and 20 < changed.sum() < 600
    assert (world.draw(64, 48) == ball).all()


def test_settings(cairn_world):
    world = cairn_world("stack10")
    assert world.tick_rate_hz == 60 and world.counts.bodies == 11 and world.counters.bodies_disabled == 0
    assert "stack10, tick 0" in world.words() and "tick 0" in repr(world)
    with pytest.raises(cairn.InvalidArgument):
        world.set_step_rate(9)
    world.set_step_rate(600)
    assert world.step_rate == 600 and world.tick_rate_hz == 60
    world.spawn(Shape.sphere(1), position=(50, 20, 0))
    world.step(60)
    assert world.linear_velocities[11, 1] == pytest.approx(-0.981, abs=1e-4)  # a tenth of a second
    world.destroy(world.ids[11])
    world.set_step_rate(60)
    world.set_gravity((0, 9, 0))
    world.step(60)
    assert world.counts.bodies_awake == 10 and world.positions[10, 1] > 5
