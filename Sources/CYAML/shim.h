// yaml.h as Swift imports it.
#pragma once
#include <yaml.h>
