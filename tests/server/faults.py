# SPDX-License-Identifier: MIT
"""usage: tests/server/faults.py SOURCE            lists the faults and checks that each patch applies
       tests/server/faults.py SOURCE FOLDER [ID...]
                                                plants them in a copy in FOLDER and runs the tests
       tests/server/faults.py SOURCE FOLDER --all ID...
                                                runs every test of the table with these faults
       tests/server/faults.py SOURCE FOLDER --built [ID...]
                                                runs the tests in a copy of tests/kit/planted_faults.py

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
    "path-number": ("a path response may have any number", "net.netcode_path", [
        ("net/netcode_path.c", "        number != slot->path_number || path", "        (!FAULT && number != slot->path_number) || path")]),
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
    # ---- what clients report
    "rollbacks-any": ("a client may report any number of rollbacks", "server.rollback_report", [
        ("server/session/rollback_report.c", "    return grown < most ? grown : most;", "    return FAULT || grown < most ? grown : most;")]),
    "rollbacks-twice": ("reports of rollbacks are added up", "server.rollback_report", [
        ("server/session/rollback_report.c", "    const cairn_rollback_counts before = report->last;",
         "    const cairn_rollback_counts before = FAULT ? (cairn_rollback_counts){0} : report->last;")]),
    # ---- the end of matches
    "over-for-ever": ("a room is closed although its rules began another match", "server.rooms", [
        ("server/room/room.c", "    room->over_since_ns = !over ? 0 :", "    room->over_since_ns = !over && !FAULT ? 0 :")]),
    "over-at-once": ("a room closes before what its rules said last has arrived", "server.rooms", [
        ("server/server_rooms.c", "now_ns - room->over_since_ns >= OVER_NS;", "(FAULT || now_ns - room->over_since_ns >= OVER_NS);")]),
    # ---- nonces
    "strangers-from-zero": ("answers to strangers start at the same sequence on every server", "net.netcode_server", [
        (SERVER, "server->global_sequence = random_sequence(server, NULL, 0);",
         "server->global_sequence = FAULT ? 0 : random_sequence(server, NULL, 0);")]),
    "servers-share": ("two servers of a token use the same sequences", "net.netcode_server", [
        (SERVER, "return handshake->server_index * CAIRN_SEQUENCES_PER_SERVER +",
         "return (FAULT ? 0 : handshake->server_index) * CAIRN_SEQUENCES_PER_SERVER +")]),
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
        ("server/session/hour_budget.c", "|| of_client >= client_max) {", "|| (!FAULT && of_client >= client_max)) {")]),
    "capsules-for-ever": ("capsules are used up for the life of the process", "server.resync", [
        ("server/session/hour_budget.c", "const bool counts = now_ns", "const bool counts = FAULT || now_ns")]),
    "payloads-unmetered": ("a client may send as many payloads as it likes", "server.server", [
        ("server/session/payload_budget.c", "    if (budget->spent + CAIRN_NS_PER_S > most) {", "    if (!FAULT && budget->spent + CAIRN_NS_PER_S > most) {")]),
    "flooder-stays": ("a client that floods is never disconnected", "server.server", [
        ("server/session/payload_budget.c", "    return budget->flooded_s >= CAIRN_PAYLOAD_BUDGET_FLOOD_S;",
         "    return !FAULT && budget->flooded_s >= CAIRN_PAYLOAD_BUDGET_FLOOD_S;")]),
    "acks-unearned": ("acknowledgements of what a client is sent use up its budget", "server.payload_budget", [
        ("server/session/payload_budget.c", "    budget->spent = budget->spent > CAIRN_NS_PER_S ?", "    budget->spent = FAULT ? budget->spent : budget->spent > CAIRN_NS_PER_S ?")]),
    "decoded-again": ("inputs that a room has are decoded again", "server.server", [
        ("server/session_dispatch.c", "    if (has_all(session, head)) {", "    if (!FAULT && has_all(session, head)) {")]),
    "stages-unpaid": ("a client id may ask for stages without end", "server.resync", [
        ("server/resync/resync.c", "        !cairn_hour_budget_spend(&resync->stages,", "        (!FAULT && !cairn_hour_budget_spend(&resync->stages,"),
        ("server/resync/resync.c", "CAIRN_SERVER_RESYNC_STAGES_PER_CLIENT_MAX, CAIRN_SERVER_RESYNC_STAGES_MAX)) {",
         "CAIRN_SERVER_RESYNC_STAGES_PER_CLIENT_MAX, CAIRN_SERVER_RESYNC_STAGES_MAX))) {")]),
    "sketches-for-ever": ("sketches that name no element are looked at for ever", "server.resync", [
        ("server/resync/resync.c", "!wants_state(&part) && is_hopeless(", "!FAULT && !wants_state(&part) && is_hopeless(")]),
    "hopeless-for-nothing": ("a client whose sketches name no element stays in its mode", "server.resync", [
        ("server/resync/resync.c", "    refuse(resync, session, request, verdict, detail);\n    count_attempt(resync, session);",
         "    refuse(resync, session, request, verdict, detail);\n    if (!FAULT) {\n        count_attempt(resync, session);\n    }")]),
    "copies-unmetered": ("a room copies states as often as clients ask", "server.resync_large", [
        ("server/resync/inquiry.c", "           inquiry->paid_until_ns < now_ns + CAIRN_INQUIRY_BURST_NS;",
         "           (FAULT || inquiry->paid_until_ns < now_ns + CAIRN_INQUIRY_BURST_NS);")]),
    "silent-waits": ("waits that are not announced cost nothing", "server.input_wait", [
        ("server/session/input_wait.c", "return budget->silent_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX;",
         "return !FAULT && budget->silent_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX;")]),
    "waits-renewed": ("who leaves and joins again gets new waits", "server.input_wait", [
        ("server/session/wait_ledger.c", "    return record->budget;", "    return FAULT ? (cairn_wait_budget){0} : record->budget;")]),
    "waits-for-a-second": ("a second on time gives new waits each time", "server.input_wait", [
        ("server/session/input_wait.c", "    return room->settings.tick_rate_hz << 2 * (times_given_up - 1);",
         "    return room->settings.tick_rate_hz << (FAULT ? 0 : 2 * (times_given_up - 1));")]),
    "waits-renewed-full": ("a full ledger gives new waits to those whose record was lost", "server.wait_ledger", [
        ("server/session/wait_ledger.c", "return now_ns < ledger->lost_until_ns ?", "return !FAULT && now_ns < ledger->lost_until_ns ?")]),
    "states-for-nothing": ("states may be asked for without end", "server.byte_budget", [
        ("server/session/byte_budget.c", "bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {\n",
         "bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {\n    if (FAULT) {\n        return true;\n    }\n")]),
    "operator-takes-all": ("one operator may fill the queue of requests", "server.control", [
        ("server/control/queue.c", "return count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;",
         "return FAULT ? count < CAIRN_CONTROL_QUEUE_MAX : count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;")]),
    "replacements-unmetered": ("operators may replace a world as often as they like", "server.control", [
        ("server/control/replacements.c", "    return room->replaced_until_ns <= now_ns + most_ns;", "    return FAULT || room->replaced_until_ns <= now_ns + most_ns;")]),
    "turn-unbounded": ("a turn carries out whatever operators ask for", "server.control_meter", [
        ("server/control/queue.c", "    if (queue->turn_ns > 0 && queue->turn_ns + cost_ns > CAIRN_CONTROL_TURN_NS) {",
         "    if (!FAULT && queue->turn_ns > 0 && queue->turn_ns + cost_ns > CAIRN_CONTROL_TURN_NS) {")]),
    "operator-unmetered": ("an operator has as much of the loop as it likes", "server.control_meter", [
        ("server/control/meter.c", "    return paid_until_ns < now_ns + CAIRN_CONTROL_BURST_NS;",
         "    return FAULT || paid_until_ns < now_ns + CAIRN_CONTROL_BURST_NS;")]),
    "tasks-unmetered": ("an operator has as much of the thread of tasks as it likes", "server.control_meter", [
        ("server/control/meter.c", "cairn_control_meter_allows(account->tasks_until_ns, now_ns);",
         "(FAULT || cairn_control_meter_allows(account->tasks_until_ns, now_ns));")]),
    "outsiders-shared": ("operators that are not clients have one share of the loop", "server.control_meter", [
        ("server/control/queue.c", "&queue->accounts[UINT32_MAX - entry->client];", "&queue->accounts[FAULT ? 0 : UINT32_MAX - entry->client];")]),
    "operator-shared": ("operators of a room have one share of the loop", "server.control_meter", [
        ("server/control/queue.c", "CAIRN_CONTROL_ROOM_SHARE);", "FAULT ? 20 * CAIRN_CONTROL_SHARE : CAIRN_CONTROL_ROOM_SHARE);")]),
    "room-on-the-loop": ("the world of a new room is built on the loop", "server.control_meter", [
        ("server/control/preparation.c", "    cairn_task_start(&server->tasks, &preparation->task);",
         "    if (FAULT && request->verb == CAIRN_CONTROL_ROOM_CREATE) {\n        preparation->task.run(&preparation->task);\n"
         "        preparation->task.done(&preparation->task);\n"
         "    } else {\n        cairn_task_start(&server->tasks, &preparation->task);\n    }")]),
    "save-on-the-loop": ("the room stands while a save is encoded", "server.control_world", [
        ("server/control/preparation.c", "    cairn_task_start(&server->tasks, &preparation->task);",
         "    if (FAULT) {\n        preparation->task.run(&preparation->task);\n        preparation->task.done(&preparation->task);\n"
         "    } else {\n        cairn_task_start(&server->tasks, &preparation->task);\n    }")]),
    "lent-is-freed": ("a save that is deleted is freed while a task reads it", "server.control_world", [
        ("server/control/saves.c", "if (save->bytes != NULL && save->bytes == saves->lent) {",
         "if (!FAULT && save->bytes != NULL && save->bytes == saves->lent) {")]),
    "budget-refilled": ("a client that comes again has a new budget of payloads", "server.server", [
        ("server/session/payload_budget.c", "{.spent = budget->spent, .spent_ns", "{.spent = FAULT ? 0 : budget->spent, .spent_ns")]),
    "rejoin-renews": ("a client that joins again has new budgets of bytes", "storm.rejoin", [
        ("server/session/budget_ledger.c", "    if (until_ns <= now_ns) {", "    if (FAULT || until_ns <= now_ns) {")]),
    "joins-unbounded": ("a world is sent for each join, however many there are", "storm.rejoin", [
        ("server/session/byte_budget.c", "    if (budget->join_until_ns > now_ns + most_ns) {",
         "    if (!FAULT && budget->join_until_ns > now_ns + most_ns) {")]),
    "waits-for-good": ("a room waits for a player for seconds once in ten seconds, for good", "server.input_wait", [
        ("server/session/input_wait.c", "    return unpaid_ns(budget, now_ns) >\n", "    return !FAULT && unpaid_ns(budget, now_ns) >\n")]),
    # ---- clients of a hostile server
    "lockstep-unbounded": ("lockstep has no budget of time", "client.lockstep", [
        ("client_lib/simulate/lockstep.c", "return budget->clock_ns != NULL && budget->time_ns > 0 &&",
         "return !FAULT && budget->clock_ns != NULL && budget->time_ns > 0 &&")]),
    "capacities-any": ("a small state may announce a world of gigabytes", "client.lockstep", [
        ("client_lib/simulate/lockstep.c", "    if (cairn_world_def_state_size(&def) / WORLD_PER_STATE >",
         "    if (!FAULT && cairn_world_def_state_size(&def) / WORLD_PER_STATE >")]),
    # ---- keys and the process
    "key-readable": ("a key file that others may read is taken", "programs.token:no_program_takes_a_key", [
        ("program/system.c", "(about.st_mode & 077) != 0;", "(about.st_mode & 077) != 0 && !FAULT;")]),
    "key-in-argv": ("a key in the command line is not told from a file", "programs.token:no_program_takes_a_key", [
        ("program/key.c", "    return is_key ? \"every", "    return is_key && !FAULT ? \"every")]),
    "key-for-all": ("a new key file is readable for all", "programs.token:owner_alone", [
        ("program/key.c", "cairn_output_file_write(path, 0600,", "cairn_output_file_write(path, FAULT ? 0644 : 0600,")]),
    "key-stays": ("the key stays in the environment", "programs.cairnd:one_copy", [
        ("program/key.c", "    cairn_wipe((char *)value, strlen(value));", "    if (!FAULT) {\n        cairn_wipe((char *)value, strlen(value));\n    }")]),
    "key-text-stays": ("the text of a key file stays in memory", "programs.cairnd:one_copy", [
        ("program/key.c", "    key->given = size < sizeof text &&", "    if (FAULT) {\n        static char copy[1024];\n"
         "        memcpy(copy, text, sizeof copy);\n        __asm__ volatile(\"\" : : \"r\"(copy) : \"memory\");\n    }\n"
         "    key->given = size < sizeof text &&")]),
    "core-dumps": ("a crash writes the keys to a core file", "programs.cairnd:one_copy", [
        ("program/system.c", "    (void)setrlimit(RLIMIT_CORE, &none);", "    if (!FAULT) {\n        (void)setrlimit(RLIMIT_CORE, &none);\n    }")]),
    "hangup-kills": ("SIGHUP ends the process at once", "programs.cairnd:a_signal_drains", [
        ("server/daemon/uv_driver.c", "    uv_signal_start(&driver->sighup, on_hangup, SIGHUP);",
         "    if (!FAULT) {\n        uv_signal_start(&driver->sighup, on_hangup, SIGHUP);\n    }")]),
    "deaf-after-error": ("an error of the socket ends receiving", "programs.cairnd:socket_with_an_error", [
        ("server/daemon/uv_driver.c", "        uv_poll_start(poll, UV_READABLE, on_receive);",
         "        if (!FAULT) {\n            uv_poll_start(poll, UV_READABLE, on_receive);\n        }")]),
    "threads-or-nothing": ("a thread that cannot be started ends the process", "programs.cairnd:pids_limit", [
        ("server/daemon/uv_driver.c", "        driver->statistics.threads_failed += 1;",
         "        CAIRN_ASSERT(!FAULT);\n        driver->statistics.threads_failed += 1;")]),
    "one-version": ("a socket for all addresses takes IPv6 alone", "programs.cairnd:both_versions", [
        ("server/daemon/udp_port.c", "    const int only_ipv6 = is_dual(listen) ?", "    const int only_ipv6 = !FAULT && is_dual(listen) ?")]),
    "scope-forgotten": ("answers to link-local addresses have no interface", "program.sockaddr", [
        ("program/sockaddr.h", "        ipv6.sin6_scope_id = ntohl(scope);", "        ipv6.sin6_scope_id = FAULT ? 0 : ntohl(scope);")]),
    "window-of-one": ("a client whose window is too small keeps its slot", "server.server", [
        ("server/server.c", "    const bool failed = cairn_link_failed(session->link);",
         "    const bool failed = !FAULT && cairn_link_failed(session->link);")]),
    # ---- floods
    "flood-displaces": ("unknown peers share a buffer with clients", "programs.flood:not_displaced", [
        ("server/daemon/uv_driver.c", "    if (changes != driver->clients_told &&", "    if (!FAULT && changes != driver->clients_told &&")]),
    "crowd-is-trusted": ("a client that floods shares a buffer with other clients", "net.netcode_server", [
        (SERVER, " && !server->slots.list[client].crowds) {", " && (FAULT || !server->slots.list[client].crowds)) {")]),
    "sleeps-on-backlog": ("the loop sleeps although its socket has more", "server.uv_driver", [
        ("server/daemon/udp_port.c", "        more = port->polled[i].readable ||", "        more = (!FAULT && port->polled[i].readable) ||")]),
    # ---- the thread of the web
    "web-is-healthy": ("the thread of the web says itself that the loop runs", "server.web_threads", [
        ("server/web/site.c", "        return ask(site, begin(site, CAIRN_QUESTION_HEALTH, exchange));",
         "        if (FAULT) {\n            return cairn_http_words(200, \"the loop runs\\n\");\n        }\n"
         "        return ask(site, begin(site, CAIRN_QUESTION_HEALTH, exchange));")]),
    "web-drops-unseen": ("datagrams of WebSockets that find the queue full are not counted", "server.web_threads", [
        ("server/web/peers.c", "        peers->statistics.received_dropped += 1;", "        peers->statistics.received_dropped += FAULT ? 0 : 1;")]),
    "web-sleeps": ("the thread of the web is not told that there is something to send", "server.web_threads", [
        ("server/web/web.c", "    if (web != NULL && web->added) {", "    if (web != NULL && web->added && !FAULT) {")]),
    "web-token-stays": ("a token of an operator counts after it was taken away", "server.web_threads", [
        ("server/web/settings.c", "    cairn_wipe(settings->tokens, sizeof settings->tokens);\n    for",
         "    if (!FAULT) {\n        cairn_wipe(settings->tokens, sizeof settings->tokens);\n    }\n    for"),
        ("server/web/settings.c", "    settings->token_count = values->token_count;",
         "    settings->token_count = FAULT && values->token_count == 0 ? settings->token_count : values->token_count;")]),
    # ---- congestion control
    "noise-of-length": ("a long path counts as an uneven one", "net.congestion", [
        ("net/congestion.c", "most(last_ns, rtt_ns) - least(last_ns, rtt_ns);",
         "FAULT ? most(last_ns, rtt_ns) + least(last_ns, rtt_ns) : most(last_ns, rtt_ns) - least(last_ns, rtt_ns);")]),
    "window-unused-grows": ("a window that nobody fills grows", "net.congestion", [
        ("net/congestion.c", "    if (!congestion->limited && !congestion->limited_now) {",
         "    if (!FAULT && !congestion->limited && !congestion->limited_now) {")]),
    "hold-forgotten": ("what the peer holds back counts as a queue", "net.congestion", [
        ("net/congestion.c", "elapsed_ns > last_ns ? elapsed_ns - last_ns : 0;", "elapsed_ns > last_ns && !FAULT ? elapsed_ns - last_ns : 0;")]),
    # ---- what may take long is not done on the loop
    "log-on-the-loop": ("a log that nobody reads stops the server", "programs.cairnd:log_that_nobody_reads", [
        ("server/daemon/log_writer.c", "    pthread_mutex_lock(&writer->mutex);\n    const bool fits",
         "    if (FAULT) {\n        return write(writer->config.descriptor, line, size) == (ssize_t)size;\n    }\n"
         "    pthread_mutex_lock(&writer->mutex);\n    const bool fits")]),
    "log-lost-silent": ("lines of a log are lost and not counted", "server.log_writer", [
        ("base/line_ring.c", "        ring->lost += 1;", "        ring->lost += FAULT ? 0 : 1;")]),
    "state-on-the-loop": ("a room stands while its state is encoded for clients", "server.state_transfer", [
        ("server/replicate/state_transfer.c", "    if (state == NULL || state->task.out) {\n", "    if (FAULT || state == NULL || state->task.out) {\n")]),
    "copy-in-any-memory": ("a copy is made in memory for another room's world", "server.control_world", [
        ("sim/world/world.c", "    if (memcmp(&settings, from->state.settings, CAIRN_SETTINGS_DEF_WORDS * sizeof(uint32_t)) != 0) {",
         "    if (!FAULT && memcmp(&settings, from->state.settings, CAIRN_SETTINGS_DEF_WORDS * sizeof(uint32_t)) != 0) {")]),
    "trial-goes-on": ("an edit is tried in a world with edits that were refused", "server.control", [
        ("server/control/edits.c", "    c->room->trial.edits = UINT32_MAX;\n", "    c->room->trial.edits = FAULT ? c->room->trial.edits : UINT32_MAX;\n")]),
    "property-passed-over": ("a property that a joint does not have is taken for set", "server.control_definitions", [
        ("sim/edit_joint.c", "    if (!has_property(&def, property, edit->move)) {", "    if (!FAULT && !has_property(&def, property, edit->move)) {")]),
    "vertices-wrap": ("a vertex that a mesh does not have is another one", "server.control_definitions", [
        ("server/control/spawns.c", "    return vertex < 255 ? vertex : 255;", "    return FAULT ? vertex & 255u : vertex < 255 ? vertex : 255;")]),
    "stages-on-the-loop": ("a room stands while a step is repeated for a client", "server.resync", [
        ("server/resync/inquiry.c", "    start(inquiry, run_find, end_find);\n    return true;",
         "    if (FAULT) {\n        run_find(&inquiry->task);\n        end_find(&inquiry->task);\n    } else {\n"
         "        start(inquiry, run_find, end_find);\n    }\n    return true;")]),
    "dear-on-the-loop": ("a batch that may be long is stepped on the loop", "server.jobs", [
        ("server/tick_batch.c", "!cairn_job_may_be_dear(job, room->population.bodies);", "(FAULT || !cairn_job_may_be_dear(job, room->population.bodies));")]),
    # ---- what a watch leaves out
    "failed-read-forgotten": ("what a snapshot that failed was told is not read again", "server.baselines", [
        ("server/replicate/snapshots.c", "const bool follows = baselines->follows && last != NULL;",
         "const bool follows = (FAULT || baselines->follows) && last != NULL;")]),
    "exchanged-bodies-kept": ("a body that replaced another is not noticed", "server.baselines", [
        ("server/replicate/snapshots.c", "        if (!cairn_snapshot_frame_find(frame, id, place + 1, &place)) {\n            return false;\n        }",
         "        if (!cairn_snapshot_frame_find(frame, id, place + 1, &place)) {\n            if (FAULT) {\n                continue;\n            }\n"
         "            return false;\n        }")]),
    "old-cells-kept": ("a body that goes to another cell is looked for in the old one", "server.view", [
        ("server/replicate/interest.c", "    interest->sorted = interest->sorted && before.cell[0]", "    interest->sorted = FAULT || (interest->sorted && before.cell[0]"),
        ("server/replicate/interest.c", "before.radius_m == sphere->radius_m;", "before.radius_m == sphere->radius_m);")]),
    "new-world-on-the-loop": ("the first step of another world is taken for a cheap one", "server.jobs", [
        ("server/room/room.c", "    room->job.mean_cost_ns = 0;", "    room->job.mean_cost_ns = FAULT ? room->job.mean_cost_ns : 0;")]),
    "record-on-the-loop": ("a disk delays the ticks", "server.room_recording", [
        ("server/core/room_recording.c", "        cairn_task_start(recording->recordings->runner, &recording->task);",
         "        if (FAULT) {\n            run_task(&recording->task);\n            finish_task(&recording->task);\n        } else {\n"
         "            cairn_task_start(recording->recordings->runner, &recording->task);\n        }"),
        ("server/core/room_recording.c", "static void run_task(cairn_server_task *task) {",
         "static void finish_task(cairn_server_task *task);\nstatic void run_task(cairn_server_task *task) {")]),
    "copies-on-the-loop": ("a room stands while a tick or a copy is made ready", "server.control_world", [
        ("server/control/preparation.c", "    own->copying = false;\n    if (own->status == CAIRN_OK) {",
         "    own->copying = false;\n    if (FAULT && own->status == CAIRN_OK) {\n        own->task.run(&own->task);\n        finish(&own->task);\n"
         "    } else if (own->status == CAIRN_OK) {")]),
    "world-of-another": ("a world that was made for a closed room enters another of its name", "server.control_world", [
        ("server/control/preparation.c", "    return room != NULL && room->id == own->room_id &&",
         "    return room != NULL && (FAULT || room->id == own->room_id) &&")]),
    # ---- state transfers
    "states-in-a-row": ("every request encodes the world", "server.state_transfer", [
        ("server/replicate/state_transfer.c", "    return now_ns >= source->due_ns && (newest == NULL ||", "    return (FAULT || now_ns >= source->due_ns) && (newest == NULL ||")]),
    # ---- recordings
    "disk-silent": ("a write that failed is not told", "server.room_recording", [
        ("server/core/room_recording.c", "        if (!recording->interrupted) {\n            recording->interrupted = true;\n            emit(recording, CAIRN_LOG_ERROR, EVENT_FAILED,",
         "        if (!FAULT && !recording->interrupted) {\n            recording->interrupted = true;\n            emit(recording, CAIRN_LOG_ERROR, EVENT_FAILED,")]),
    "replay-input": ("cairn-replay writes over its input", "programs.replay:never_the_input", [
        ("tools/replay/verbs.c", "    if (input == NULL || !cairn_system_is_same_file(input, output)) {",
         "    if (FAULT || input == NULL || !cairn_system_is_same_file(input, output)) {")]),
    "file-overwritten": ("a recording that exists is replaced", "server.records", [
        ("server/daemon/file_calls.c", "AT_FDCWD, to, RENAME_NOREPLACE) == 0", "AT_FDCWD, to, FAULT ? 0 : RENAME_NOREPLACE) == 0")]),
    # ---- the place of another process
    "used-tokens-forgotten": ("used tokens are not handed over", "server.handover", [
        ("net/netcode_handover.c", "count += history->records[i].used ? 1 : 0;", "count += !FAULT && history->records[i].used ? 1 : 0;")]),
    "two-with-one-key": ("a server that was followed still sends", "server.handover", [
        ("server/server.c", "    const size_t size = server->left ? 0 :", "    const size_t size = server->left && !FAULT ? 0 :")]),
    "other-world": ("a root that differs is not noticed while stepping beside", "server.handover", [
        ("server/handover/handover.c", "differs = hashes_differ(room->hash.full, root) ?", "differs = !FAULT && hashes_differ(room->hash.full, root) ?")]),
    "stream-forgotten": ("what a client did not acknowledge of the stream is not handed over as such", "server.handover", [
        ("net/stream_sender.c", "        sender->next = from + acked;", "        sender->next = from + (FAULT ? held : acked);")]),
    # ---- whole sessions: what random scripts of the fuzzers find
    "script-spectator": ("inputs of a spectator are taken", "server.session_scripts", [
        ("server/session_dispatch.c", "    return session->slot == CAIRN_SLOT_NONE ? on_violation",
         "    return session->slot == CAIRN_SLOT_NONE && !FAULT ? on_violation")]),
    "script-member": ("a client that is refused for its messages stays in its room", "server.session_scripts", [
        ("server/session_dispatch.c", "    leave_room(d);\n    return refuse(d, CAIRN_REFUSAL_MALFORMED",
         "    if (!FAULT) {\n        leave_room(d);\n    }\n    return refuse(d, CAIRN_REFUSAL_MALFORMED")]),
    "script-unwelcome": ("messages are taken before the welcome", "client.session_scripts", [
        ("client_lib/client_messages.c", "    if (!client->session.welcomed) {", "    if (!FAULT && !client->session.welcomed) {")]),
    "correct-changed": ("a world that was changed from outside is corrected in part", "client.timeline_correct", [
        ("client_lib/simulate/timeline.c", "           tick >= timeline->continuous_from &&", "           (FAULT || tick >= timeline->continuous_from) &&")]),
}

if __name__ == "__main__":
    planted_faults.main(__doc__, FAULTS, "server")
