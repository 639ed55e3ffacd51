// sqlite3.h as Swift imports it.
#pragma once
#include <sqlite3.h>
