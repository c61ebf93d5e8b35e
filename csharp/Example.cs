// SPDX-License-Identifier: MIT
// A world and a client through libcairn_client from C#, with the declarations that tools/bindings
// writes (Cairn.cs). The library is found as cairn_client.dll or libcairn_client.so.
using System;
using System.Runtime.InteropServices;

static unsafe class Example
{
    static void Expect(bool ok, string what)
    {
        if (!ok) throw new Exception("failed: " + what);
    }

    static string Hash(IntPtr world)
    {
        byte* text = stackalloc byte[(int)Cairn.CAIRN_HASH_TEXT_SIZE];
        Cairn.cairn_hash_print(Cairn.cairn_world_hash_read(world).full, text);
        return Marshal.PtrToStringAnsi((IntPtr)text);
    }

    static uint AddBody(IntPtr world, uint kind, uint shapeKind, float x, float y)
    {
        cairn_body_def body = Cairn.cairn_body_def_default();
        cairn_shape_def shape = Cairn.cairn_shape_def_default();
        uint id = 0, shapeId = 0;
        body.kind = kind;
        body.position.x = x;
        body.position.y = y;
        shape.kind = shapeKind;
        Expect(Cairn.cairn_body_create(world, &body, &id) == 0, "body");
        Expect(Cairn.cairn_shape_create(world, id, &shape, &shapeId) == 0, "shape");
        return id;
    }

    static void PlayWorld()
    {
        IntPtr world;
        cairn_world_def def = Cairn.cairn_world_def_default();
        Expect(Cairn.cairn_world_create(&def, &world) == 0, "world");
        AddBody(world, Cairn.CAIRN_BODY_STATIC, Cairn.CAIRN_SHAPE_HALF_SPACE, 0, 0);
        uint box = AddBody(world, Cairn.CAIRN_BODY_DYNAMIC, Cairn.CAIRN_SHAPE_BOX, 0, 3);
        byte[] save = new byte[(int)Cairn.cairn_world_save_size(world)];
        fixed (byte* bytes = save)
        {
            Cairn.cairn_world_save(world, (IntPtr)bytes, (UIntPtr)(ulong)save.Length);
            for (int i = 0; i < 60; ++i) Cairn.cairn_world_step(world, null, 0);
            string first = Hash(world);
            Expect(Cairn.cairn_world_load(world, (IntPtr)bytes, (UIntPtr)(ulong)save.Length) == 0, "load");
            for (int i = 0; i < 60; ++i) Cairn.cairn_world_step(world, null, 0);
            Expect(Hash(world) == first, "the same ticks again");
        }
        cairn_body_state state;
        Expect(Cairn.cairn_body_read(world, box, &state) == 0 && Math.Abs(state.position.y - 0.5f) < 0.01f, "the box lies");
        cairn_ray_hit hit;
        cairn_query_filter filter = Cairn.cairn_query_filter_default();
        cairn_vec3 origin = new cairn_vec3 { y = 10 }, way = new cairn_vec3 { y = -20 };
        Expect(Cairn.cairn_world_ray_closest(world, origin, way, &filter, &hit) == 0 && hit.body == box, "ray");
        Expect(Cairn.cairn_world_debug_lines(world, Cairn.CAIRN_DEBUG_SHAPES, null, 0) > 12, "lines");
        Cairn.cairn_world_destroy(world);
    }

    static void PlayClient()
    {
        IntPtr client;
        cairn_client_config config = Cairn.cairn_client_config_default();
        config.mode = (int)Cairn.CAIRN_CLIENT_PREDICT;
        Expect(Cairn.cairn_client_create(&config, &client) == 0, "client");
        byte* token = stackalloc byte[(int)Cairn.CAIRN_CONNECT_TOKEN_SIZE];
        Expect(Cairn.cairn_client_connect(client, 0, 0, token) == 0, "a token of zeros is refused");
        Expect(Cairn.cairn_client_state_read(client) == (int)Cairn.CAIRN_CLIENT_FAILED, "state");
        string why = Marshal.PtrToStringAnsi((IntPtr)Cairn.cairn_client_failure_text(client));
        Expect(why.Length > 0, "a sentence says why");
        Cairn.cairn_client_destroy(client);
    }

    static int Main()
    {
        Cairn.CheckLayouts();
        PlayWorld();
        PlayClient();
        Console.WriteLine("C#: layouts, a world and a client of cairn " + Cairn.CAIRN_VERSION_TEXT);
        return 0;
    }
}
