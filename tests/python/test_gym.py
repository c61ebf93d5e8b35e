# SPDX-License-Identifier: MIT
"""Env and VectorEnv. Run twice: as the package is without gymnasium, and on a written stand-in for it (fake/)."""

import copy
import inspect

import numpy
import pytest

import cairn
from cairn import spaces

HIGHEST = {"fields": ["position"], "reward": lambda obs, info: obs[..., -1, 1]}
ZERO = numpy.zeros((1, 3), "f4")


@pytest.fixture
def make():
    made = []

    def env(scene="stack10", **options):
        made.append(cairn.Env(scene, **options))
        return made[-1]

    yield env
    for one in made:
        one.close()


@pytest.fixture
def vector():
    made = []

    def env(*arguments, **options):
        made.append(cairn.VectorEnv(*arguments, **options))
        return made[-1]

    yield env
    for one in made:
        one.close()


def test_the_bases_are_gymnasiums_where_it_is(make, vector):
    assert isinstance(make(), spaces.BaseEnv) and isinstance(vector(2, "stack10"), spaces.BaseVectorEnv)
    if spaces.HAS_GYMNASIUM:
        import gymnasium

        assert isinstance(make(), gymnasium.Env) and isinstance(vector(2, "stack10"), gymnasium.vector.VectorEnv)
        assert isinstance(make().observation_space, gymnasium.spaces.Box)


# What gymnasium.utils.env_checker asks of an environment.
@pytest.mark.parametrize("options", [
    {}, {"ticks_per_step": 4, "ticks_max": 8, "fields": ["position", "awake"], "bodies": [3, 4], "push": [2, 5]},
    {"render_mode": "rgb_array", "camera": {"width": 40, "height": 30}}, {"render_mode": "ansi"}, {"rules": ""},
])
def test_the_rules_of_the_environment_checker(make, options):
    env = make(**options)
    assert env.unwrapped is env and env.spec is None
    assert not callable(getattr(env, "seed", None))
    for space in (env.observation_space, env.action_space):
        assert space.dtype == numpy.float32 and numpy.isfinite(space.low).all() and numpy.isfinite(space.high).all()
        assert (space.low < space.high).all() and space.sample() in space
    signature = inspect.signature(env.reset).parameters
    assert signature["seed"].default is None and "options" in signature and "return_info" not in signature
    result = env.reset()
    assert isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)
    first, _ = env.reset(seed=123)
    assert first in env.observation_space and isinstance(first, numpy.ndarray)
    random = copy.deepcopy(env.unwrapped._np_random)
    again, _ = env.reset(seed=123)
    assert numpy.array_equal(first, again)
    assert env.unwrapped._np_random.bit_generator.state == random.bit_generator.state
    env.reset(seed=456)
    assert env.unwrapped._np_random.bit_generator.state != random.bit_generator.state
    env.reset(options={})
    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert obs in env.observation_space and isinstance(reward, float)
    assert isinstance(terminated, bool) and isinstance(truncated, bool) and isinstance(info, dict)
    runs = []
    for _ in range(2):
        env.reset(seed=123)
        env.action_space.seed(5)
        runs.append(env.step(env.action_space.sample()))
    assert numpy.array_equal(runs[0][0], runs[1][0]) and runs[0][1:] == runs[1][1:]
    assert set(env.metadata["render_modes"]) == {"rgb_array", "ansi"} and env.metadata["render_fps"] > 0
    picture = env.render()
    if options.get("render_mode") == "rgb_array":
        assert picture.shape == (30, 40, 3) and picture.dtype == numpy.uint8
    elif options.get("render_mode") == "ansi":
        assert "stack10, tick" in picture
    else:
        assert picture is None
    env.close()
    env.close()


def test_an_episode_depends_on_seed_and_actions_alone(make):
    def run(env, seed, strength):
        _, info = env.reset(seed=seed)
        found = [info["hash"]]
        for i in range(12):
            obs, *_, info = env.step(numpy.full((1, 3), strength * (i % 3), "f4"))
            found.append(info["hash"])
        return found

    env = make("demo", ticks_per_step=2)
    first = run(env, 7, 0.3)
    assert run(env, 7, 0.3) == first == run(make("demo", ticks_per_step=2), 7, 0.3)
    assert run(env, 8, 0.3) != first
    pushed = run(env, 7, 0.4)
    assert pushed[0] == first[0] and pushed[2:] != first[2:]


def test_a_reset_without_a_seed_goes_on_with_the_generator(make):
    def begin(world, rng, options):
        world.set_velocity(2, rng.uniform(-1, 1, 3))

    env = make(begin=begin)
    starts = [env.reset(seed=7)[1]["hash"]] + [env.reset()[1]["hash"] for _ in range(3)]
    assert len(set(starts)) == 4
    assert [env.reset(seed=7)[1]["hash"]] + [env.reset()[1]["hash"] for _ in range(3)] == starts
    plain = make()
    drawn = [plain.reset(seed=7)[1]["hash"], plain.reset()[1]["hash"]]
    assert drawn[0] != drawn[1], "rules get another seed"
    still = make(rules="")
    assert still.reset(seed=7)[1]["hash"] == still.reset()[1]["hash"], "nothing in a world without rules is random"


def test_begin_gets_the_options(make):
    seen = []
    env = make(begin=lambda world, rng, options: seen.append(options))
    env.reset(options={"level": 3})
    env.reset()
    assert seen == [{"level": 3}, {}]


def test_rewards_and_ends(make):
    env = make(ticks_max=4, ticks_per_step=2, terminated=lambda obs, info: obs[..., -1, 1] > 4, **HIGHEST)
    obs, info = env.reset()
    assert obs.shape == (10, 3) and info["tick"] == 0
    obs, reward, terminated, truncated, info = env.step(ZERO)
    assert reward == pytest.approx(float(obs[-1, 1])) and not terminated and not truncated and info["tick"] == 2
    assert env.step(ZERO)[3] is True
    env.world.set_velocity(11, (0, 60, 0))
    assert env.step(ZERO)[2] is True


def test_own_actions_and_spaces(make):
    env = make(act=lambda world, action: world.set_velocity(11, action), action_space=spaces.Box(-2.0, 2.0, (3,)))
    env.reset()
    obs, *_ = env.step(numpy.array([0, 2, 0], "f4"))
    assert obs[-1, 8] > 1.5
    with pytest.raises(ValueError, match="act needs an action_space"):
        make(act=lambda world, action: None)


@pytest.mark.parametrize("arguments", [
    {"ticks_per_step": 0}, {"ticks_per_step": float("nan")}, {"ticks_per_step": 1.5}, {"ticks_max": -1},
    {"fields": ["speed"]}, {"fields": []}, {"bodies": []}, {"push": [-1]}, {"render_mode": "human"},
    {"impulse": float("nan")}, {"client": 1},
])
def test_an_argument_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(ValueError):
        cairn.Env("stack10", **arguments)


def test_a_scene_without_bodies_to_watch_says_so():
    with pytest.raises(ValueError, match="the scene has no dynamic body"):
        cairn.Env("empty")


def test_an_unknown_argument_is_refused():
    with pytest.raises(TypeError, match="ticks_per_stp"):
        cairn.Env("stack10", ticks_per_stp=1)
    with pytest.raises(ValueError, match="a scene or a client"):
        cairn.Env()


@pytest.mark.parametrize("action, says", [
    (numpy.full((1, 3), numpy.nan, "f4"), "not finite"), (numpy.zeros((2, 3), "f4"), r"\(1, 3\)"), ([0, 0], r"\(1, 3\)"),
])
def test_a_wrong_action_is_refused_and_nothing_is_stepped(make, action, says):
    env = make()
    _, info = env.reset(seed=1)
    with pytest.raises(ValueError, match=says):
        env.step(action)
    assert env.world.hash == info["hash"]


@pytest.mark.parametrize("seed", [-1, 1.5, "7"])
def test_a_wrong_seed_is_refused(make, vector, seed):
    with pytest.raises(ValueError, match="seed"):
        make().reset(seed=seed)
    with pytest.raises((ValueError, TypeError)):
        vector(2, "stack10").reset(seed=seed)


def test_a_closed_environment_raises(make, vector):
    for env, action in ((make(), ZERO), (vector(2, "stack10"), numpy.zeros((2, 1, 3), "f4"))):
        env.reset()
        env.close()
        env.close()
        for call in (lambda: env.step(action), env.reset, env.render):
            with pytest.raises(cairn.Closed, match="closed"):
                call()


def test_an_environment_is_a_context_manager(make):
    with make() as env:
        env.reset()
    with pytest.raises(cairn.Closed):
        env.step(ZERO)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_of_worlds_is_what_its_worlds_are_alone(make, vector, threads):
    many = vector(64, "stack10", threads=threads, ticks_per_step=2, **HIGHEST)
    obs, info = many.reset(seed=100)
    assert obs.shape == (64, 10, 3) and info["tick"].tolist() == [0] * 64
    assert many.observation_space.shape == (64, 10, 3) and many.single_observation_space.shape == (10, 3)
    assert many.action_space.shape == (64, 1, 3) and many.num_envs == 64
    alone = [make(ticks_per_step=2, **HIGHEST) for _ in range(3)]
    for i, env in zip((0, 31, 63), alone):
        assert numpy.array_equal(env.reset(seed=100 + i)[0], obs[i])
    random = numpy.random.default_rng(3)
    for _ in range(10):
        actions = random.uniform(-1, 1, (64, 1, 3)).astype("f4")
        obs, reward, terminated, truncated, info = many.step(actions)
        for i, env in zip((0, 31, 63), alone):
            one = env.step(actions[i])
            assert numpy.array_equal(one[0], obs[i]) and one[1] == reward[i]
            assert one[4]["hash"] == many.worlds[i].hash
    assert terminated.dtype == bool and not terminated.any() and not truncated.any()


def test_a_world_that_ended_is_reset_by_the_next_step(vector):
    env = vector(3, "stack10", ticks_max=3, terminated=lambda obs, info: info["tick"] * (numpy.arange(3) == 1) == 2, **HIGHEST)
    assert getattr(env.metadata["autoreset_mode"], "value", env.metadata["autoreset_mode"]) == "NextStep"
    start, _ = env.reset(seed=1)
    ones = numpy.ones((3, 1, 3), "f4")
    env.step(ones)
    _, _, terminated, truncated, _ = env.step(ones)
    assert terminated.tolist() == [False, True, False] and not truncated.any()
    obs, reward, terminated, truncated, info = env.step(ones)
    assert info["tick"].tolist() == [3, 0, 3] and truncated.tolist() == [True, False, True] and not terminated.any()
    assert reward[1] == 0.0 and numpy.array_equal(obs[1], start[1])
    obs, reward, terminated, truncated, info = env.step(ones)
    assert info["tick"].tolist() == [0, 1, 0]


def test_seeds_may_be_a_list(vector):
    env = vector(2, "demo")
    env.reset(seed=[7, 7])
    assert env.worlds[0].hash == env.worlds[1].hash
    env.reset(seed=[7, 8])
    assert env.worlds[0].hash != env.worlds[1].hash
    with pytest.raises(ValueError, match="2 seeds"):
        env.reset(seed=[7])


def test_a_vector_refuses_wrong_actions(vector):
    env = vector(2, "stack10")
    env.reset(seed=1)
    hashes = [world.hash for world in env.worlds]
    for actions in (numpy.full((2, 1, 3), numpy.inf, "f4"), numpy.zeros((1, 3), "f4")):
        with pytest.raises(ValueError):
            env.step(actions)
    assert [world.hash for world in env.worlds] == hashes
    for arguments in ({"num_envs": 0}, {"num_envs": 2, "threads": 0}, {"num_envs": 2, "threads": 99}):
        with pytest.raises(ValueError):
            vector(scene="stack10", **arguments)


def test_a_vector_with_own_actions(vector):
    env = vector(2, "stack10", act=lambda world, action: world.set_velocity(11, action), action_space=spaces.Box(-2.0, 2.0, (3,)),
                 render_mode="ansi")
    env.reset(seed=1)
    obs, *_ = env.step(numpy.array([[0, 2, 0], [0, 0, 0]], "f4"))
    assert obs[0, -1, 8] > 1.5 > obs[1, -1, 8] and len(env.render()) == 2
