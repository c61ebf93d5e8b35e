// SPDX-License-Identifier: MIT
#include "server/room/task.h"

#include "base/assert.h"

void cairn_task_start(cairn_task_runner *runner, cairn_server_task *task) {
    CAIRN_ASSERT(!task->out && task->run != NULL && task->done != NULL);
    task->runner = runner;
    task->out = true;
    runner->out += 1;
    if (runner->run_task == NULL || !runner->run_task(runner->user, task)) {
        task->run(task);
        task->out = false;
        runner->out -= 1;
        task->done(task);
    }
}

void cairn_server_task_run(cairn_server_task *task) {
    CAIRN_ASSERT(task->out);
    task->run(task);
}
