import { hash } from 'node:crypto';

/** SHA-256 of a text's UTF-8 bytes, as 64 hex digits. Native: several times as fast as the portable one. */
export const nativeSha256 = (text: string): string => hash('sha256', text, 'hex');
