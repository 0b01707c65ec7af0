#pragma once

// Nothing to call: see CWatchedMutex.c.
