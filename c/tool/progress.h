// progress.h: how far the work is, on a terminal, when it takes more than a second.

#ifndef WEIR_TOOL_PROGRESS_H
#define WEIR_TOOL_PROGRESS_H

// How far some work is, 0 to 1, told now and then. NULL: to nobody.
typedef void progress_function(const char *work, double part);

// Shows "work 43 %" on the standard error, at most ten times a second.
void progress_show(const char *work, double part);

// Wipes what was shown.
void progress_end(void);

#endif
