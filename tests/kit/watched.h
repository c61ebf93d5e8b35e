// SPDX-License-Identifier: MIT
#pragma once

// KIT_WATCHED: whether this build has the address or the thread sanitizer. Tests that try many
// random cases try fewer of them there: each takes about eight times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KIT_WATCHED 1
#elif defined(__has_feature)
#define KIT_WATCHED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define KIT_WATCHED 0
#endif
