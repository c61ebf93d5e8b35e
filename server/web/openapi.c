// SPDX-License-Identifier: MIT
#include "server/web/openapi.h"

#include <stdio.h>

#include "program/control_schema.h"
#include "program/json.h"
#include <cairn/control.h>
#include <cairn/version.h>

#define REFUSAL "#/components/schemas/refusal"

// The schema of a body of JSON, to be filled.
static cairn_json *put_json(cairn_json *out) {
    cairn_json *content = cairn_json_put_object(out, "content");
    return cairn_json_put_object(cairn_json_put_object(content, "application/json"), "schema");
}

static void put_response(
    cairn_json *responses, const char *status, const char *description, const char *schema) {
    cairn_json *response = cairn_json_put_object(responses, status);
    cairn_json_put_text(response, "description", description);
    cairn_json_put_text(put_json(response), "$ref", schema);
}

static void put_verb(cairn_json *paths, cairn_json *schemas, uint32_t verb) {
    const char *name = cairn_control_verb_text(verb);
    char text[128];
    snprintf(text, sizeof text, CAIRN_WEB_CONTROL_PATH "%s", name);
    cairn_json *operation = cairn_json_put_object(cairn_json_put_object(paths, text), "post");
    cairn_json_put_text(operation, "operationId", name);
    snprintf(text, sizeof text, "As cairn-ctl %s.", name);
    cairn_json_put_text(operation, "summary", text);
    cairn_json *body = cairn_json_put_object(operation, "requestBody");
    cairn_json_put_bool(body, "required", true);
    snprintf(text, sizeof text, "#/components/schemas/%s-request", name);
    cairn_json_put_text(put_json(body), "$ref", text);
    cairn_json *responses = cairn_json_put_object(operation, "responses");
    snprintf(text, sizeof text, "#/components/schemas/%s-answer", name);
    put_response(responses, "200", "It was carried out.", text);
    put_response(responses, "default", "It was refused, and nothing changed.", REFUSAL);
    snprintf(text, sizeof text, "%s-request", name);
    cairn_control_request_schema(cairn_json_put_object(schemas, text), verb);
    snprintf(text, sizeof text, "%s-answer", name);
    cairn_control_answer_schema(cairn_json_put_object(schemas, text), verb);
}

static void put_drain(cairn_json *paths, cairn_json *schemas) {
    cairn_json *operation =
        cairn_json_put_object(cairn_json_put_object(paths, CAIRN_WEB_DRAIN_PATH), "post");
    cairn_json_put_text(operation, "operationId", "drain");
    cairn_json_put_text(operation, "summary",
        "As SIGTERM: nobody joins any more, and the server ends when the last client has left or "
        "--drain-seconds have passed.");
    cairn_json *body = cairn_json_put_object(operation, "requestBody");
    cairn_json_put_bool(body, "required", true);
    cairn_json_put_text(put_json(body), "$ref", "#/components/schemas/drain-request");
    cairn_json *responses = cairn_json_put_object(operation, "responses");
    put_response(responses, "200", "The server drains.", "#/components/schemas/drain-answer");
    put_response(responses, "default", "It was refused.", REFUSAL);
    cairn_json *request = cairn_json_put_object(schemas, "drain-request");
    cairn_json_put_text(request, "type", "object");
    cairn_json_put_bool(request, "additionalProperties", false);
    cairn_json *answer = cairn_json_put_object(schemas, "drain-answer");
    cairn_json_put_text(answer, "type", "object");
    cairn_json_put_bool(answer, "additionalProperties", false);
    cairn_json *properties = cairn_json_put_object(answer, "properties");
    cairn_json_put_bool(cairn_json_put_object(properties, "ok"), "const", true);
}

// Of the server, or of what is in front of it.
static void put_refusal(cairn_json *schemas) {
    cairn_json *refusal = cairn_json_put_object(schemas, "refusal");
    cairn_json *choices = cairn_json_put_array(refusal, "anyOf");
    cairn_control_refusal_schema(cairn_json_put_object(choices, NULL));
    cairn_json *early = cairn_json_put_object(choices, NULL);
    cairn_json_put_text(early, "type", "object");
    cairn_json_put_bool(early, "additionalProperties", false);
    cairn_json *properties = cairn_json_put_object(early, "properties");
    cairn_json_put_bool(cairn_json_put_object(properties, "ok"), "const", false);
    cairn_json_put_text(cairn_json_put_object(properties, "refusal"), "type", "string");
    cairn_json_put_text(cairn_json_put_object(properties, "reason"), "type", "string");
    cairn_json *required = cairn_json_put_array(early, "required");
    cairn_json_put_text(required, NULL, "ok");
    cairn_json_put_text(required, NULL, "refusal");
    cairn_json_put_text(required, NULL, "reason");
}

char *cairn_openapi_write(size_t *size) {
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "openapi", "3.1.0");
    cairn_json *info = cairn_json_put_object(json, "info");
    cairn_json_put_text(info, "title", "cairnd");
    cairn_json_put_text(info, "version", CAIRN_VERSION_TEXT);
    cairn_json_put_text(info, "description",
        "Requests of operators. A request is answered when it has been carried out: a step, when "
        "the room has run. docs/PROTOCOL.md, Control, says what each verb does, and "
        "include/cairn/control.h what each member is.");
    cairn_json *paths = cairn_json_put_object(json, "paths");
    cairn_json *components = cairn_json_put_object(json, "components");
    cairn_json *schemes = cairn_json_put_object(components, "securitySchemes");
    cairn_json *scheme = cairn_json_put_object(schemes, "operator");
    cairn_json_put_text(scheme, "type", "http");
    cairn_json_put_text(scheme, "scheme", "bearer");
    cairn_json *security = cairn_json_put_object(cairn_json_put_array(json, "security"), NULL);
    (void)cairn_json_put_array(security, "operator");
    cairn_json *schemas = cairn_json_put_object(components, "schemas");
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        put_verb(paths, schemas, verb);
    }
    put_drain(paths, schemas);
    put_refusal(schemas);
    char *text = cairn_json_text(json, size);
    cairn_json_destroy(json);
    return text;
}
