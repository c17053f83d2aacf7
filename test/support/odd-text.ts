// Text that no database can store as it is, or that would do something to a terminal or a page.

/** As a name may be, so far as a workflow takes it. */
export const ODD_NAME = '<img src=x onerror="document.title=1"> \u001b]52;c;ZXZpbA==\u0007 \u202eodd';

/** A shell command that prints all kinds of it: a line, and then a progress bar and a last line. */
export const ODD_SHELL = String.raw`printf 'nul \000 surrogate \355\240\200 invalid \377 link \033]8;;http://evil.example/\033\\here\033]8;;\033\\ clip \033]52;c;ZXZpbA==\007 <b>bold</b>\nbar 1\rbar 2\rbar 3\nlast line\n'`;
