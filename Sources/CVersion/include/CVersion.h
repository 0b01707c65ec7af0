#pragma once

/// The version of this build.
const char *pushgateway_version(void);
