// libavahi-client, the client side of the system's avahi-daemon. libavahi-core must never be linked beside it: both export
// avahi_entry_group_free.
#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/watch.h>
