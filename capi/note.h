/* SPDX-License-Identifier: Apache-2.0 */
/* Between utipc.c and the Go side; not installed. */
#include <stddef.h>

/* utipcNote makes text the sentence of this thread's last error. */
void utipcNote(const char *text, size_t length);
/* utipcOwn reports whether this is the process that loaded the library, and no child of it. */
int utipcOwn(void);
