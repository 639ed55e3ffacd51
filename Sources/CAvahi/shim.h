// libavahi-client, the client side of the system's avahi-daemon. libavahi-core must never be linked beside it: both export
// avahi_entry_group_free.
#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>

// The library leaves both types to whoever implements AvahiPoll. Here each is nothing but the address of a Swift object, so that
// they are given a member to be complete for the compiler.
struct AvahiWatch { void *object; };
struct AvahiTimeout { void *object; };

// The wildcards are casts and macros that Swift does not import.
static const int avahi_any_interface = -1, avahi_any_protocol = -1;

static inline const void *avahi_address_bytes(const AvahiAddress *address) { return &address->data; }
static inline int avahi_address_is_ipv4(const AvahiAddress *address) { return address->proto == AVAHI_PROTO_INET; }
static inline const unsigned char *avahi_string_bytes(const AvahiStringList *list) { return list->text; }
static inline AvahiStringList *avahi_string_next(const AvahiStringList *list) { return list->next; }
static inline void avahi_address_set(AvahiAddress *address, const void *bytes, unsigned long count) {
    address->proto = count == 4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6;
    __builtin_memcpy(&address->data, bytes, count);
}
