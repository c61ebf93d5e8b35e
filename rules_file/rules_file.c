// SPDX-License-Identifier: MIT
#include "rules_file/rules_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rules_file/child.h"
#include "rules_file/elf.h"
#include <cairn/rules_registry.h>

#define LOAD_TIMEOUT_S 10

static bool refuse(char *error, const char *path, const char *why) {
    snprintf(error, CAIRN_RULES_FILE_ERROR_SIZE, "%.200s: %.280s", path, why);
    return false;
}

static bool check_header(const char *path, char *error) {
    uint8_t bytes[64];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return refuse(error, path, strerror(errno));
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char *why = cairn_elf_refusal(bytes, size);
    return why == NULL || refuse(error, path, why);
}

// If this code lies in a shared library, such as libcairn_client.so, which another program loaded
// for itself alone, rules files must see its functions.
static void lend_own_functions(void) {
    static const char here;
    Dl_info own;
    if (dladdr(&here, &own) != 0 && own.dli_fname != NULL) {
        (void)dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    }
}

const cairn_rules_export *cairn_rules_file_open(
    const char *path, char error[CAIRN_RULES_FILE_ERROR_SIZE]) {
    char place[4096];
    char why[200];
    // A name without a slash would be searched for among the libraries of the system.
    snprintf(place, sizeof place, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    lend_own_functions();
    void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        (void)refuse(error, path, dlerror());
        return NULL;
    }
    const cairn_rules_export *found = dlsym(handle, "cairn_rules_exported");
    if (found == NULL) {
        (void)refuse(error, path, "it exports no rules (CAIRN_RULES_EXPORT of cairn/rules.h)");
    } else if (found->abi != CAIRN_RULES_ABI || found->rules_size != sizeof(cairn_rules) ||
               found->command_size != sizeof(cairn_command)) {
        snprintf(why, sizeof why,
            "it is built for version %u of the rules' ABI and this program has version %u; build "
            "it with this program's headers",
            (unsigned)found->abi, (unsigned)CAIRN_RULES_ABI);
        (void)refuse(error, path, why);
    } else if (found->count == 0 || found->count > CAIRN_RULES_REGISTERED_MAX) {
        (void)refuse(error, path, "it must export 1 to 64 rules");
    } else {
        return found; // the handle stays open until the program ends
    }
    dlclose(handle);
    return NULL;
}

// In the child: runs the code that runs when a shared object is loaded.
static bool load_in_child(void *context, char *text) {
    cairn_child_enter("the code that runs when the file is loaded");
    return cairn_rules_file_open(context, text) != NULL;
}

bool cairn_rules_load(const char *path, char error[CAIRN_RULES_FILE_ERROR_SIZE]) {
    char text[CAIRN_RULES_FILE_ERROR_SIZE];
    char name[1024];
    if (!check_header(path, error)) {
        return false;
    }
    snprintf(name, sizeof name, "%s", path);
    if (!cairn_child_run(load_in_child, name, LOAD_TIMEOUT_S, text)) {
        // A refusal names the file already.
        if (strncmp(text, path, strlen(path)) != 0) {
            return refuse(error, path, text);
        }
        memcpy(error, text, sizeof text);
        return false;
    }
    const cairn_rules_export *found = cairn_rules_file_open(path, error);
    for (uint32_t i = 0; found != NULL && i < found->count; ++i) {
        const char *why = cairn_rules_register(found->rules[i]);
        if (why != NULL) {
            return refuse(error, path, why);
        }
    }
    return found != NULL;
}
