# SPDX-License-Identifier: MIT
"""usage: tests/server/faults.py SOURCE            lists the faults and checks that each patch applies
       tests/server/faults.py SOURCE FOLDER [ID...]
                                                plants them in a copy in FOLDER and runs the tests
       tests/server/faults.py SOURCE FOLDER --all ID...
                                                runs every test of the table with these faults

Negative controls of what protects a server. Each fault below takes one protection away. The test beside it must fail."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kit"))
import planted_faults

# Identifier: (what is wrong, test that must fail, [(file, anchor, replacement)]). An anchor occurs
# once in its file. FAULT in a replacement is true if this fault was chosen.
SERVER = "net/netcode_server.c"
FAULTS = {
    # ---- rights and challenges
    "challenge-of-any": ("a challenge is bound to no token and no address", "net.netcode_server", [
        ("net/packet.c", "cairn_writer writer = cairn_writer_of(binding, CAIRN_CHALLENGE_BINDING_SIZE);",
         "if (FAULT) {\n        memset(binding, 0, CAIRN_CHALLENGE_BINDING_SIZE);\n        return;\n    }\n"
         "    cairn_writer writer = cairn_writer_of(binding, CAIRN_CHALLENGE_BINDING_SIZE);")]),
    "challenge-for-ever": ("a challenge does not age", "net.netcode_server", [
        (SERVER, "server->now_ns - challenge.issued_ns < CAIRN_HANDSHAKE_TIMEOUT_NS_MAX;",
         "(FAULT || server->now_ns - challenge.issued_ns < CAIRN_HANDSHAKE_TIMEOUT_NS_MAX);")]),
    "rights-of-others": ("a session has other user data than its token", "net.netcode_server", [
        (SERVER, "memcpy(handshake.user_data, token->user_data, CAIRN_TOKEN_USER_DATA_SIZE);",
         "memcpy(handshake.user_data, FAULT ? (const uint8_t *)token : token->user_data, CAIRN_TOKEN_USER_DATA_SIZE);")]),
    # ---- tokens
    "lifetime-any": ("tokens may expire at any time", "net.netcode_server_tokens", [
        (SERVER, "if (lifetime_s > 0 && expire_unix_s - now_unix_s > lifetime_s) {",
         "if (!FAULT && lifetime_s > 0 && expire_unix_s - now_unix_s > lifetime_s) {")]),
    "restart-forgets": ("tokens of an earlier run are taken", "net.netcode_server_tokens", [
        (SERVER, "return lifetime_s > 0 && expire_unix_s < start_unix_s + lifetime_s",
         "return !FAULT && lifetime_s > 0 && expire_unix_s < start_unix_s + lifetime_s")]),
    "timeout-any": ("a token may ask for any time-out", "net.netcode_server_tokens", [
        (SERVER, "if (timeout_s_max > 0 &&\n", "if (!FAULT && timeout_s_max > 0 &&\n")]),
    "shown-is-spent": ("handshakes of one client id take all places", "net.netcode_server_tokens", [
        ("net/netcode_handshake.c", "if (!same_id &&\n", "if (!FAULT && !same_id &&\n")]),
    "id-takes-all": ("one client id may use up the token history", "net.netcode_server_tokens", [
        ("net/token_history.c", "id_key key = {use->client_id, find_free_number(history, use->client_id)};",
         "const uint64_t owner = FAULT ? history->first_free + 1000 : use->client_id;\n"
         "    id_key key = {owner, find_free_number(history, owner)};")]),
    "spent-again": ("a token makes several sessions", "net.netcode_server", [
        (SERVER, "    return cairn_token_history_holds(&server->history, use.mac, use.expire_unix_s, use.now_ns)\n               ?",
         "    return !FAULT && cairn_token_history_holds(&server->history, use.mac, use.expire_unix_s, use.now_ns)\n               ?"),
        ("net/token_history.c", "    CAIRN_ASSERT(!cairn_token_history_holds(history, use->mac, use->expire_unix_s, use->now_ns));",
         "    if (FAULT) {\n        return CAIRN_NETCODE_TAKEN;\n    }"),
        ("net/token_history.c", "    return forgotten ||\n", "    return (forgotten && !FAULT) ||\n")]),
    # ---- nonces
    "strangers-from-zero": ("answers to strangers start at the same sequence on every server", "net.netcode_server", [
        (SERVER, "server->global_sequence = random_sequence(server, NULL, 0);",
         "server->global_sequence = FAULT ? 0 : random_sequence(server, NULL, 0);")]),
    "servers-share": ("two servers of a token use the same sequences", "net.netcode_server", [
        (SERVER, "return handshake->server_index * SEQUENCES_PER_SERVER +",
         "return (FAULT ? 0 : handshake->server_index) * SEQUENCES_PER_SERVER +")]),
    "start-from-zero": ("a session of the start's second begins at the same sequence", "net.netcode_server", [
        (SERVER, "(in_doubt ? random_sequence(", "(in_doubt && !FAULT ? random_sequence(")]),
    # ---- clock
    "clock-once": ("the wall clock is read once", "server.clock", [
        ("server/server.c", "if (server->config.unix_ns == NULL || now_ns - server->clock_read_ns",
         "if (FAULT || server->config.unix_ns == NULL || now_ns - server->clock_read_ns")]),
    "clock-silent": ("jumps of the wall clock are not told", "server.clock", [
        ("server/server.c", "if (jump_ns >= (int64_t)CLOCK_JUMP_NS ||", "if (!FAULT && jump_ns >= (int64_t)CLOCK_JUMP_NS ||")]),
    # ---- budgets
    "capsules-of-one": ("one client id may have all capsules", "server.resync", [
        ("server/resync/desync_report.c", "&& of_client < CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX;",
         "&& (FAULT || of_client < CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX);")]),
    "capsules-for-ever": ("capsules are used up for the life of the process", "server.resync", [
        ("server/resync/desync_report.c", "const bool counts = now_ns - output->made[i].made_ns < CAIRN_DESYNC_CAPSULES_NS;\n        recent",
         "const bool counts = FAULT || now_ns - output->made[i].made_ns < CAIRN_DESYNC_CAPSULES_NS;\n        recent")]),
    "silent-waits": ("waits that are not announced cost nothing", "server.input_wait", [
        ("server/session/input_wait.c", "if (slot->silent_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX) {",
         "if (!FAULT && slot->silent_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX) {")]),
    "states-for-nothing": ("states may be asked for without end", "server.byte_budget", [
        ("server/session/byte_budget.c", "bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {\n",
         "bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {\n    if (FAULT) {\n        return true;\n    }\n")]),
    "operator-takes-all": ("one operator may fill the queue of requests", "server.control", [
        ("server/control/queue.c", "return queue->count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;",
         "return FAULT ? queue->count < CAIRN_CONTROL_QUEUE_MAX : queue->count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;")]),
    # ---- clients of a hostile server
    "lockstep-unbounded": ("lockstep has no budget of time", "client.lockstep", [
        ("client_lib/simulate/lockstep.c", "return budget->clock_ns != NULL && budget->time_ns > 0 &&",
         "return !FAULT && budget->clock_ns != NULL && budget->time_ns > 0 &&")]),
    # ---- recordings
    "file-overwritten": ("a file that exists is truncated", "server.records", [
        ("server/daemon/record_file.c", "O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC", "O_WRONLY | O_CREAT | (FAULT ? O_TRUNC : O_EXCL) | O_CLOEXEC")]),
    # ---- whole sessions: what random scripts of the fuzzers find
    "script-spectator": ("inputs of a spectator are taken", "server.session_scripts", [
        ("server/session_dispatch.c", "    if (session->slot == CAIRN_SLOT_NONE) {\n        return input->input_count",
         "    if (session->slot == CAIRN_SLOT_NONE && !FAULT) {\n        return input->input_count")]),
    "script-member": ("a client that is refused for its messages stays in its room", "server.session_scripts", [
        ("server/session_dispatch.c", "    leave_room(d);\n    return refuse(d, CAIRN_REFUSAL_MALFORMED",
         "    if (!FAULT) {\n        leave_room(d);\n    }\n    return refuse(d, CAIRN_REFUSAL_MALFORMED")]),
    "script-ack-ahead": ("ticks may be acknowledged before they are sent", "server.session_scripts", [
        ("server/replicate/replication.c", "input->ticks_acknowledged <= cairn_command_log_end(room->command_log)) {",
         "(FAULT || input->ticks_acknowledged <= cairn_command_log_end(room->command_log))) {")]),
    "script-late-taken": ("an input for a tick that has passed is put into a later one", "server.session_scripts", [
        ("server/room/inbox.c", "    if (late) {\n        return CAIRN_INBOX_LATE;", "    if (late && !FAULT) {\n        return CAIRN_INBOX_LATE;")]),
    "script-epoch": ("inputs about a world that was replaced are taken", "server.session_scripts", [
        ("server/session_dispatch.c", "    if (input->world_epoch != session->world_epoch) {\n        return session->state; // about",
         "    if (input->world_epoch != session->world_epoch && !FAULT) {\n        return session->state; // about")]),
    "script-state-order": ("pieces of a state are taken in any order", "client.session_scripts", [
        ("client_lib/simulate/state_transfer.c", "piece->offset == transfer->received &&", "(FAULT || piece->offset == transfer->received) &&")]),
    "script-state-long": ("a piece of a state may be longer than what is missing", "client.session_scripts", [
        ("client_lib/simulate/state_transfer.c", "piece->size <= transfer->total_size - transfer->received;",
         "(FAULT || piece->size <= transfer->total_size - transfer->received);")]),
    "script-unwelcome": ("messages are taken before the welcome", "client.session_scripts", [
        ("client_lib/client_messages.c", "    if (!client->session.welcomed) {", "    if (!FAULT && !client->session.welcomed) {")]),
    "script-early": ("ticks of any distance wait to be stepped", "client.session_scripts", [
        ("client_lib/simulate/early_ticks.c", "    if (tick < next || tick - next >= CAIRN_EARLY_TICKS_MAX) {",
         "    if (!FAULT && (tick < next || tick - next >= CAIRN_EARLY_TICKS_MAX)) {")]),
}

planted_faults.main(__doc__, FAULTS, "base/address.c")
