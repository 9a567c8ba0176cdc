/** Why the service cannot start, or ends: one sentence that says what to do next, no stack and no lines of other programs. */

/** Codes of Node (the first three) and of PostgreSQL. EFBIG is a limit of the process. */
const FULL_DISK_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', '53100'];
const FULL_DISK_WORDS = /No space left on device|Disk quota exceeded|File too large/;

export function explain(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken. Stop what is listening there, or set PORT to another.`;
  if (FULL_DISK_CODES.includes(code) || FULL_DISK_WORDS.test(message))
    return 'The disk of the database is full. Make room there, never inside the folder of the database, and start again: nothing that was acknowledged is lost. A first start needs 100 MB.';
  return message || String(error);
}
