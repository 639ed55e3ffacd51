// qrencode.h as Swift imports it.
#pragma once
#include <qrencode.h>
